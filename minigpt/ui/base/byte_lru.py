"""What several sessions share, such as models and traces: made once, and kept as long as it fits into some bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Store:
    """Values by key, the least recently used dropped first when all together hold more than `most` bytes.

    Who asks for a value that another thread is making waits for it, and nobody else does. The newest value stays
    even if it is too large alone: it is on screen. A fault of `make` is raised and nothing is kept.

    >>> store = Store(most=10, size=len)
    >>> store.get("a", lambda: "12345678"), store.get("b", lambda: "123"), list(store.keys)
    ('12345678', '123', ['b'])
    """

    def __init__(self, most: int, size: Callable[[Any], int]):
        self.most, self.size = most, size
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """Keys of what is there, the least recently used first."""
        with self._lock:
            return tuple(self._entries)

    def sizes(self) -> dict[Hashable, int]:
        """The bytes of what is there, 0 for what is still being made."""
        with self._lock:
            return {key: entry.bytes for key, entry in self._entries.items()}

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of `key`, made by `make` if it is not there."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
        with entry.lock:
            if not entry.made:
                self._fill(key, entry, make)
            return entry.value

    def _fill(self, key: Hashable, entry: "_Entry", make: Callable[[], Any]) -> None:
        try:
            entry.value = make()
        except BaseException:
            with self._lock:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            raise
        entry.made, entry.bytes = True, self.size(entry.value)
        with self._lock:
            held = sum(other.bytes for other in self._entries.values())
            for other in list(self._entries):
                if held <= self.most:
                    return
                if other != key:
                    held -= self._entries.pop(other).bytes


class _Entry:
    """One value, or the promise of one: `lock` is held by the thread that makes it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: Any = None
        self.bytes, self.made = 0, False
