"""Curves of a run, as Apache ECharts options: they update in place and keep a reader's zoom."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

TRAIN, VALIDATION = "#0891b2", "#9333ea"
BATCH = "#94a3b8"
SERIES = ("#3b82f6", "#ef4444", "#10b981", "#e3a300", "#db2777", "#65a30d", "#92400e", "#64748b")
MOST_POINTS = 600  # of a curve: more are finer than a screen


@dataclass(frozen=True)
class Curve:
    """One line: a value at each step. `kind` is "thin", "points" (marked, for rare values) or "dashed"."""

    name: str
    steps: Sequence[int]
    values: Sequence[float | None]
    colour: str
    kind: str = "thin"


@dataclass(frozen=True)
class Level:
    """A horizontal line with its value in the label."""

    name: str
    value: float


def curves_chart(
    curves: Sequence[Curve],
    span: tuple[int, int],
    levels: Sequence[Level] = (),
    best: tuple[str, int, float] | None = None,
    logarithmic: bool = False,
    most: int = MOST_POINTS,
) -> dict:
    """Curves over the steps of `span` (first and last, both included) as an ECharts option.

    Points outside the span are left out, so that the vertical axis fits what is shown (it begins at 0
    unless the first step is left out); of a curve with more than `most` points in it every second,
    third, ... is drawn, and always the last. `best` marks a point (label, step, value). Values keep all
    digits, the hover shows six decimals. Names must differ; curves that share one list of steps travel
    as one table, which is three times as fast.
    """
    frames, places = _frames(curves, span, most)
    series = [_series(curve, place, len(frames[place])) for curve, place in zip(curves, places, strict=True)]
    if levels and series:
        series[0]["markLine"] = _levels(levels)
    if best and span[0] <= best[1] <= span[1] and series:
        series[0]["markPoint"] = _best(*best)
    return {
        "animation": False,
        "grid": {"left": 56, "right": 20, "top": 40, "bottom": 28},
        "legend": {"top": 0, "left": 0, "icon": "roundRect", "itemHeight": 4, "itemWidth": 18, "type": "scroll"},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.6f", "axisPointer": {"snap": True}},
        "xAxis": {
            "type": "value",
            "min": span[0],
            "max": span[1],
            "splitLine": {"show": False},
            "axisPointer": {"label": {"precision": 0}},
        },
        "yAxis": {"type": "log" if logarithmic else "value", "scale": span[0] > 0, "splitNumber": 5},
        "dataset": [{"source": frame} for frame in frames],
        "series": series,
    }


def _frames(curves: Sequence[Curve], span: tuple[int, int], most: int) -> tuple[list[pd.DataFrame], list[int]]:
    """One table for each list of steps, and which of them each curve stands in."""
    tables, kept, places, known = [], [], [], {}
    for curve in curves:
        place = known.setdefault(id(curve.steps), len(tables))
        if place == len(tables):
            kept.append(_kept(curve.steps, span, most))
            tables.append({"step": pd.Series([curve.steps[i] for i in kept[place]], dtype="int32")})
        tables[place][curve.name] = pd.Series([curve.values[i] for i in kept[place]], dtype="float64")
        places.append(place)
    return [pd.DataFrame(table) for table in tables], places


def _kept(steps: Sequence[int], span: tuple[int, int], most: int) -> list[int]:
    """Indices of the points to draw: within the span, at most `most`, the last one always. `steps` ascend."""
    inside = range(bisect_left(steps, span[0]), bisect_right(steps, span[1]))
    return list(inside[::-1][:: -(-len(inside) // most) or 1][::-1])


def _series(curve: Curve, place: int, points: int) -> dict:
    width = {"thin": 1, "points": 2, "dashed": 1.5}[curve.kind]
    return {
        "type": "line",
        "name": curve.name,
        "datasetIndex": place,
        "encode": {"x": "step", "y": curve.name, "tooltip": [curve.name]},
        "color": curve.colour,
        "showSymbol": curve.kind != "thin" or points < 3,
        "symbolSize": 5,
        "connectNulls": True,
        "lineStyle": {"width": width, "type": "dashed" if curve.kind == "dashed" else "solid"},
        "z": 2 if curve.kind == "thin" else 3,
    }


def _levels(levels: Sequence[Level]) -> dict:
    line = {"color": "#94a3b8", "width": 1, "type": "dashed"}
    label = {"position": "insideEndTop", "color": "#7b8798"}
    rows = [
        {"yAxis": level.value, "lineStyle": line, "label": label | {"formatter": f"{level.name} {level.value:.3f}"}}
        for level in levels
    ]
    return {"symbol": "none", "silent": True, "data": rows}


def _best(label: str, step: int, value: float) -> dict:
    ring = {"color": "rgba(0, 0, 0, 0)", "borderColor": VALIDATION, "borderWidth": 2}
    text = {"formatter": label, "position": "bottom", "color": VALIDATION, "distance": 8}
    return {"symbol": "circle", "symbolSize": 13, "silent": True, "itemStyle": ring, "label": text,
            "data": [{"coord": [step, value]}]}  # fmt: skip


def loss_curve(
    steps: Sequence[int],
    train: Sequence[float],
    validation: Sequence[float | None],
    names: tuple[str, str],
    uniform: tuple[str, float],
    here: tuple[str, int],
) -> dict:
    """Training and validation loss (nats per scored position) over steps, as an ECharts option.

    `names` label the two curves, `uniform` is a dashed line (label, nats), `here` an upright line (label,
    step). A missing validation loss leaves a gap.
    """
    return {
        "animation": False,
        "grid": {"left": 48, "right": 16, "top": 34, "bottom": 36},
        "legend": {"top": 0, "left": 40, "icon": "roundRect", "itemHeight": 4},
        "tooltip": {"trigger": "axis"},
        "xAxis": {"type": "value", "max": max(steps), "splitLine": {"show": False}},
        "yAxis": {"type": "value", "min": 0, "splitNumber": 4},
        "series": [
            _line(names[0], steps, train, TRAIN) | {"markLine": _marks(uniform, here)},
            _line(names[1], steps, validation, VALIDATION),
        ],
    }


def _line(name: str, steps: Sequence[int], losses: Sequence[float | None], colour: str) -> dict:
    points = [list(point) for point in zip(steps, losses, strict=True)]
    return {"type": "line", "name": name, "data": points, "color": colour, "symbolSize": 5, "lineStyle": {"width": 2}}


def _marks(uniform: tuple[str, float], here: tuple[str, int]) -> dict:
    grey = {"color": "#94a3b8", "width": 1}
    level = {"yAxis": uniform[1], "lineStyle": grey | {"type": "dashed"}}
    level["label"] = {"formatter": uniform[0], "position": "insideEndTop", "color": "#94a3b8"}
    step = {"xAxis": here[1], "lineStyle": grey | {"type": "solid"}}
    step["label"] = {"formatter": here[0], "position": "insideEndTop", "color": "#94a3b8"}
    return {"symbol": "none", "silent": True, "data": [level, step]}
