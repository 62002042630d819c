"""The longest copy from the corpus, by hand and against a slow, obvious version."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.generation.copies import Copy, longest_copy


def test_longest_copy_by_hand():
    assert longest_copy("a red key", ["the red door"]) == Copy(" red ", 5, 0, 1, 3)
    assert longest_copy("红色的钥匙", ["蓝色", "这是红色的门"]) == Copy("红色的", 3, 1, 0, 2)
    assert longest_copy("red", ["The key is red."]) == Copy("red", 3, 0, 0, 11)


def test_longest_copy_without_any_copy():
    assert longest_copy("xyz", ["abc", ""]) == Copy("", 0, None, 0, 0)
    assert longest_copy("", ["abc"]) == Copy("", 0, None, 0, 0)
    assert longest_copy("abc", []) == Copy("", 0, None, 0, 0)
    assert longest_copy(b"xyz", [b"abc"]) == Copy(b"", 0, None, 0, 0)


def test_copies_do_not_cross_records_and_ties_go_to_the_first():
    assert longest_copy("abcd", ["xab", "cdx"]) == Copy("ab", 2, 0, 0, 1)
    assert longest_copy("cd ab", ["ab", "cd"]) == Copy("ab", 2, 0, 3, 0)
    assert longest_copy("ab ab", ["ab-ab"]) == Copy("ab", 2, 0, 0, 0)


def test_bytes_see_parts_of_a_character():
    assert longest_copy("é".encode()[:1], ["è".encode()]) == Copy(b"\xc3", 1, 0, 0, 0)


def test_mixed_kinds_are_refused():
    with pytest.raises(ValueError, match="record 1 must be str, as the output is, got bytes"):
        longest_copy("abc", ["abc", b"abc"])
    with pytest.raises(ValueError, match="the output must be str or bytes, got list"):
        longest_copy([1, 2], ["abc"])


def slow_longest_copy(output, records):
    for length in range(len(output), 0, -1):
        for number, record in enumerate(records):
            for start in range(len(record) - length + 1):
                text = record[start : start + length]
                if text in output:
                    return Copy(text, length, number, output.index(text), start)
    return Copy(output[:0], 0, None, 0, 0)


@given(st.text("ab", max_size=40), st.lists(st.text("abc", max_size=60), max_size=4))
def test_longest_copy_equals_the_slow_version(output, records):
    assert longest_copy(output, records) == slow_longest_copy(output, records)


@given(st.text("abcdefgh ", min_size=1, max_size=80), st.data())
def test_a_planted_copy_is_found_in_a_long_record(output, data):
    start = data.draw(st.integers(0, len(output) - 1))
    planted = output[start : data.draw(st.integers(start + 1, len(output)))]
    records = ["hgf edcba" * 20, data.draw(st.text("abcdefgh ", max_size=50)) + planted + "-" * 40]
    found = longest_copy(output, records)
    assert found == slow_longest_copy(output, records)
    assert found.length >= len(planted)
