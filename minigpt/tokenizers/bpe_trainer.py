"""How the merges of byte-level BPE are learned: replace the most frequent pair of neighboring ids, again and again.

`reference.py` is the same in a few lines that count everything again for each merge. Here a pair is counted
only when it may be the next: a pair (left, right) arises only when the newer of its two ids is made, and later
replacements may take places from it, never add one. So the places of a pair are written down once, their number
stays an upper bound of its count, and only a pair that comes to the front of the queue is counted again.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from minigpt.tokenizers.token_array import TokenArray, without_overlap
from minigpt.validation import check_int

FIRST_MERGE = 259  # the id that the first merge makes: 256 bytes and 3 specials come before


@dataclass(frozen=True)
class Merge:
    """One learned merge: the pair (left, right) becomes `id`; `count` is in how many places the pair was.

    `tokens` is how many ids all texts have then.
    """

    rank: int
    left: int
    right: int
    id: int
    count: int
    tokens: int


def train_merges(texts: Iterable[bytes], merges: int) -> Iterator[Merge]:
    """Yield up to `merges` merges as they are learned; fewer when no pair is left.

    Rule: the pair with the highest count wins, ties go to the smallest (left, right); it is replaced from left
    to right without overlap. Counts are of neighboring places, so `aaa` has the pair (a, a) twice. No pair
    crosses the border of two texts. Raises ValueError for a negative or fractional `merges`.
    """
    check_int("merges", merges, least=0)
    texts = [*texts]
    tokens = sum(map(len, texts))
    id_limit = FIRST_MERGE + min(merges, tokens)  # each merge leaves at least one id less
    array = TokenArray(texts, id_limit)
    queue = PairQueue(array, id_limit)
    for rank in range(merges):
        highest = queue.take_highest()
        if highest is None:
            return
        left, right, places = highest
        count, new_id = len(places), FIRST_MERGE + rank
        if left == right:
            places = without_overlap(places, array.lengths[left])
        array.replace(places, left, right, new_id)
        queue.add_neighbors(places, new_id)
        tokens -= len(places)
        yield Merge(rank, left, right, new_id, count, tokens)


@dataclass(frozen=True, eq=False)
class _Block:
    """Pairs written down together, the most frequent first; ties in the order of their codes.

    Pair i has the code `codes[i]` and was at `places[starts[i] : starts[i] + counts[i]]`.
    """

    codes: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    places: np.ndarray


class PairQueue:
    """Pairs of ids below `id_limit` in the order of their counts in `array`; ties go to the smallest (left, right).

    Counts are of places, so `aaa` has the pair (a, a) twice.
    """

    def __init__(self, array: TokenArray, id_limit: int):
        self._array = array
        self._id_limit = id_limit  # above every id, so that left * id_limit + right orders as (left, right)
        self._id_type = np.uint16 if id_limit <= 65536 else np.int32  # 16 bits are sorted several times faster
        self._heap: list[tuple[int, int, _Block, int]] = []  # the next pair of each block
        places = array.byte_pairs()
        self._add(places, array.first[places], array.first[places + 1])

    def add_neighbors(self, places: np.ndarray, new_id: int) -> None:
        """Write down the pairs that `new_id` makes with its neighbors; it has just been put at `places`."""
        before, after = self._array.before(places), self._array.after(places, new_id)
        preceded = (before >= 0) & (before != new_id)  # two new ids side by side are one pair, counted at the first
        followed = after >= 0
        before, after = before[preceded], after[followed]
        starts = np.concatenate([places[preceded] - self._array.lengths[before], places[followed]])
        left = np.concatenate([before, np.full_like(after, new_id)])
        self._add(starts, left, np.concatenate([np.full_like(before, new_id), after]))

    def take_highest(self) -> tuple[int, int, np.ndarray] | None:
        """(left, right, places) of the most frequent pair, which then leaves the queue; None when no pair is left."""
        while self._heap:
            bound, code, block, i = heapq.heappop(self._heap)
            self._push(block, i + 1)
            left, right = divmod(code, self._id_limit)
            written = block.places[block.starts[i] : block.starts[i] + block.counts[i]]
            places = self._array.still_there(written, left, right)
            if len(places) == -bound:
                return left, right, places
            if len(places):
                self._push(_Block(np.array([code]), np.array([len(places)]), np.array([0]), places), 0)
        return None

    def _add(self, places: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Sort places by pair, keeping the order of the places of one pair, and pairs by their counts."""
        left, right = left.astype(self._id_type), right.astype(self._id_type)
        order = np.lexsort((right, left))
        places, left, right = places[order], left[order], right[order]
        begins = np.ones(len(places), dtype=bool)
        begins[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
        starts = np.flatnonzero(begins)
        counts = np.diff(starts, append=len(places))
        codes = left[starts].astype(np.int64) * self._id_limit + right[starts]
        ranking = np.lexsort((codes, -counts))
        self._push(_Block(codes[ranking], counts[ranking], starts[ranking], places), 0)

    def _push(self, block: _Block, i: int) -> None:
        if i < len(block.codes):
            heapq.heappush(self._heap, (-int(block.counts[i]), int(block.codes[i]), block, i))
