"""The queue of pairs: counts, ties and places, while pairs are replaced."""

import pytest

from minigpt.tokenizers.bpe_trainer import PairQueue
from minigpt.tokenizers.token_array import TokenArray, without_overlap


def taken(text: bytes, id_limit: int, merges: int) -> list[tuple[int, int, list[int]]]:
    """(left, right, places) of the pairs that come to the front, each then replaced."""
    array = TokenArray([text], id_limit)
    queue, found = PairQueue(array, id_limit), []
    for new_id in range(259, 259 + merges):
        highest = queue.take_highest()
        if highest is None:
            break
        left, right, places = highest
        found.append((left, right, places.tolist()))
        places = without_overlap(places, array.lengths[left]) if left == right else places
        array.replace(places, left, right, new_id)
        queue.add_neighbors(places, new_id)
    return found


@pytest.mark.parametrize("id_limit", [300, 65536, 65537, 1_000_000])
def test_the_same_order_for_any_number_of_ids(id_limit: int):
    """Ids of 16 bits are sorted in another way than wider ones. Every text below is what is left of the first."""
    assert taken(b"abcabcabxbc", id_limit, 9) == [
        (97, 98, [1, 4, 7]),  # beside (98, 99), three times too
        (99, 259, [3, 6]),  # 259 c 259 c 259 x b c, beside (259, 99)
        (98, 99, [10]),  # 259 260 260 x b c, each pair once
        (120, 261, [9]),  # 259 260 260 x 261
        (259, 260, [1]),  # 259 260 260 262
        (260, 262, [6]),  # 263 260 262
        (263, 264, [1]),  # 263 264
    ]


def test_runs_are_counted_at_each_place():
    assert taken(b"aaaaab", 300, 9) == [
        (97, 97, [1, 2, 3, 4]),
        (97, 98, [5]),  # 259 259 a b
        (259, 259, [1]),  # 259 259 260
        (261, 260, [1]),
    ]
