"""Merges in the order of their ranks, each only where its pair can be."""

from hypothesis import given
from hypothesis import strategies as st

from minigpt.tokenizers.reference import merge
from minigpt.tokenizers.replay import Replay
from minigpt.tokenizers.token_array import TokenArray

FIRST = 259
LETTERS = st.text("ab\n", max_size=40).map(str.encode)


def replayed(merges: list[tuple[int, int]], text: bytes) -> tuple[list[int], list[int]]:
    """The ranks that changed the text, and its ids at the end."""
    array = TokenArray([text], FIRST + len(merges))
    ranks = [*Replay(merges, FIRST).steps(array)]
    return ranks, array.ids()[1:-1].tolist()


def test_by_hand():
    merges = [(97, 98), (99, 259), (98, 98), (259, 259), (262, 259)]
    assert replayed(merges, b"ababab") == ([0, 3, 4], [263])
    assert replayed(merges, b"abab") == ([0, 3], [262])
    assert replayed(merges, b"cabbb") == ([0, 1, 2], [260, 261])
    assert replayed(merges, b"a") == ([], [97])
    assert replayed([], b"ab") == ([], [97, 98])
    assert replayed(merges, b"") == ([], [])


@st.composite
def tables(draw) -> list[tuple[int, int]]:
    """Merges that training would hardly give: any two ids below, also ids that never arise."""
    merges: list[tuple[int, int]] = []
    for rank in range(draw(st.integers(0, 12))):
        ids = st.sampled_from([97, 98, 10, *range(FIRST, FIRST + rank)])
        pair = draw(st.tuples(ids, ids))
        if pair not in merges:
            merges.append(pair)
        else:
            merges.append((rank + 100, rank + 100))
    return merges


@given(tables(), LETTERS)
def test_equals_a_look_at_every_merge(merges: list[tuple[int, int]], text: bytes):
    ids, ranks = [*text], []
    for rank, pair in enumerate(merges):
        before, ids = ids, merge(ids, pair, FIRST + rank)
        ranks += [rank] if ids != before else []
    assert replayed(merges, text) == (ranks, ids)
