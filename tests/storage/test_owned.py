"""Marks and ids of what readers make."""

import re

import pytest

from minigpt.storage.owned import checked_id, mark, new_id


def test_a_mark_is_the_same_each_time_and_does_not_hold_the_secret():
    assert mark("a" * 32) == mark("a" * 32) != mark("b" * 32)
    assert "a" * 8 not in mark("a" * 32) and re.fullmatch("[0-9a-f]{32}", mark("a" * 32))


def test_new_ids_differ_begin_with_the_mark_and_are_ids():
    ids = {new_id("a" * 32) for _ in range(50)}
    assert len(ids) == 50
    assert all(checked_id(id) == id and id.startswith(mark("a" * 32)[:6] + "-") for id in ids)


def test_a_fault_says_what_an_id_has():
    with pytest.raises(ValueError, match=r"an id has letters, .*, got '\.\./x'"):
        checked_id("../x")
