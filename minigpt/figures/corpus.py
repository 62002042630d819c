"""Figures of a corpus, as Apache ECharts options: how long its records are, how its tokenizer compresses."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigpt.figures.theme import BAR, LINE, TARGET, VALUE

POINTS = 300  # of the compression curve: more are finer than a screen


def _named(unit: str) -> dict[str, Any]:
    """An axis with its unit below."""
    return {"name": unit, "nameLocation": "middle", "nameGap": 28, "axisLabel": {"hideOverlap": True}}


def lengths_chart(
    counts: Sequence[int], edges: Sequence[int], context_length: int | None = None, unit: str = "tokens"
) -> dict[str, Any]:
    """How many records have how many tokens, as `corpus.statistics.histogram` gives them; `unit` is below the axis.

    Bars of records that do not fit into `context_length` positions (tokens and BOS) are amber; None marks none.
    """
    counts, edges = [int(count) for count in counts], [int(edge) for edge in edges]
    bars, names = [], []
    for count, first, after in zip(counts, edges[:-1], edges[1:], strict=True):
        beyond = context_length is not None and after > context_length
        bars.append({"value": count, "itemStyle": {"color": TARGET if beyond else BAR}})
        names.append(str(first) if after - first == 1 else f"{first}–{after - 1}")
    return {
        "animation": False,
        "grid": {"left": 48, "right": 12, "top": 16, "bottom": 44},
        "tooltip": {"trigger": "axis", "axisPointer": {"type": "shadow"}},
        "xAxis": _named(unit) | {"type": "category", "data": names, "axisTick": {"show": False}},
        "yAxis": {"type": "value", "minInterval": 1, "splitNumber": 4},
        "series": [{"type": "bar", "data": bars, "barCategoryGap": "12%"}],
    }


def compression_chart(tokens: Sequence[int], size: int, wanted: int, unit: str = "merges") -> dict[str, Any]:
    """Bytes a token after each merge: `size` bytes of training text, `tokens` left after merge 1, 2, ...

    The axis ends at `wanted` merges, so that the curve does not jump while merges still come.
    """
    after = np.concatenate([[size], np.asarray(tokens, dtype=np.int64)])
    places = np.unique(np.linspace(0, len(after) - 1, min(POINTS, len(after))).astype(int))
    data = [[int(place), round(size / int(after[place]), 4)] for place in places] if size else []
    return {
        "animation": False,
        "grid": {"left": 48, "right": 16, "top": 16, "bottom": 44},
        "tooltip": {"trigger": "axis"},
        "xAxis": _named(unit) | {"type": "value", "min": 0, "max": max(1, wanted), "splitLine": {"show": False}},
        "yAxis": {"type": "value", "min": 1, "splitNumber": 4},
        "series": [{"type": "line", "data": data, "showSymbol": False, "color": VALUE, "areaStyle": {"opacity": 0.08}}],
    }


def pieces_chart(labels: Sequence[str], counts: Sequence[int]) -> dict[str, Any]:
    """The most frequent pieces and how often each occurs in the training texts; the first one is on top."""
    return {
        "animation": False,
        "grid": {"left": 84, "right": 56, "top": 8, "bottom": 8},
        "tooltip": {"trigger": "item", "formatter": "{b}: {c}"},
        "xAxis": {"type": "value", "show": False},
        "yAxis": {
            "type": "category",
            "data": list(labels),
            "inverse": True,
            "axisTick": {"show": False},
            "axisLine": {"show": False},
            "axisLabel": {"width": 76, "overflow": "truncate"},
        },
        "series": [
            {
                "type": "bar",
                "data": [int(count) for count in counts],
                "itemStyle": {"color": BAR},
                "barCategoryGap": "25%",
                "label": {"show": True, "position": "right", "color": LINE},
            }
        ],
    }
