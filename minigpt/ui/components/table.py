"""A light table: plain cells to read and to copy, one row marked. It redraws in place, some milliseconds a click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from minigpt.sentences import Refusal
from minigpt.ui.components import selection
from minigpt.ui.components.assets import component
from minigpt.ui.components.texts import copy_words

KINDS = ("text", "number", "share", "bar", "words")
SHARED = ("share", "bar")  # kinds with shares
_TABLE = component("table")


@dataclass(frozen=True)
class Column:
    """One column: its heading, its cells, and how they are set.

    `cells` are texts, written exactly as they are. kind: "text" (a piece or a word, at the left), "number" (at the
    right), "share", numbers with a bar behind them as wide as their `shares`, from 0 to 1, "bar", the same with the
    numbers beside purple bars, where a share of None is something taken away, or "words" (prose, which wraps). The
    bars of all "bar" columns of a table have one scale. exact: what is copied, and shown on hover, in place of the
    cells, such as every digit of rounded numbers.
    """

    name: str
    cells: Sequence[str]
    kind: str = "text"
    shares: Sequence[float | None] = ()
    exact: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise Refusal(
                "column {name!r} has kind {kind!r}; allowed are {allowed}",
                name=self.name,
                kind=self.kind,
                allowed=", ".join(KINDS),
            )
        if self.kind in SHARED and len(self.shares) != len(self.cells):
            raise Refusal(
                "column {name!r} has {shares} shares for {cells} cells",
                name=self.name,
                shares=len(self.shares),
                cells=len(self.cells),
            )
        if self.kind == "share" and None in self.shares:
            raise Refusal("column {name!r} of kind 'share' has a share of None; only kind 'bar' may", name=self.name)
        if self.exact and len(self.exact) != len(self.cells):
            raise Refusal(
                "column {name!r} has {exact} exact texts for {cells} cells",
                name=self.name,
                exact=len(self.exact),
                cells=len(self.cells),
            )


def table(
    columns: Sequence[Column],
    *,
    key: str,
    label: str,
    selected: int | None = None,
    on_select: Callable[[int], None] | None = None,
    height: int = 420,
    faint: Sequence[int] = (),
) -> None:
    """Show columns of equal length; beyond `height` px the rows scroll under their headings.

    Row `selected` is marked and kept in view. With `on_select` a click, ArrowUp or ArrowDown chooses a row and calls
    `on_select(row)` before the next script run; Python owns the selection. A button copies everything with tabs
    between cells. Rows `faint` are gray, such as sums of what is not listed. Raises ValueError for columns of
    different lengths, none at all, or a row that is not there.
    Example: `table([Column("id", ["84", "265"], "number"), Column("piece", ["T", "he·"])], key="t", label="Ids")`.
    """
    active = on_select is not None
    data = payload(columns, label=label, selected=selected, active=active, height=height, faint=faint)
    rows = len(columns[0].cells)

    def accept(choice: Any) -> None:
        if on_select is not None and selection.is_index(choice, rows):
            on_select(choice)

    data["seen"] = selection.seen(key)
    _TABLE(key=key, data=data, on_choice_change=selection.listener(key, accept))


def payload(
    columns: Sequence[Column],
    *,
    label: str,
    selected: int | None,
    active: bool,
    height: int,
    faint: Sequence[int] = (),
) -> dict[str, Any]:
    """The JSON the browser gets, checked; see `table` for the meaning and the errors."""
    lengths = {len(column.cells) for column in columns}
    if len(lengths) != 1:
        raise Refusal("a table needs columns of one length, got the lengths {lengths}", lengths=sorted(lengths))
    rows = lengths.pop()
    if selected is not None and not selection.is_index(selected, rows):
        raise Refusal("selected row is {selected!r}; allowed are 0 to {last} or None", selected=selected, last=rows - 1)
    if wrong := [row for row in faint if not selection.is_index(row, rows)]:
        raise Refusal("faint row is {row!r}; allowed are 0 to {last}", row=wrong[0], last=rows - 1)
    return {
        "label": label,
        "selected": selected,
        "active": active,
        "height": height,
        "faint": list(faint),
        "words": copy_words(),
        "columns": [_plain(column) for column in columns],
    }


def _plain(column: Column) -> dict[str, Any]:
    """A column as JSON values, without what it does not have."""
    plain: dict[str, Any] = {"name": column.name, "kind": column.kind, "cells": list(column.cells)}
    if column.kind in SHARED:
        plain["shares"] = [None if share is None else round(float(share), 4) for share in column.shares]
    return plain | ({"exact": list(column.exact)} if column.exact else {})
