"""The slots of a record: three rows of equal length, padding apart from what counts."""

import pytest

from minigpt.figures.theme import REST, TARGET
from minigpt.figures.tokens import slots_figure

LABELS = [("<a", "b"), ("b", "EOS"), ("PAD", ""), ("PAD", "")]
UNUSED = ("2 × 258", "2 × -100", "2 × False")


@pytest.fixture
def figure():
    ids, targets, valid = [256, 7, 258, 258], [7, 257, -100, -100], [True, True, False, False]
    return slots_figure(ids, targets, valid, LABELS, ("ids", "targets", "valid"), "slot", UNUSED)


def test_rows_stand_at_the_same_slots(figure):
    assert [list(row.x) for row in figure.data] == [[0, 1, 2, 3]] * 3
    assert list(figure.layout.yaxis.ticktext) == ["ids", "targets", "valid"]


def test_padding_is_hatched_and_grey(figure):
    targets = figure.data[1].marker
    assert list(targets.color) == [TARGET, TARGET, REST, REST]
    assert list(targets.pattern.shape) == ["", "", "/", "/"]


def test_every_slot_says_what_it_holds(figure):
    assert figure.data[0].hovertext[0] == "ids 0: 256 &lt;a"
    assert figure.data[1].hovertext[3] == "targets 3: -100 "
    assert figure.data[2].hovertext[1] == "valid 1: True "
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["256", "7", "7", "257", "True", "True", *UNUSED]


def test_a_full_record_has_no_padding_note():
    figure = slots_figure([1], [2], [True], [("a", "b")], ("i", "t", "v"), "slot", UNUSED)
    assert [note.text for note in figure.layout.annotations] == ["1", "2", "True"]


def test_many_slots_keep_their_hover_without_numbers():
    figure = slots_figure([1] * 128, [2] * 128, [True] * 128, [("a", "b")] * 128, ("i", "t", "v"), "slot", UNUSED)
    assert not figure.layout.annotations and len(figure.data[0].hovertext) == 128
