"""Curves of a run, as Apache ECharts options: they update in place and keep a reader's zoom."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import pandas as pd

TRAIN, VALIDATION = "#0891b2", "#9333ea"
BATCH = "#94a3b8"
SERIES = ("#3b82f6", "#ef4444", "#10b981", "#e3a300", "#db2777", "#65a30d", "#92400e", "#64748b")
MOST_POINTS = 600  # of a curve: more are finer than a screen
SPLITS = 5  # of the vertical axis, about
TOP, BOTTOM = 40, 28  # px above and below the axes
LABEL_PIXELS = 17  # the height of a label with its distance


@dataclass(frozen=True)
class Curve:
    """One line: a value at each step. `kind` is "thin", "points" (marked, for rare values) or "dashed"."""

    name: str
    steps: Sequence[int]
    values: Sequence[float | None]
    color: str
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
    height: int = 310,
) -> dict:
    """Curves over the steps of `span` (first and last, both included) as an ECharts option.

    Points outside the span are left out, so that the vertical axis fits what is shown (it begins at 0
    unless the first step is left out); of a curve with more than `most` points in it every second,
    third, ... is drawn, and always the last. `best` marks a point (label, step, value). Values keep all
    digits, the hover shows six decimals. Levels too near for separate labels, in a chart `height` pixels
    high, share one, the highest first. Names must differ; curves that share one list of steps travel
    as one table, which is three times as fast.
    """
    frames, places = _frames(curves, span, most)
    series = [_series(curve, place, len(frames[place])) for curve, place in zip(curves, places, strict=True)]
    axis = _axis(frames, from_zero=not span[0] and not logarithmic, logarithmic=logarithmic)
    if levels and series:
        series[0]["markLine"] = _levels(levels, axis, LABEL_PIXELS / (height - TOP - BOTTOM))
    if best and span[0] <= best[1] <= span[1] and series:
        across = (best[1] - span[0]) / max(span[1] - span[0], 1)
        series[0]["markPoint"] = _best(*best, _side(across, axis.share(best[2])))
    return {
        "animation": False,
        "grid": {"left": 56, "right": 20, "top": TOP, "bottom": BOTTOM},
        "legend": {"top": 0, "left": 0, "icon": "roundRect", "itemHeight": 4, "itemWidth": 18, "type": "scroll"},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.6f", "axisPointer": {"snap": True}},
        "xAxis": {
            "type": "value",
            "min": span[0],
            "max": span[1],
            "splitLine": {"show": False},
            "axisPointer": {"label": {"precision": 0}},
        },
        "yAxis": {"type": "log" if logarithmic else "value", "scale": span[0] > 0, "splitNumber": SPLITS},
        "dataset": [{"source": frame} for frame in frames],
        "series": series,
    }


@dataclass(frozen=True)
class _Axis:
    """About what the vertical axis shows."""

    low: float
    high: float
    logarithmic: bool

    def share(self, value: float) -> float:
        """Where a value is, 0 at the bottom and 1 at the top."""
        low, high, value = (log10(v) if self.logarithmic else v for v in (self.low, self.high, value))
        return (value - low) / (high - low)


def _axis(frames: Sequence[pd.DataFrame], from_zero: bool, logarithmic: bool) -> _Axis:
    """The ends that ECharts gives the axis: round numbers around the values, powers of ten if logarithmic."""
    values = [value for frame in frames for value in frame.drop(columns="step").to_numpy().ravel().tolist()]
    shown = [value for value in values if value > 0] if logarithmic else [value for value in values if value == value]
    low, high = (min(shown), max(shown)) if shown else (1.0, 1.0)
    if logarithmic:
        down, up = floor(log10(low)), ceil(log10(high))
        return _Axis(10.0**down, 10.0 ** max(up, down + 1), True)
    low = min(low, 0.0) if from_zero else low
    step = _round((high - low or 1.0) / SPLITS)
    down, up = floor(low / step), ceil(high / step)
    return _Axis(down * step, max(up, down + 1) * step, False)


def _round(step: float) -> float:
    """The distance of ticks that ECharts chooses for about this distance."""
    power = 10.0 ** floor(log10(step))
    return next((nice for below, nice in ((1.5, 1), (2.5, 2), (4, 3), (7, 5)) if step / power < below), 10) * power


def _frames(curves: Sequence[Curve], span: tuple[int, int], most: int) -> tuple[list[pd.DataFrame], list[int]]:
    """One table for each list of steps, and which of them has each curve."""
    tables: list[dict[str, pd.Series]] = []
    kept: list[list[int]] = []
    places: list[int] = []
    known: dict[int, int] = {}
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
        "color": curve.color,
        "showSymbol": curve.kind != "thin" or points < 3,
        "symbolSize": 5,
        "connectNulls": True,
        "lineStyle": {"width": width, "type": "dashed" if curve.kind == "dashed" else "solid"},
        "z": 2 if curve.kind == "thin" else 3,
    }


def _levels(levels: Sequence[Level], axis: _Axis, needed: float) -> dict:
    line = {"color": "#94a3b8", "width": 1, "type": "dashed"}
    label = {"position": "insideEndTop", "color": "#7b8798"}
    rows = []
    for group in _groups(levels, axis, needed):
        text = " · ".join(f"{level.name} {level.value:.3f}" for level in group)
        rows.append({"yAxis": group[0].value, "lineStyle": line, "label": label | {"formatter": text}})
        rows += [{"yAxis": level.value, "lineStyle": line, "label": {"show": False}} for level in group[1:]]
    return {"symbol": "none", "silent": True, "data": rows}


def _groups(levels: Sequence[Level], axis: _Axis, needed: float) -> list[list[Level]]:
    """Levels from the highest down, with those in one group that are nearer to the one before than a label is high.

    `needed` is this height as a share of the axis. A level above the axis is not drawn, so nothing joins it.
    """
    groups: list[list[Level]] = []
    for level in sorted(levels, key=lambda level: -level.value):
        above = axis.share(groups[-1][-1].value) if groups else 2.0
        if above <= 1 and above - axis.share(level.value) < needed:
            groups[-1].append(level)
        else:
            groups.append([level])
    return groups


def _side(across: float, up: float) -> str:
    """Where the label of a point has room: `across` and `up` are its place, 0 to 1."""
    if across > 0.9:
        return "left"
    if across < 0.1:
        return "right"
    return "top" if up < 0.25 else "bottom"


def _best(label: str, step: int, value: float, side: str) -> dict:
    """A ring, and a label on a filled box, as curves run below it."""
    ring = {"color": "rgba(0, 0, 0, 0)", "borderColor": VALIDATION, "borderWidth": 2}
    text = {"formatter": label, "position": side, "distance": 10, "color": "#ffffff"}
    ground = {"backgroundColor": VALIDATION, "padding": [3, 6], "borderRadius": 4}
    place = [{"coord": [step, value]}]
    return {
        "symbol": "circle",
        "symbolSize": 13,
        "silent": True,
        "itemStyle": ring,
        "label": text | ground,
        "data": place,
    }


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


def _line(name: str, steps: Sequence[int], losses: Sequence[float | None], color: str) -> dict:
    points = [list(point) for point in zip(steps, losses, strict=True)]
    return {"type": "line", "name": name, "data": points, "color": color, "symbolSize": 5, "lineStyle": {"width": 2}}


def _marks(uniform: tuple[str, float], here: tuple[str, int]) -> dict:
    grey = {"color": "#94a3b8", "width": 1}
    level = {"yAxis": uniform[1], "lineStyle": grey | {"type": "dashed"}}
    level["label"] = {"formatter": uniform[0], "position": "insideEndTop", "color": "#94a3b8"}
    step = {"xAxis": here[1], "lineStyle": grey | {"type": "solid"}}
    step["label"] = {"formatter": here[0], "position": "insideEndTop", "color": "#94a3b8"}
    return {"symbol": "none", "silent": True, "data": [level, step]}
