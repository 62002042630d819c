"""The merges of one word: by hand, and the two ways against each other and against a slow obvious one."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from minigpt.tokenizers.word_merge import LONG, heap_merged, merge_steps, merged

TABLES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), max_size=12)


def slow(ids: list[int], ranks: dict, made: list[int]) -> list[int]:
    while True:
        pairs = enumerate(pairwise(ids))
        found = [(ranks[pair], place) for place, pair in pairs if pair in ranks]
        if not found:
            return ids
        rank, place = min(found)
        ids = [*ids[:place], made[rank], *ids[place + 2 :]]


def test_by_hand():
    ranks, made = {(1, 1): 0, (5, 1): 1, (5, 5): 2}, [5, 6, 7]
    assert merged([1, 1, 1, 1, 1], ranks, made) == [5, 6]  # rank 0 leaves 5 5 1, of whose pairs 5 1 comes first
    assert merged([], ranks, made) == merged([], {}, []) == []
    assert merged([1], ranks, made) == [1]
    ids = [1, 1, 1]
    assert [*merge_steps(ids, ranks, made)] == [0, 1] and ids == [6]


@given(st.lists(st.integers(0, 9), max_size=40), TABLES)
def test_all_ways_give_the_same(ids: list[int], table: list[tuple[int, int, int]]):
    """Also for tables no training would give, where a merge makes a pair of lower rank."""
    ranks = {(left, right): rank for rank, (left, right, _) in reversed([*enumerate(table)])}
    made = [id for _, _, id in table]
    expected = slow(ids, ranks, made)
    assert merged(ids, ranks, made) == heap_merged(ids, ranks, made) == expected


def test_a_word_of_any_length():
    ranks, made = {(0, 0): 0, (1, 1): 1, (2, 2): 2}, [1, 2, 3]
    assert merged([0] * (LONG - 1), ranks, made) == [3] * 37 + [1, 0]
    assert merged([0] * 200_000, ranks, made) == [3] * 25_000
