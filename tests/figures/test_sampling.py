"""Figures of the sampling page: the numbers given are the numbers drawn, hostile labels are text."""

import pytest

from minigpt.figures.sampling import BarPart, cost_figure, dice_figure, seeds_figure
from minigpt.figures.theme import KEY, PREDICTION


def test_the_throw_stands_on_every_bar():
    bars = [
        ("A", [BarPart("a", 0.25), BarPart("b", 0.75, drawn=True)]),
        ("B", [BarPart("…", 0.02), BarPart("c", 0.98)]),
    ]
    figure = dice_figure(bars, 0.3, "share")
    assert [(bar.x[0], bar.y[0]) for bar in figure.data] == [(0.25, 0), (0.75, 0), (0.02, 1), (0.98, 1)]
    assert figure.data[1].marker.color == PREDICTION
    assert [bar.text for bar in figure.data] == [("",), ("b",), ("",), ("",)]
    line = figure.layout.shapes[0]
    assert (line.x0, line.x1, line.line.color) == (0.3, 0.3, KEY)
    notes = [(note.text, note.x, note.y) for note in figure.layout.annotations[1:]]
    assert figure.layout.annotations[0].text == "u = 0.300000"
    assert notes == [("a", 0.125, 0), ("c", pytest.approx(0.51), 1)]


def test_every_text_is_a_dot_and_every_column_has_its_mean():
    figure = seeds_figure([("surprise", [[1.0, 3.0], []]), ("copy", [[2.0, 2.0], [5.0, 7.0]])], "AB")
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    means = [trace for trace in figure.data if trace.mode == "lines"]
    assert [list(trace.y) for trace in dots] == [[1, 3], [2, 2], [5, 7]]
    assert [trace.y[0] for trace in means] == [2, 2, 6]
    assert [trace.xaxis for trace in dots] == ["x", "x2", "x2"]
    assert all(abs(x - round(x)) < 0.4 for trace in dots for x in trace.x)


def test_costs_that_were_not_measured_are_left_out():
    figure = cost_figure([4, 5, 6], [1.0, 2.0, 2.5], [3.0, None, 2.6], ("with", "without"), ("ids", "ms"))
    assert list(figure.data[0].y) == [1.0, 2.0, 2.5]
    assert (list(figure.data[1].x), list(figure.data[1].y)) == ([4, 6], [3.0, 2.6])
    assert {note.yshift for note in figure.layout.annotations} == {-8, 8}  # the ends are close: labels move apart
    empty = cost_figure([], [], [], ("with", "without"), ("ids", "ms"))
    assert len(empty.layout.annotations) == 0
