"""Chips: what the browser gets, and what is refused."""

import json

import pytest

from minigpt.ui.components.chips import Chip, payload

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "$x$",
    "**b**",
    "↵",
    "  two  ",
    "👩‍👩‍👧",
    "春眠",
    "\u202eabc",
    "\x00",
    "x" * 200,
    "",
]


def data(items, **changes):
    return payload(items, **{"label": "Tokens", "selected": None, "active": True, "wrap": True, **changes})


def test_text_reaches_the_payload_unchanged():
    sent = json.loads(json.dumps(data([Chip(text, text, text) for text in HOSTILE])))
    assert [item["text"] for item in sent["items"]] == HOSTILE
    assert [item["below"] for item in sent["items"]] == HOSTILE
    assert [item["hint"] for item in sent["items"]] == HOSTILE


def test_selection_counts_groups():
    items = [Chip("Block 0", kind="group"), Chip("norm"), Chip("add")]
    assert data(items, selected=2)["selected"] == 2


@pytest.mark.parametrize("selected", [-1, 3, True, 1.0])
def test_selection_outside_is_refused(selected):
    with pytest.raises(ValueError, match="allowed are 0 to 2 or None"):
        data([Chip("a"), Chip("b"), Chip("c")], selected=selected)


@pytest.mark.parametrize("kind", ["group", "divider"])
def test_what_is_no_token_cannot_be_selected(kind):
    with pytest.raises(ValueError, match=f"selected chip 0 is a {kind}; only the other kinds"):
        data([Chip("Block 0", kind=kind)], selected=0)


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind 'bold'; allowed are plain, special"):
        Chip("a", kind="bold")


@pytest.mark.parametrize("tint", [-0.01, 1.01, float("nan")])
def test_tint_outside_is_refused(tint):
    with pytest.raises(ValueError, match="allowed are 0 to 1"):
        Chip("a", tint=tint)
