"""One canvas for a table of numbers: attention scores and weights, vectors, probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigpt.sentences import Refusal
from minigpt.ui.components import selection
from minigpt.ui.components.assets import component
from minigpt.ui.components.packing import pack
from minigpt.ui.components.texts import cell_words

PALETTES = ("signed", "attention", "probability")
_MATRIX = component("matrix")


def matrix(
    values: Any,
    *,
    key: str,
    label: str,
    rows: Sequence[str],
    columns: Sequence[str],
    palette: str,
    limit: float | None = None,
    selected: tuple[int, int] | None = None,
    masked: Any = None,
    row_title: str = "",
    column_title: str = "",
    numbers: bool | None = None,
    mark_row: int | None = None,
    on_select: Callable[[int, int], None] | None = None,
    max_cell: int = 28,
    exact: Any = None,
) -> None:
    """Draw a 2-D array (R, C) as cells, row 0 at the top, rows and columns at integer positions with their
    labels.

    `palette` is "signed" (orange, neutral, blue around 0), "attention" (to blue) or "probability" (to
    purple). `limit` is the value of the strongest color: None is max |value| for "signed" and 1 for the
    others; the legend says when values go beyond. NaN cells do not exist; `masked` (R, C) bool cells are
    hatched. The tooltip gives the float's exact digits, those of `exact` (R, C) when given. Float32 stays
    float32 and is shown as the float64 it equals, as `float(x)` prints it. `numbers` writes four significant
    digits into the cells (None: when the table is small and there is room). `mark_row` outlines a row. Hover
    previews, a click or the arrow keys select and call `on_select(row, column)` before the next script run;
    Python owns `selected`. Raises ValueError when shapes and labels disagree, or an argument is not allowed.
    Example: `matrix(weights, key="w", label="Weights", rows=pieces, columns=pieces, palette="attention",
    selected=(3, 1))`.
    """
    table = _floats(values, "values")
    fixed, arrays = content(
        table,
        label=label,
        rows=rows,
        columns=columns,
        palette=palette,
        limit=limit,
        masked=masked,
        exact=exact,
    )
    _check_positions(table, selected, mark_row, max_cell)
    fixed |= {"rowTitle": row_title, "columnTitle": column_title, "numbers": numbers, "maxCell": max_cell}
    fixed["words"] = cell_words()

    def accept(choice: Any) -> None:
        if on_select is not None and _is_cell(table, choice):
            on_select(choice[0], choice[1])

    changing = {
        "selected": selected,
        "markRow": mark_row,
        "active": on_select is not None,
        "seen": selection.seen(key),
    }
    _MATRIX(key=key, data=pack(fixed, arrays, changing), on_choice_change=selection.listener(key, accept))


def content(
    table: np.ndarray,
    *,
    label: str,
    rows: Sequence[str],
    columns: Sequence[str],
    palette: str,
    limit: float | None,
    masked: Any,
    exact: Any,
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header fields and arrays of the payload, checked; see `matrix`."""
    if (len(rows), len(columns)) != table.shape:
        raise Refusal(
            "the numbers of row labels, {rows}, and of column labels, {columns}, must be the shape of values, {shape}",
            rows=len(rows),
            columns=len(columns),
            shape=table.shape,
        )
    if palette not in PALETTES:
        raise Refusal("palette is {palette!r}; allowed are {allowed}", palette=palette, allowed=", ".join(PALETTES))
    arrays = {"values": table}
    for name, extra, convert in (("masked", masked, _flags), ("exact", exact, _floats)):
        if extra is not None:
            arrays[name] = convert(extra, name)
            if arrays[name].shape != table.shape:
                raise Refusal(
                    "{name} has shape {shape}; it must be {expected}, the shape of values",
                    name=name,
                    shape=arrays[name].shape,
                    expected=table.shape,
                )
    return {
        "label": label,
        "rows": list(rows),
        "columns": list(columns),
        "palette": palette,
        "limit": _limit(table, arrays.get("masked"), palette, limit),
    }, arrays


def _limit(table: np.ndarray, masked: np.ndarray | None, palette: str, limit: float | None) -> float:
    """The value of the strongest color: as given, else from the visible finite values ("signed") or 1."""
    if limit is not None:
        if not (np.isfinite(limit) and limit > 0):
            raise Refusal("limit is {limit}; allowed are finite numbers above 0 or None", limit=limit)
        return float(limit)
    if palette != "signed":
        return 1.0
    visible = np.isfinite(table) if masked is None else np.isfinite(table) & (masked == 0)
    return float(np.abs(table[visible]).max()) if visible.any() else 0.0


def _floats(values: Any, name: str) -> np.ndarray:
    """`values` as a 2-D, non-empty float32 (kept) or float64 array."""
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0:
        raise Refusal(
            "{name} has shape {shape}; it must have two dimensions and at least one cell", name=name, shape=array.shape
        )
    if array.dtype.kind not in "fiub":
        raise Refusal("{name} has dtype {dtype}; it must be real numbers", name=name, dtype=array.dtype)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _flags(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype != np.bool_:
        raise Refusal("{name} has dtype {dtype}; it must be bool", name=name, dtype=array.dtype)
    return array.astype(np.uint8)


def _check_positions(table: np.ndarray, selected: tuple[int, int] | None, mark_row: int | None, max_cell: int) -> None:
    if selected is not None and not _is_cell(table, selected):
        raise Refusal(
            "selected is {selected!r}; it must be a (row, column) inside {shape} whose value is not NaN, or None",
            selected=selected,
            shape=table.shape,
        )
    if mark_row is not None and not selection.is_index(mark_row, table.shape[0]):
        raise Refusal(
            "mark_row is {mark_row!r}; allowed are 0 to {last} or None", mark_row=mark_row, last=table.shape[0] - 1
        )
    if not 4 <= max_cell <= 200:
        raise Refusal("max_cell is {max_cell}; allowed are 4 to 200 pixels", max_cell=max_cell)


def _is_cell(table: np.ndarray, choice: Any) -> bool:
    """True for a (row, column) pair of ints inside the table whose cell exists."""
    if not isinstance(choice, list | tuple) or len(choice) != 2:
        return False
    if not all(selection.is_index(at, size) for at, size in zip(choice, table.shape, strict=True)):
        return False
    return not np.isnan(table[tuple(choice)])
