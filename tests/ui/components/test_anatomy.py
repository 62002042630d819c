"""Anatomy: what the browser gets, and what is refused."""

import json

import pytest

from minigpt.ui.components.anatomy import MOST_HEADS, PARTS, Mark, Part, payload

BOXES = {name: Part(name.title()) for name in PARTS}
MARKS = [Mark("a", 1, "<b>$x$</b>", ("norm1", "final"))]


def sent(parts=BOXES, marks=MARKS, **changes):
    values = {"label": "map", "frame": "block", "ends": ("ids", "logits"), "heads": (4, 2), "residual": True}
    return json.loads(json.dumps(payload(parts, marks, **values | {"selected": "a"} | changes)))


def test_texts_reach_the_payload_unchanged():
    data = sent(BOXES | {"ffn": Part("法 <i>", "n", copies=8, changed=True)})
    assert data["parts"]["ffn"] == {"title": "法 <i>", "note": "n", "gone": False, "changed": True, "copies": 8}
    assert data["marks"] == [{"id": "a", "number": 1, "title": "<b>$x$</b>", "parts": ["norm1", "final"]}]
    assert (data["ends"], data["heads"], data["selected"], data["residual"]) == (["ids", "logits"], [4, 2], "a", True)


def test_too_many_heads_are_not_drawn_one_by_one():
    assert sent(heads=(MOST_HEADS, 1))["heads"] == [MOST_HEADS, 1]
    assert sent(heads=(MOST_HEADS + 1, 1))["heads"] == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"parts": {"ffn": Part("x")}}, "needs the parts tokens, positions, .* in this order, got ffn"),
        ({"marks": [Mark("a", 1, "x", ("moon",))]}, r"mark 'a' is on \['moon'\]; allowed are tokens"),
        ({"marks": [Mark("a", 1, "x", ())]}, r"mark 'a' is on \[\]"),
        ({"heads": (4, 3)}, "must divide the 4 query heads, got 3"),
        ({"heads": (4, 0)}, "must divide the 4 query heads, got 0"),
    ],
)
def test_refused(changes: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        sent(**changes)
