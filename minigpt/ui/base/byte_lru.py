"""What several sessions share, such as models and traces: made once, and kept while it fits into a number of bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ByteLRU(Generic[Value]):
    """Values by key; the least recently used is dropped first when all together hold more than `most` bytes.

    Whoever asks for a value that another thread is making waits for it; other keys do not wait. The newest value
    stays even if it is too large alone: it is on screen. An error in `make` is raised and nothing is kept.

    >>> cache = ByteLRU(most=10, size=len)
    >>> cache.get("a", lambda: "12345678"), cache.get("b", lambda: "123"), list(cache.keys)
    ('12345678', '123', ['b'])
    """

    def __init__(self, most: int, size: Callable[[Value], int]):
        self.most, self.size = most, size
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """Keys of what is there, the least recently used first."""
        with self._lock:
            return tuple(self._entries)

    def sizes(self) -> dict[Hashable, int]:
        """The bytes of what is there, 0 for what is still being made."""
        with self._lock:
            return {key: entry.size for key, entry in self._entries.items()}

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of `key`, made by `make` if it is not there."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
        with entry.lock:
            if not entry.value:
                self._fill(key, entry, make)
            return entry.value[0]

    def _fill(self, key: Hashable, entry: "_Entry[Value]", make: Callable[[], Value]) -> None:
        try:
            value = make()
        except BaseException:
            with self._lock:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            raise
        entry.value, entry.size = (value,), self.size(value)
        with self._lock:
            total = sum(other.size for other in self._entries.values())
            for other in list(self._entries):
                if total <= self.most:
                    return
                if other != key:
                    total -= self._entries.pop(other).size


class _Entry(Generic[Value]):
    """One value, or the promise of one: `lock` is held by the thread that makes it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: tuple[Value, ...] = ()  # empty until it is made
        self.size = 0
