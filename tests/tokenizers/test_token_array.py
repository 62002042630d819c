"""Texts in slots: pairs replaced where they stand, by hand and against lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.tokenizers.token_array import BORDER, GONE, TokenArray, without_overlap


def places(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


def test_by_hand():
    array = TokenArray([b"abcab", b"", b"ab"], id_limit=262)
    assert array.ids().tolist() == [BORDER, 97, 98, 99, 97, 98, BORDER, BORDER, 97, 98, BORDER]
    assert array.byte_pairs().tolist() == [1, 2, 3, 4, 8]
    array.replace(places(1, 4, 8), 97, 98, 259)
    assert array.first.tolist() == [BORDER, 259, GONE, 99, 259, GONE, BORDER, BORDER, 259, GONE, BORDER]
    assert array.before(places(1, 4, 8)).tolist() == [BORDER, 99, BORDER]
    assert array.after(places(1, 4, 8), 259).tolist() == [99, BORDER, BORDER]
    array.replace(places(3), 99, 259, 260)
    array.replace(places(1), 259, 260, 261)
    assert array.ids().tolist() == [BORDER, 261, BORDER, BORDER, 259, BORDER]
    assert array.lengths[[97, 259, 260, 261]].tolist() == [1, 2, 3, 5]


def test_places_written_down_earlier_are_looked_up_later():
    array = TokenArray([b"abcabd"], id_limit=260)
    found = array.byte_pairs()
    assert array.still_there(found, 97, 98).tolist() == [1, 4]
    array.replace(places(2), 98, 99, 259)
    assert array.still_there(found, 97, 98).tolist() == [4]
    assert array.still_there(found, 98, 99).tolist() == []
    assert array.still_there(found, 97, 259).tolist() == [1]


@given(st.lists(st.integers(1, 12), unique=True).map(sorted), st.integers(1, 3))
def test_overlap_is_left_out_from_the_left(numbers: list[int], length: int):
    kept: list[int] = []
    for number in numbers:
        if not kept or number != kept[-1] + length:
            kept.append(number)
    assert without_overlap(places(*numbers), length).tolist() == kept


def test_no_text_and_no_pair():
    assert TokenArray([], 256).ids().tolist() == [BORDER]
    assert TokenArray([], 256).byte_pairs().tolist() == TokenArray([b"a", b"b"], 256).byte_pairs().tolist() == []
    assert without_overlap(places(), 1).tolist() == []


def test_more_bytes_than_places_can_count_are_refused_before_work():
    with pytest.raises(ValueError, match="at most 2,147,483,647 bytes .* got 2,147,483,650"):
        TokenArray([range(2**31)], 259)
