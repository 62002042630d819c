"""Choices from the browser: handed on once each, remembered by number, and refused when malformed."""

import pytest

from minigpt.ui.components import selection


@pytest.fixture
def state(monkeypatch):
    session = {}
    monkeypatch.setattr(selection.st, "session_state", session)
    return session


def send(state, message, accept):
    state["k"] = {"choice": message}
    selection.listener("k", accept)()


def test_a_choice_is_accepted_and_its_number_remembered(state):
    got = []
    assert selection.seen("k") == 0
    send(state, {"at": 3, "n": 17}, got.append)
    assert got == [3] and selection.seen("k") == 17


def test_the_same_choice_with_a_new_number_counts_again(state):
    got = []
    send(state, {"at": 3, "n": 17}, got.append)
    send(state, {"at": 3, "n": 18}, got.append)
    assert got == [3, 3] and selection.seen("k") == 18


def test_a_repeated_message_is_old_news(state):
    got = []
    send(state, {"at": 3, "n": 17}, got.append)
    send(state, {"at": 3, "n": 17}, got.append)
    assert got == [3]


@pytest.mark.parametrize("message", [None, 3, [3, 17], {"at": 3}, {"at": 3, "n": "17"}])
def test_malformed_messages_are_ignored(state, message):
    got = []
    send(state, message, got.append)
    assert got == [] and selection.seen("k") == 0


@pytest.mark.parametrize(
    ("value", "expected"), [(0, True), (2, True), (3, False), (-1, False), (True, False), (1.0, False), ("1", False)]
)
def test_only_ints_inside_are_indices(value, expected):
    assert selection.is_index(value, 3) is expected
