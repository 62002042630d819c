"""Curves of a run, as Apache ECharts options: they update in place and keep a reader's zoom."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

TRAIN, VALIDATION = "#64748b", "#9333ea"
BATCH = "#94a3b8"
SERIES = ("#3b82f6", "#ef4444", "#10b981", "#e3a300", "#0891b2", "#db2777", "#65a30d", "#92400e")
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
    digits: int = 6,
) -> dict:
    """Curves over the steps of `span` (first and last, both included) as an ECharts option.

    Points outside the span are left out, so that the vertical axis fits what is shown; of a curve with
    more than 600 points in it every second, third, ... is drawn, and always the last. `best` marks a point
    (label, step, value). Values keep all digits; the hover shows `digits` after the point.
    """
    shown = [_within(curve, span) for curve in curves]
    series = [_series(curve, number) for number, curve in enumerate(shown)]
    if levels and series:
        series[0]["markLine"] = _levels(levels)
    if best and span[0] <= best[1] <= span[1] and series:
        series[0]["markPoint"] = _best(*best)
    return {
        "animation": False,
        "grid": {"left": 56, "right": 20, "top": 40, "bottom": 28},
        "legend": {"top": 0, "left": 0, "icon": "roundRect", "itemHeight": 4, "itemWidth": 18, "type": "scroll"},
        "tooltip": {"trigger": "axis", "valueFormatter": f"%.{digits}f", "axisPointer": {"snap": True}},
        "xAxis": {"type": "value", "min": span[0], "max": span[1], "splitLine": {"show": False}},
        "yAxis": {"type": "log" if logarithmic else "value", "scale": True, "splitNumber": 5},
        "dataset": [{"source": _frame(curve)} for curve in shown],
        "series": series,
    }


def _within(curve: Curve, span: tuple[int, int]) -> Curve:
    inside = [i for i, step in enumerate(curve.steps) if span[0] <= step <= span[1]]
    stride = -(-len(inside) // MOST_POINTS) or 1
    kept = inside[::-1][::stride][::-1]
    return Curve(curve.name, [curve.steps[i] for i in kept], [curve.values[i] for i in kept], curve.colour, curve.kind)


def _frame(curve: Curve) -> pd.DataFrame:
    return pd.DataFrame(
        {"step": pd.Series(curve.steps, dtype="int32"), curve.name: pd.Series(curve.values, dtype="float64")}
    )


def _series(curve: Curve, number: int) -> dict:
    width = {"thin": 1, "points": 2, "dashed": 1.5}[curve.kind]
    return {
        "type": "line",
        "name": curve.name,
        "datasetIndex": number,
        "encode": {"x": "step", "y": curve.name, "tooltip": [curve.name]},
        "color": curve.colour,
        "showSymbol": curve.kind != "thin",
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
