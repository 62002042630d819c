"""The bars of one draw: the numbers given are the numbers shown, on one scale, hostile labels are text."""

import pytest

from minigpt.ui.components.table import payload
from minigpt.ui.sampling.step import NAME, StageRow, stage_columns

HOSTILE = "<img src=x onerror=alert(1)> $x$ **b** 🙂"
ROWS = [
    StageRow(HOSTILE, (0.5, 0.6, 0.75, 1.0), drawn=True),
    StageRow("$x$", (0.2, 0.2, 0.25, None)),
    StageRow("3 others", (0.2, 0.2, 0.0, 0.0), rest=True),
    StageRow("2 blocked", (0.1, None, None, None), rest=True),
]
TITLES = ["raw", "temperature 0.8", "top-k 2", "top-p 0.5"]


def test_every_stage_has_its_shares_on_one_scale():
    pieces, *stages = stage_columns(ROWS, TITLES, "removed")
    assert [stage.name for stage in stages] == TITLES and {stage.kind for stage in stages} == {"bar"}
    for at, stage in enumerate(stages):
        assert stage.shares == [row.shares[at] for row in ROWS]  # the highest of all stages is 1: a full bar
    assert stages[0].cells == ["50.0 %", "20.0 %", "20.0 %", "10.0 %"]
    assert stages[3].cells == ["100 %", "removed", "0 %", "removed"]
    assert stages[3].exact == ["1.0", "removed", "0.0", "removed"]
    halves = stage_columns([StageRow("a", (0.5, 0.25)), StageRow("b", (0.5, 0.75))], ["x", "y"], "removed")
    assert halves[1].shares == [0.5 / 0.75] * 2 and halves[2].shares == [0.25 / 0.75, 1.0]


def test_labels_are_shown_as_they_are_and_long_ones_are_copied_whole():
    data = payload(stage_columns(ROWS, TITLES, "removed"), label="t", selected=0, active=False, height=9)
    pieces = data["columns"][0]
    assert pieces["cells"] == [HOSTILE[: NAME - 1] + "…", "$x$", "3 others", "2 blocked"]
    assert pieces["exact"] == [HOSTILE, "$x$", "3 others", "2 blocked"]


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ((0.4, 0.6, 0.75, 1.0), "stage 'raw' must sum to 1"),
        ((0.5, 0.6, 0.75), "a share for each of the 4 stages, got 3"),
    ],
)
def test_a_stage_that_is_not_whole_is_refused(shares: tuple, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        stage_columns([StageRow("x", shares), *ROWS[1:]], TITLES, "removed")
