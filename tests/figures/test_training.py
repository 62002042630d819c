"""Curves as chart options: which points are drawn, what is marked."""

import pytest

from minigpt.figures.training import Curve, Level, curves_chart


def points(chart: dict, name: str) -> list[tuple[int, float]]:
    series = next(series for series in chart["series"] if series["name"] == name)
    frame = chart["dataset"][series["datasetIndex"]]["source"]
    return list(zip(frame["step"].tolist(), frame[name].tolist(), strict=True))


def test_every_point_of_a_short_curve_with_all_its_digits():
    value = 2.2471054975328544
    chart = curves_chart([Curve("validation", [0, 50], [5.5, value], "#000000", "points")], (0, 100))
    assert points(chart, "validation") == [(0, 5.5), (50, value)]
    assert (chart["xAxis"]["min"], chart["xAxis"]["max"]) == (0, 100)


@pytest.mark.parametrize("count", [1, 599, 600, 601, 1200, 1201, 5000])
def test_long_curves_are_thinned_evenly_and_end_at_their_last_point(count):
    steps = list(range(1, count + 1))
    drawn = points(curves_chart([Curve("batch", steps, [s / 2 for s in steps], "#000000")], (0, count)), "batch")
    assert len(drawn) <= 600 and drawn[-1] == (count, count / 2)
    assert len({b[0] - a[0] for a, b in zip(drawn, drawn[1:], strict=False)}) <= 1
    assert count > 600 or len(drawn) == count


def test_a_span_leaves_the_rest_out():
    steps = list(range(1, 1001))
    chart = curves_chart([Curve("batch", steps, steps, "#000000")], (101, 300))
    assert points(chart, "batch") == [(step, float(step)) for step in range(101, 301)]


def test_curves_of_the_same_steps_share_a_table():
    steps, other = [1, 2], [0, 50]
    curves = [Curve("a", steps, [1, 2], "#1"), Curve("b", other, [3, None], "#2"), Curve("c", steps, [5, 6], "#3")]
    chart = curves_chart(curves, (0, 50))
    assert len(chart["dataset"]) == 2
    assert points(chart, "c") == [(1, 5.0), (2, 6.0)]
    assert chart["dataset"][1]["source"]["b"].isna().tolist() == [False, True]


def test_levels_carry_their_value_and_the_best_step_is_marked_where_it_is_shown():
    curve = Curve("validation", [0, 50], [5.0, 2.0], "#000000")
    chart = curves_chart([curve], (0, 100), [Level("ln V", 5.673323)], ("best, step 50", 50, 2.0), logarithmic=True)
    series = chart["series"][0]
    assert series["markLine"]["data"][0]["yAxis"] == 5.673323
    assert series["markLine"]["data"][0]["label"]["formatter"] == "ln V 5.673"
    assert series["markPoint"]["data"] == [{"coord": [50, 2.0]}]
    assert chart["yAxis"]["type"] == "log"
    assert "markPoint" not in curves_chart([curve], (60, 100), best=("best", 50, 2.0))["series"][0]


def test_no_points_yet():
    chart = curves_chart([Curve("batch", [], [], "#000000")], (0, 600), [Level("ln V", 5.6)])
    assert points(chart, "batch") == []


def labels(values: dict[str, float], highest: float, **more) -> list[str]:
    curve = Curve("validation", [0, 50], [highest, 2.0], "#000000")
    chart = curves_chart([curve], (0, 100), [Level(name, value) for name, value in values.items()], **more)
    shown = [level["label"] for level in chart["series"][0]["markLine"]["data"]]
    assert len(shown) == len(values)
    return [label["formatter"] for label in shown if label.get("show", True)]


def test_levels_too_near_for_two_labels_share_one():
    assert labels({"ln V": 3.611, "bigram": 2.5, "trigram": 3.689}, 4.0) == [
        "trigram 3.689 · ln V 3.611",
        "bigram 2.500",
    ]
    assert labels({"bigram": 3.0, "trigram": 2.0}, 4.0) == ["bigram 3.000", "trigram 2.000"]
    assert labels({"bigram": 2.2, "trigram": 1.6}, 6.0) == ["bigram 2.200", "trigram 1.600"]
    assert labels({"bigram": 2.2, "trigram": 1.6}, 6.0, height=230) == ["bigram 2.200 · trigram 1.600"]
    assert labels({"bigram": 3.0, "trigram": 2.0}, 40.0) == ["bigram 3.000 · trigram 2.000"]
    assert labels({"bigram": 3.0, "trigram": 2.0}, 40.0, logarithmic=True) == ["bigram 3.000", "trigram 2.000"]


@pytest.mark.parametrize(
    ("at", "value", "side"), [(50, 2.0, "bottom"), (50, 0.1, "top"), (98, 2.0, "left"), (1, 2.0, "right")]
)
def test_the_label_of_the_best_step_stands_where_there_is_room(at, value, side):
    curve = Curve("validation", [0, at], [5.0, value], "#000000")
    chart = curves_chart([curve], (0, 100), best=("best", at, value))
    assert chart["series"][0]["markPoint"]["label"]["position"] == side
