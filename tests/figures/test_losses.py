"""Losses along a record: the chosen one in amber, every column easy to click, no text read as markup."""

from minigpt.figures.losses import losses_chart
from minigpt.figures.theme import BAR, TARGET


def chart(losses=(1.0, 0.0, 2.0, 0.5), position: int = 2, levels=(("mean 1", 1.0), ("ln 4", 3.0))) -> dict:
    labels, hover = ["the"] * len(losses), [f"<i> {at}" for at in range(len(losses))]
    return losses_chart(losses, labels, position, levels, hover)


def test_bars_hold_the_losses_and_amber_the_chosen_one():
    shown = chart()["series"][0]["data"]
    assert [bar["value"] for bar in shown] == [1.0, 0.0, 2.0, 0.5]
    assert [bar["itemStyle"]["color"] for bar in shown] == [BAR, BAR, TARGET, BAR]


def test_clicks_are_taken_over_the_whole_height():
    option = chart()
    shown, clicked = option["series"]
    assert shown["silent"] and clicked["selectedMode"] == "single"
    assert {area["value"] for area in clicked["data"]} == {option["yAxis"]["max"]}
    assert option["yAxis"]["max"] > 3.0
    assert [area["name"] for area in clicked["data"]] == ["<i> 0", "<i> 1", "<i> 2", "<i> 3"]


def test_equal_labels_stand_at_their_own_positions():
    assert chart()["xAxis"][0]["data"] == ["0  the", "1  the", "2  the", "3  the"]


def test_levels_have_names_that_do_not_overlap():
    far = chart()["series"][0]["markLine"]["data"]
    assert [(line["yAxis"], line["label"]["formatter"]) for line in far] == [(1.0, "mean 1"), (3.0, "ln 4")]
    assert [line["label"]["offset"][1] for line in far] == [0, 0]
    near = chart(levels=(("mean", 3.01), ("ln", 3.0)))["series"][0]["markLine"]["data"]
    assert near[0]["label"]["offset"][1] < 0 < near[1]["label"]["offset"][1]  # px downwards
