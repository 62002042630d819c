"""The light table: what the browser gets, and what is refused."""

import json

import pytest

from minigpt.ui.components.table import Column, payload

TEXTS = ["<b>1</b>", "$x$", "  two  ", "春眠", "\u202eabc", "\x00", ""]


def sent(*columns: Column, **changes) -> dict:
    values = {"label": "t", "selected": None, "active": True, "height": 300}
    return json.loads(json.dumps(payload(columns, **values | changes)))


def test_cells_reach_the_payload_unchanged():
    data = sent(Column("piece", TEXTS), Column("n", ["1"] * 7, "number", exact=["1.25"] * 7), selected=6)
    assert data["columns"][0] == {"name": "piece", "kind": "text", "cells": TEXTS}
    assert data["columns"][1]["exact"] == ["1.25"] * 7 and data["selected"] == 6


def test_shares_are_bars():
    column = sent(Column("w", ["0.5", "0.25"], "share", [0.5, 0.123456]))["columns"][0]
    assert column["shares"] == [0.5, 0.1235]


def test_bars_know_what_was_taken_away():
    data = sent(Column("p", ["20 %", "removed"], "bar", [0.123456, None], ["0.2", "removed"]), faint=[1])
    assert data["columns"][0]["shares"] == [0.1235, None] and data["faint"] == [1]
    assert data["columns"][0]["exact"] == ["0.2", "removed"]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Column("a", [], "bold"), "kind 'bold'; allowed are text, number, share, bar"),
        (lambda: Column("a", ["1"], "bar"), "0 shares for 1 cells"),
        (lambda: Column("a", ["1"], "share", [None]), "a share of None; only kind 'bar' may"),
        (lambda: Column("a", ["1", "2"], "share", [0.1]), "1 shares for 2 cells"),
        (lambda: Column("a", ["1", "2"], exact=["1"]), "1 exact texts for 2 cells"),
        (lambda: sent(), "columns of one length, got the lengths"),
        (lambda: sent(Column("a", ["1"]), Column("b", [])), r"got the lengths \[0, 1\]"),
        (lambda: sent(Column("a", ["1"]), faint=[1]), "faint row is 1; allowed are 0 to 0"),
        (lambda: sent(Column("a", ["1"]), selected=1), "selected row is 1; allowed are 0 to 0 or None"),
    ],
)
def test_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
