"""Figures of predictions: what stands where, and that nothing is lost or read as markup."""

import numpy as np
import pytest

from minigpt.figures.logits import Bar, Words, candidates_figure, curve_figure, ranks_drawn
from minigpt.figures.theme import PREDICTION, TARGET

WORDS = Words(rest="7 other ids", rank="rank {rank}", hover="{label} {id} {rank} {probability}")
BARS = [
    Bar("the", 5, 1, 0.5),
    Bar("the", 9, 2, 0.25),
    Bar("<b>$x$", 2, 3, 0.125),
    Bar("red", 7, 40, 0.025, target=True),
]


def test_strip_and_rest_are_the_whole():
    figure = candidates_figure(BARS, rest=0.1, words=WORDS)
    strip, bars = figure.data
    assert sum(strip.x) == pytest.approx(1)
    assert list(strip.base) == pytest.approx([0, 0.5, 0.75, 0.875, 0.9])
    assert list(bars.x) == [0.5, 0.25, 0.125, 0.025]


def test_rows_are_integers_with_texts_so_that_equal_labels_stay_apart():
    figure = candidates_figure(BARS, rest=0.1, words=WORDS)
    axis = figure.layout.yaxis2
    assert list(figure.data[1].y) == [0, 1, 2, 3]
    assert list(axis.tickvals) == [0, 1, 2, 3] and len(axis.ticktext) == 4
    assert axis.ticktext[0].startswith("the ") and axis.ticktext[1].startswith("the ")
    assert axis.range[0] > axis.range[1]  # rank 1 at the top


def test_labels_are_no_markup():
    figure = candidates_figure(BARS, rest=0.1, words=WORDS)
    assert figure.layout.yaxis2.ticktext[2].startswith("&lt;b&gt;&#36;x&#36;")
    assert figure.data[1].hovertext[2] == "&lt;b&gt;&#36;x&#36; 2 3 12.5 %"
    assert figure.data[0].text[2] == "&lt;b&gt;&#36;x&#36;"


def test_the_target_is_amber_and_says_its_rank_where_it_is_out_of_line():
    figure = candidates_figure(BARS, rest=0.1, words=WORDS)
    assert list(figure.data[1].marker.color) == [PREDICTION] * 3 + [TARGET]
    assert list(figure.data[1].text) == ["50.0 %", "25.0 %", "12.5 %", "2.50 %, rank 40"]
    assert [shape.y0 for shape in figure.layout.shapes] == [2.5]


def test_a_large_rest_is_named():
    figure = candidates_figure([Bar("a", 0, 1, 0.25)], rest=0.75, words=WORDS)
    assert [note.text for note in figure.layout.annotations] == ["7 other ids  75.0 %"]


def test_a_part_of_the_whole_is_refused():
    with pytest.raises(ValueError, match="must sum to 1, got 0.9"):
        candidates_figure(BARS, rest=0.0, words=WORDS)


def test_curve_is_sorted_and_marks_the_target():
    shares = np.array([0.125, 0.5, 0.25, 0.125])
    curve, point = curve_figure(shares, (3, "a<"), "1 / 4", ("rank", "p")).data
    assert list(curve.x) == [1, 2, 3, 4] and list(curve.y) == [0.5, 0.25, 0.125, 0.125]
    assert (list(point.x), list(point.y), list(point.text)) == ([3], [0.125], ["a&lt;"])


def test_curve_leaves_out_what_underflowed():
    curve, *points = curve_figure(np.array([1.0, 0.0, 1e-300]), (3, "a"), "1 / 3", ("rank", "p")).data
    assert list(curve.x) == [1, 2] and points == []


def test_a_large_vocabulary_is_thinned_out_but_keeps_both_ends():
    ranks = ranks_drawn(50_257)
    assert len(ranks) <= 600 and ranks[-1] == 50_257
    assert list(ranks[:200]) == list(range(1, 201))
    assert (np.diff(ranks) > 0).all()
    assert list(ranks_drawn(291)) == list(range(1, 292))
