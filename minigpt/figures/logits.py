"""Figures of a prediction: the candidates, and the whole distribution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import plotly.graph_objects as go

from minigpt.figures.numbers import percent
from minigpt.figures.theme import (
    LINE,
    PREDICTION,
    REST,
    TARGET,
    beside,
    calm_figure,
    level,
    plotly_text,
    shortened,
)
from minigpt.sentences import Refusal

STRIP, GAP, ROW = 34, 30, 24  # px: the strip of everything, the space below it, one candidate
MOST_POINTS, FIRST = 600, 200  # of a curve; ranks of which none is left out


@dataclass(frozen=True)
class Bar:
    """One candidate: its label and id, rank from 1, probability over the whole vocabulary."""

    label: str
    id: int
    rank: int
    probability: float
    target: bool = False

    @property
    def colour(self) -> str:
        return TARGET if self.target else PREDICTION

    @property
    def piece(self) -> str:
        return plotly_text(shortened(self.label))


@dataclass(frozen=True)
class Words:
    """The words of a candidates figure, translated by the page."""

    rest: str  # of the ids without a bar, such as "281 other ids"
    rank: str  # with {rank}
    hover: str  # with {label} {id} {rank} {probability}


def candidates_figure(bars: Sequence[Bar], rest: float, words: Words) -> go.Figure:
    """Bars of the candidates over their own scale, above them all of the probability as one strip, 0 to 1.

    The strip holds every bar and the `rest`, so that the whole is there however small the bars are. Rows
    stand at integer positions 0 .. n-1, so that equal labels never fall together; amber is the target. A
    bar whose rank is not its row's gets a dotted line above it and names its rank. Raises ValueError when bars and
    rest do not sum to 1 within 1e-9.
    """
    whole = sum(bar.probability for bar in bars) + rest
    if abs(whole - 1) > 1e-9:
        raise Refusal("bars and rest must sum to 1, got {whole!r}", whole=whole)
    rows, drawn = list(range(len(bars))), STRIP + GAP + ROW * len(bars)
    apart = [row for row, bar in enumerate(bars) if bar.rank != row + 1]
    hover = [_hover(bar, words) for bar in bars]
    ticks = [f"{bar.piece}  <span style='font-size:10px'>{bar.id}</span>" for bar in bars]
    highest = max(bar.probability for bar in bars) or 1.0
    lower = {
        "type": "bar",
        "orientation": "h",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": [bar.probability for bar in bars],
        "y": rows,
        "marker": {"color": [bar.colour for bar in bars]},
        "text": [_value(row, bar, words) for row, bar in enumerate(bars)],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertext": hover,
        "hoverinfo": "text",
    }
    layout = {
        "barmode": "overlay",
        "xaxis": {"range": [0, 1], "tickvals": [0, 0.25, 0.5, 0.75, 1], "tickformat": ".0%", "showgrid": False}
        | {"ticklabeloverflow": "allow", "anchor": "y"},
        "yaxis": {"visible": False, "range": [-0.5, 0.5], "domain": [1 - STRIP / drawn, 1]},
        "xaxis2": {"visible": False, "range": [0, (1.5 if apart else 1.22) * highest], "anchor": "y2"},
        "yaxis2": {"tickvals": rows, "ticktext": ticks, "range": [len(bars) - 0.5, -0.5], "showgrid": False}
        | {"domain": [0, ROW * len(bars) / drawn], "anchor": "x2"},
        "annotations": _rest_label(rest, words),
        "shapes": [_dotted(row) for row in apart],
    }
    return calm_figure([_strip(bars, rest, hover, words), lower], layout, height=drawn + 24, right=24)


def _strip(bars: Sequence[Bar], rest: float, hover: list[str], words: Words) -> dict:
    shares = [bar.probability for bar in bars] + [rest]
    texts = [bar.piece if bar.probability > 0.06 else "" for bar in bars] + [""]
    return {
        "type": "bar",
        "orientation": "h",
        "x": shares,
        "base": [0.0, *accumulate(shares[:-1])],
        "y": [0] * len(shares),
        "width": 1,
        "marker": {"color": [bar.colour for bar in bars] + [REST], "line": {"width": 0.7, "color": LINE}},
        "text": texts,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "hovertext": [*hover, f"{words.rest}<br>{percent(rest)}"],
        "hoverinfo": "text",
    }


def _rest_label(rest: float, words: Words) -> list[dict]:
    """An annotation, as its colour follows the theme; none where it has no room."""
    if rest < 0.3:
        return []
    return [{"x": 1 - rest / 2, "y": 0, "text": f"{words.rest}  {percent(rest)}", "showarrow": False}]


def _value(row: int, bar: Bar, words: Words) -> str:
    rank = "" if bar.rank == row + 1 else ", " + words.rank.format(rank=bar.rank)
    return percent(bar.probability) + rank


def _dotted(row: int) -> dict:
    line = level(row - 0.5, axis="y2")
    return line | {"line": {"width": 1, "dash": "dot", "color": LINE}}


def curve_figure(probabilities: np.ndarray, target: tuple[int, str], uniform: str, axes: tuple[str, str]) -> go.Figure:
    """All probabilities (V,) by rank on logarithmic axes; the target (rank, label) in amber, `uniform` names 1/V.

    More than 600 ids are drawn at 600 ranks, the first 200 among them: see `ranks_drawn`. Ids whose
    probability is 0 in float64 have no place on the logarithmic axis and are left out.
    """
    shares = np.sort(probabilities)[::-1]
    ranks = ranks_drawn(len(shares))
    ranks = ranks[shares[ranks - 1] > 0]
    drawn = shares[ranks - 1]
    lowest, equal = math.floor(math.log10(drawn[-1])), 1 / len(shares)
    curve = {"type": "scatter", "mode": "lines", "line": {"color": PREDICTION, "width": 2}}
    curve |= {"x": ranks.tolist(), "y": drawn.tolist(), "customdata": [percent(share) for share in drawn]}
    curve |= {"hovertemplate": f"{axes[0]} %{{x}}<br>%{{customdata}}<extra></extra>"}
    traces: list[dict[str, Any]] = [curve]
    rank, label = target
    if shares[rank - 1] > 0:
        side = "right" if rank < len(shares) / 4 else "left"
        point: dict[str, Any] = {"type": "scatter", "mode": "markers+text", "marker": {"color": TARGET, "size": 11}}
        place = {"x": [rank], "y": [float(shares[rank - 1])], "hoverinfo": "skip", "cliponaxis": False}
        traces.append(point | place | {"text": [plotly_text(shortened(label))], "textposition": f"top {side}"})
    layout = {
        "xaxis": {"type": "log", "title": {"text": axes[0]}, "dtick": 1}
        | {"range": [-0.05, 1.01 * math.log10(len(shares))]},
        "yaxis": {"type": "log", "title": {"text": axes[1]}, "exponentformat": "power"}
        | {"dtick": max(1, -lowest // 6), "range": [lowest, 0.15]},
        "shapes": [level(equal)],
        "annotations": [beside(uniform, math.log10(equal))],
    }
    return calm_figure(traces, layout, height=330, right=104)


def ranks_drawn(size: int) -> np.ndarray:
    """The ranks of a curve over `size` ids: all up to 600, else at most 600 with 1 .. 200 and the last among them."""
    if size <= MOST_POINTS:
        return np.arange(1, size + 1)
    spread = np.geomspace(FIRST, size, MOST_POINTS - FIRST + 1).round().astype(np.int64)
    return np.unique(np.concatenate([np.arange(1, FIRST), spread]))


def _hover(bar: Bar, words: Words) -> str:
    label = plotly_text(shortened(bar.label, 60))
    return words.hover.format(label=label, id=bar.id, rank=bar.rank, probability=percent(bar.probability))
