"""The merges of one word: the pair with the lowest rank first, the leftmost of equal ones, until none is in the table.

Two ways to the same ids: a look at all pairs for each merge, which is fast for words of usual length, and a
heap for long ones, such as a page of letters without a space.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

Ranks = Mapping[tuple[int, int], int]
LONG = 300  # from this many ids on, the heap is faster
_NONE = 2**31  # the rank of a pair that is not in the table


def merged(ids: list[int], ranks: Ranks, made: Sequence[int]) -> list[int]:
    """The ids of a word after all its merges: `ranks` of pairs, `made[rank]` the id of the merged pair.

    >>> merged([1, 2, 2, 2], {(2, 2): 0, (1, 5): 1}, [5, 6])
    [6, 2]
    """
    if len(ids) >= LONG:
        return heap_merged(ids, ranks, made)
    ids = list(ids)
    for _ in merge_steps(ids, ranks, made):
        pass
    return ids


def merge_steps(ids: list[int], ranks: Ranks, made: Sequence[int]) -> Iterator[int]:
    """Merge `ids` in place; yield the rank of each merge when it is done."""
    rank_of = ranks.get
    found = [rank_of(pair, _NONE) for pair in pairwise(ids)]
    while found and (best := min(found)) < _NONE:
        place = found.index(best)
        ids[place] = new_id = made[best]
        del ids[place + 1], found[place]
        if place:
            found[place - 1] = rank_of((ids[place - 1], new_id), _NONE)
        if place < len(found):
            found[place] = rank_of((new_id, ids[place + 1]), _NONE)
        yield best


def heap_merged(ids: Sequence[int], ranks: Ranks, made: Sequence[int]) -> list[int]:
    """As `merged`, in n log n: a heap of (rank, place) whose outdated entries are skipped, and links between places."""
    places: list[int | None] = list(ids)  # None where an id went into its left neighbour
    end = len(places)
    before, after = list(range(-1, end - 1)), list(range(1, end + 1))

    def rank(place: int) -> int:
        left, following = places[place], after[place]
        right = places[following] if following < end else None
        return _NONE if left is None or right is None else ranks.get((left, right), _NONE)

    heap = [(found, place) for place in range(end) if (found := rank(place)) < _NONE]
    heapq.heapify(heap)
    while heap:
        best, place = heapq.heappop(heap)
        if places[place] is None or rank(place) != best:
            continue
        gone = after[place]
        places[place], places[gone], after[place] = made[best], None, after[gone]
        if after[place] < end:
            before[after[place]] = place
        for changed in (before[place], place):
            if changed >= 0 and (found := rank(changed)) < _NONE:
                heapq.heappush(heap, (found, changed))
    return [token for token in places if token is not None]
