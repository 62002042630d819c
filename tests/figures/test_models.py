"""The treemap: the numbers given are the numbers drawn, and areas that do not add up are refused."""

import pytest

from minigpt.figures.models import DARK_GROUNDS, GROUNDS, Area, treemap_figure

AREAS = [
    Area("model", "Model", 10, ""),
    Area("token_table", "<b>$table$</b>", 6, "model", "token_table", note="tied & <i>counted once</i>"),
    Area("block 0", "Block 0", 4, "model"),
    Area("block 0 ffn", "Feed-forward", 3, "block 0", "ffn"),
    Area("block 0 norms", "LayerNorms", 1, "block 0", "norms"),
]


def test_areas_are_their_numbers():
    tree = treemap_figure(AREAS).data[0]
    assert list(tree.values) == [10, 6, 4, 3, 1]
    assert list(tree.parents) == ["", "model", "model", "block 0", "block 0"]
    assert list(tree.text) == ["10", "6", "4", "3", "1"]
    assert [row[0] for row in tree.customdata] == ["100 %", "60.0 %", "40.0 %", "30.0 %", "10.0 %"]
    assert list(tree.marker.colors) == [GROUNDS[area.component] for area in AREAS]
    assert tree.branchvalues == "total"


def test_a_dark_page_has_deep_grounds_under_light_text():
    light, dark = (treemap_figure(AREAS, dark=dark).data[0] for dark in (False, True))
    assert list(dark.marker.colors) == [DARK_GROUNDS[area.component] for area in AREAS]
    assert all(int(colour[1:3], 16) < 0x80 for colour in dark.marker.colors)
    assert dark.textfont.color > "#f" > light.textfont.color


def test_texts_are_shown_not_read():
    tree = treemap_figure(AREAS).data[0]
    assert tree.labels[1] == "&lt;b&gt;&#36;table&#36;&lt;/b&gt;"
    assert tree.customdata[1][1] == "tied &amp; &lt;i&gt;counted once&lt;/i&gt;"


@pytest.mark.parametrize(
    ("areas", "sentence"),
    [
        ([AREAS[0], AREAS[1]], "area 'model' must have as many numbers as the areas in it, got 10 and 6"),
        (AREAS[1:], r"one area must hold all others, got \[\]"),
        ([*AREAS, Area("other", "Other", 1, "")], r"one area must hold all others, got \['model', 'other'\]"),
    ],
)
def test_refused(areas: list, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        treemap_figure(areas)
