"""Merges applied to texts in the order of their ranks, each only where its pair can be."""

import heapq
from collections.abc import Iterator, Sequence

import numpy as np

from minigpt.tokenizers.token_array import TokenArray, without_overlap


class Replay:
    """Merges prepared for encoding: merge `rank` makes the id `first_merge` + rank.

    A pair arises only when the newer of its two ids is made, so each merge hands its
    places on to the later merges of its id, and a merge whose pair never arises costs nothing.
    """

    def __init__(self, merges: Sequence[tuple[int, int]], first_merge: int):
        self._merges, self._first_merge = merges, first_merge
        self._of_id: dict[int, list[int]] = {}  # ranks by the newer id of their pair
        of_bytes = []
        for rank, (left, right) in enumerate(merges):
            if max(left, right) < 256:
                of_bytes.append(rank)
            else:
                self._of_id.setdefault(max(left, right), []).append(rank)
        self._of_bytes = of_bytes
        # Number of the merge of two bytes, counted from 1, at 256 * left + right; 0 where there is none.
        self._numbers = np.zeros(256 * 256, dtype=np.min_scalar_type(len(of_bytes)))
        for number, rank in enumerate(of_bytes, 1):
            left, right = merges[rank]
            self._numbers[256 * left + right] = number

    def apply(self, array: TokenArray) -> None:
        """Apply all merges to `array`."""
        for _ in self.steps(array):
            pass

    def steps(self, array: TokenArray) -> Iterator[int]:
        """Apply the merges to `array`; yields the rank of each one that changed them, right after it did."""
        waiting = self._byte_merges(array)  # rank -> where its pair was when it arose
        ranks = sorted(waiting)
        while ranks:
            rank = heapq.heappop(ranks)
            left, right = self._merges[rank]
            places = array.still_there(waiting.pop(rank), left, right)
            if left == right:
                places = without_overlap(places, array.lengths[left])
            if not len(places):
                continue
            array.replace(places, left, right, self._first_merge + rank)
            for later, found in self._later_merges(array, places, self._first_merge + rank):
                waiting[later] = found
                heapq.heappush(ranks, later)
            yield rank

    def _byte_merges(self, array: TokenArray) -> dict[int, np.ndarray]:
        """Places of the merges of two bytes."""
        places = array.byte_pairs()
        numbers = self._numbers[256 * array.first[places] + array.first[places + 1]]
        places, numbers = places[numbers > 0], numbers[numbers > 0]
        places = places[np.argsort(numbers, kind="stable")]
        counts = np.bincount(numbers, minlength=len(self._of_bytes) + 1)
        groups = np.split(places, np.cumsum(counts)[:-1])[1:]  # none has the number 0
        return {rank: group for rank, group in zip(self._of_bytes, groups, strict=True) if len(group)}

    def _later_merges(self, array: TokenArray, places: np.ndarray, new_id: int) -> Iterator[tuple[int, np.ndarray]]:
        """Rank and places of the merges whose pair `new_id` has just made with a neighbor."""
        ranks = self._of_id.get(new_id)
        if not ranks:
            return
        before, after = array.before(places), array.after(places, new_id)
        for rank in ranks:
            left, right = self._merges[rank]
            found = places[after == right] if left == new_id else places[before == left] - array.lengths[left]
            if len(found):
                yield rank, found
