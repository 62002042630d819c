"""Figures of the sampling page: the shared random number, many seeds, the cost of a token."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from minigpt.figures.numbers import percent
from minigpt.figures.theme import KEY, LINE, PREDICTION, QUERY, REST, calm_figure, plotly_text, shortened

NARROW = 0.03  # a part of a bar below this share has no name on it


@dataclass(frozen=True)
class BarPart:
    """One part of a cumulative bar, in the order of ids."""

    label: str
    share: float
    drawn: bool = False


def dice_figure(bars: Sequence[tuple[str, Sequence[BarPart]]], throw: float, axis: str) -> go.Figure:
    """One cumulative bar from 0 to 1 for each column, and where the shared random number falls on all of them."""
    traces = [_part(part, number) for number, (_, parts) in enumerate(bars) for part in parts]
    line = {"type": "line", "x0": throw, "x1": throw, "yref": "paper", "y0": 0, "y1": 1}
    note = {"x": throw, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False, "font": {"color": KEY}}
    names = {"tickmode": "array", "tickvals": list(range(len(bars))), "ticktext": [name for name, _ in bars]}
    layout = {
        "barmode": "stack",
        "margin": {"l": 8, "r": 16, "t": 28, "b": 8},
        "shapes": [line | {"line": {"width": 2, "color": KEY}}],
        "annotations": [note | {"text": f"u = {throw:.6f}"}, *_names(bars)],
        "xaxis": {"range": [0, 1], "tickvals": [0, 0.25, 0.5, 0.75, 1], "title": {"text": axis}, "showgrid": False},
        "yaxis": names | {"range": [len(bars) - 0.5, -0.5], "showgrid": False},
    }
    return calm_figure(traces, layout, height=44 * len(bars) + 84)


def _part(part: BarPart, number: int) -> dict:
    label = plotly_text(shortened(part.label))
    return {
        "type": "bar",
        "orientation": "h",
        "x": [part.share],
        "y": [number],
        "width": [0.72],
        "marker": {"color": PREDICTION if part.drawn else REST, "line": {"width": 0.8, "color": LINE}},
        "text": [label if part.drawn and part.share > NARROW else ""],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "hovertext": [f"{label}<br>{percent(part.share)}"],
        "hoverinfo": "text",
    }


def _names(bars: Sequence[tuple[str, Sequence[BarPart]]]) -> list[dict]:
    """The labels of wide gray parts; annotations, as their color follows the theme."""
    notes = []
    for number, (_, parts) in enumerate(bars):
        start = 0.0
        for part in parts:
            if part.share > NARROW and not part.drawn:
                label = plotly_text(shortened(part.label))
                notes.append({"x": start + part.share / 2, "y": number, "text": label, "showarrow": False})
            start += part.share
    return notes


def seeds_figure(panels: Sequence[tuple[str, Sequence[Sequence[float]]]], names: Sequence[str]) -> go.Figure:
    """One panel for each measure: a dot for every text of every column, a line at the column's mean.

    `panels` are titles with, for each column, its values; dots of a column are side by side in the order of seeds.
    """
    gap, traces = 0.07, []
    layout = {
        "margin": {"l": 8, "r": 8, "t": 34, "b": 8},
        "annotations": [_heading(title, panel, len(panels), gap) for panel, (title, _) in enumerate(panels)],
    }
    ticks = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": list(names), "showgrid": False}
    for panel, (_, columns) in enumerate(panels):
        layout[_axis("xaxis", panel)] = ticks | {
            "domain": _domain(panel, len(panels), gap),
            "anchor": _axis("y", panel),
            "range": [-0.5, len(names) - 0.5],
        }
        layout[_axis("yaxis", panel)] = {"rangemode": "tozero", "nticks": 5, "anchor": _axis("x", panel)}
        for number, values in enumerate(columns):
            traces += [trace | _on(panel) for trace in _dots(number, names[number], values)]
    return calm_figure(traces, layout, height=270)


def _axis(name: str, number: int) -> str:
    return name if number == 0 else f"{name}{number + 1}"


def _domain(number: int, panels: int, gap: float) -> list[float]:
    """The part of the width, 0 to 1, that a panel has."""
    width = (1 - gap * (panels - 1)) / panels
    start = number * (width + gap)
    return [start, min(1.0, start + width)]


def _heading(title: str, number: int, panels: int, gap: float = 0.02) -> dict:
    place = {"xref": "paper", "x": _domain(number, panels, gap)[0], "xanchor": "left"}
    return place | {"yref": "paper", "y": 1, "yanchor": "bottom", "text": title, "showarrow": False}


def _on(panel: int) -> dict:
    return {"xaxis": _axis("x", panel), "yaxis": _axis("y", panel)}


def _dots(number: int, name: str, values: Sequence[float]) -> list[dict]:
    """The dots of one column and its mean; nothing without values."""
    if not values:
        return []
    mean, hover = sum(values) / len(values), f"{name}: %{{y:.4g}}<extra></extra>"
    dots = {
        "mode": "markers",
        "x": [number + 0.6 * ((i + 0.5) / len(values) - 0.5) for i in range(len(values))],
        "y": list(values),
        "marker": {"color": PREDICTION, "size": 6, "opacity": 0.6},
    }
    ends = [number - 0.36, number + 0.36]
    line = {"mode": "lines", "x": ends, "y": [mean, mean], "line": {"color": LINE, "width": 3}}
    return [{"type": "scatter", "hovertemplate": hover} | trace for trace in (dots, line)]


def cost_figure(
    lengths: Sequence[int],
    cached: Sequence[float],
    uncached: Sequence[float | None],
    names: tuple[str, str],
    axes: tuple[str, str],
) -> go.Figure:
    """Milliseconds of each token by the length of the text: with the cache and without it; None is not measured."""
    known = [(length, value) for length, value in zip(lengths, uncached, strict=True) if value is not None]
    curves = [
        (names[0], list(lengths), list(cached), QUERY),
        (names[1], [length for length, _ in known], [value for _, value in known], LINE),
    ]
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "line": {"color": color, "width": 2},
            "hovertemplate": f"{name}<br>%{{x}}: %{{y:.3g}} ms<extra></extra>",
        }
        for name, x, y, color in curves
    ]
    beside = {"xanchor": "left", "xshift": 6, "showarrow": False}
    close = bool(cached and known) and abs(cached[-1] - known[-1][1]) < 0.08 * max(*cached, *(y for _, y in known))
    layout = {
        "annotations": [
            beside | {"x": x[-1], "y": y[-1], "text": name, "yshift": shift * close}
            for (name, x, y, _), shift in zip(curves, (-8, 8), strict=True)
            if x
        ],
        "xaxis": {"title": {"text": axes[0]}, "showgrid": False},
        "yaxis": {"title": {"text": axes[1]}, "rangemode": "tozero", "nticks": 6},
    }
    return calm_figure(traces, layout, height=300, right=110)
