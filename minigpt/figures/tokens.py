"""Figures of tokens: the slots of one record in a batch."""

from collections.abc import Sequence

import plotly.graph_objects as go

from minigpt.figures.theme import RESIDUAL, REST, TARGET, calm_figure, plotly_text

NUMBERED = 64  # slots; beyond, the cells are too narrow for their ids
_COLORS = (RESIDUAL, TARGET, RESIDUAL)


def slots_figure(
    ids: Sequence[int],
    targets: Sequence[int],
    valid: Sequence[bool],
    labels: Sequence[tuple[str, str]],
    rows: tuple[str, str, str],
    axis: str,
    unused: tuple[str, str, str],
) -> go.Figure:
    """Three rows of T cells: input ids, targets, and whether a slot is scored; padding is hatched.

    `labels` are the pieces of (input, target) of each slot, for the hover; `rows` names the rows and
    `unused` says what their padding holds. The real slots come first, as `batch_records` puts them.
    """
    count, flags = len(ids), [bool(flag) for flag in valid]
    lines = list(enumerate((ids, targets, flags)))
    pieces = [[pair[0] for pair in labels], [pair[1] for pair in labels], [""] * count]
    traces = [_row(row, rows[row], values, pieces[row], flags) for row, values in lines]
    notes = [note for row, values in lines for note in _numbers(row, values, sum(flags))]
    if sum(flags) < count:
        middle = (sum(flags) + count - 1) / 2
        notes += [{"x": middle, "y": -row, "text": text, "showarrow": False} for row, text in enumerate(unused)]
    layout = {
        "barmode": "overlay",
        "bargap": 0.08,
        "xaxis": {"title": {"text": axis}, "showgrid": False, "range": [-0.5, count - 0.5]},
        "yaxis": {"tickvals": [0, -1, -2], "ticktext": list(rows), "range": [-2.5, 0.5], "showgrid": False},
        "annotations": notes,
    }
    return calm_figure(traces, layout, height=210)


def _row(row: int, name: str, values: Sequence, pieces: Sequence[str], flags: Sequence[bool]) -> dict:
    slots = range(len(values))
    hover = [
        f"{name} {slot}: {value} {plotly_text(piece)}" for slot, value, piece in zip(slots, values, pieces, strict=True)
    ]
    marker: dict[str, object] = {"color": [_COLORS[row] if flag else REST for flag in flags]}
    marker |= {"opacity": [0.3 if flag else 0.6 for flag in flags]}
    marker |= {"pattern": {"shape": ["" if flag else "/" for flag in flags], "size": 5, "solidity": 0.15}}
    cells = {"x": list(slots), "y": [0.8] * len(values), "base": [-row - 0.4] * len(values)}
    return {"type": "bar", "marker": marker, "hovertext": hover, "hoverinfo": "text"} | cells


def _numbers(row: int, values: Sequence, scored: int) -> list[dict]:
    """The value of each real slot, upright in its narrow cell; none when there are too many slots."""
    if len(values) > NUMBERED:
        return []
    return [
        {"x": slot, "y": -row, "text": str(values[slot]), "textangle": -90, "showarrow": False}
        for slot in range(scored)
    ]
