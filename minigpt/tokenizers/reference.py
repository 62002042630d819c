"""Byte-level BPE in the few lines that a class reads; `bpe_trainer` learns the same merges, faster."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from minigpt.tokenizers.bpe_trainer import FIRST_MERGE


def train(texts: Iterable[str], merges: int) -> list[tuple[int, int, int]]:
    """The merges as (left, right, count): count every pair of every text, join the most frequent one, repeat.

    Ties go to the smallest pair. It ends early when no pair is left.

    >>> train(["red red"], 2)
    [(101, 100, 2), (114, 259, 2)]
    """
    rows, learned = [list(text.encode()) for text in texts], []
    for rank in range(merges):
        counts = Counter(pair for row in rows for pair in pairwise(row))
        if not counts:
            break
        left, right = min(counts, key=lambda pair: (-counts[pair], pair))
        learned.append((left, right, counts[left, right]))
        rows = [merge(row, (left, right), FIRST_MERGE + rank) for row in rows]
    return learned


def merge(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Replace `pair` from left to right without overlap.

    >>> merge([1, 1, 1, 2], (1, 1), 9)
    [9, 1, 2]
    """
    merged, i = [], 0
    while i < len(ids):
        found = tuple(ids[i : i + 2]) == pair
        merged.append(new_id if found else ids[i])
        i += 2 if found else 1
    return merged


def encode(text: str, merges: Iterable[tuple[int, int]]) -> list[int]:
    """The ids of a text: its bytes, then each merge in the order in which it was learned.

    >>> encode("red", [(101, 100), (114, 259)])
    [260]
    """
    ids = list(text.encode())
    for rank, pair in enumerate(merges):
        ids = merge(ids, pair, FIRST_MERGE + rank)
    return ids
