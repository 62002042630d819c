"""Texts as one array with a slot for each byte, in which pairs of ids are replaced in place.

Nothing moves when a pair is replaced: a token keeps the slots of its bytes, so that its neighbors are
found by its length, and places that were written down once can be looked up later.
"""

from collections.abc import Sequence

import numpy as np

from minigpt.sentences import Refusal

BORDER = -1  # before, between and after the texts; no id, so that no pair reaches over it
GONE = -2  # in a slot where no token begins


class TokenArray:
    """The ids of some texts. `first[s]` is the id that begins at slot s, `last[s]` the id that ends there.

    `last` holds only where a token ends. Places are int32 arrays of slots where a pair begins, ascending.

    >>> array = TokenArray([b"abcab"], id_limit=260)
    >>> array.replace(np.array([1, 4], dtype=np.int32), 97, 98, 259)
    >>> array.ids().tolist()
    [-1, 259, 99, 259, -1]
    """

    def __init__(self, texts: Sequence[bytes], id_limit: int):
        """Every byte its own id; later ids must be below `id_limit`. Raises ValueError for 2 GB and more."""
        size = sum(map(len, texts)) + len(texts) + 1
        if size > np.iinfo(np.int32).max:
            raise Refusal(
                "texts must be at most 2,147,483,647 bytes together with their borders, got {size:,}", size=size
            )
        self.first = np.full(size, BORDER, dtype=np.int32)
        start = 1
        for text in texts:
            self.first[start : start + len(text)] = np.frombuffer(text, dtype=np.uint8)
            start += len(text) + 1
        self.last = self.first.copy()
        self.lengths = np.ones(id_limit, dtype=np.int32)  # of each id, in slots

    def ids(self) -> np.ndarray:
        """int32 ids of all texts in order, with a BORDER before, between and after them."""
        return self.first[self.first != GONE]

    def byte_pairs(self) -> np.ndarray:
        """Places of all pairs, while every token is still a byte."""
        inside = self.first >= 0
        return np.flatnonzero(inside[:-1] & inside[1:]).astype(np.int32)

    def still_there(self, places: np.ndarray, left: int, right: int) -> np.ndarray:
        """Those of `places` where the pair (left, right) is now."""
        places = places[self.first[places] == left]
        return places[self.first[places + self.lengths[left]] == right]

    def replace(self, places: np.ndarray, left: int, right: int, new_id: int) -> None:
        """Write `new_id` over the pair at each place; places must not overlap."""
        middle = places + self.lengths[left]
        self.lengths[new_id] = self.lengths[left] + self.lengths[right]
        self.first[places] = new_id
        self.first[middle] = GONE
        self.last[middle + self.lengths[right] - 1] = new_id

    def before(self, places: np.ndarray) -> np.ndarray:
        """The id, or BORDER, that ends where the token at each place begins."""
        return self.last[places - 1]

    def after(self, places: np.ndarray, token: int) -> np.ndarray:
        """The id, or BORDER, that follows `token` at each place."""
        return self.first[places + self.lengths[token]]


def without_overlap(places: np.ndarray, length: int) -> np.ndarray:
    """Of the places of a pair of two equal ids, each `length` slots long, those that are replaced from left to right.

    In a run such as aaaa, where the pair is at each a but the last, it is every second place.

    >>> without_overlap(np.array([1, 2, 3, 7]), length=1).tolist()
    [1, 3, 7]
    """
    index = np.arange(len(places))
    begins_run = np.ones(len(places), dtype=bool)
    begins_run[1:] = np.diff(places) != length
    return places[(index - np.maximum.accumulate(np.where(begins_run, index, 0))) % 2 == 0]
