"""Where the parameters of a model are: a treemap, each area as large as its part of the numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from minigpt.figures.numbers import percent
from minigpt.figures.theme import plotly_text
from minigpt.sentences import Refusal

# The hues of the theme's meanings: pale grounds under dark text, and in a dark page deep ones under light text.
GROUNDS = {
    "token_table": "#cbd5e1",
    "position_table": "#94a3b8",
    "attention": "#93c5fd",
    "ffn": "#6ee7b7",
    "norms": "#fcd34d",
    "lm_head": "#d8b4fe",
    "": "#e8ecf2",  # holds others
}
DARK_GROUNDS = {
    "token_table": "#3b485c",
    "position_table": "#4d5b70",
    "attention": "#1f4272",
    "ffn": "#175443",
    "norms": "#6b4c12",
    "lm_head": "#553073",
    "": "#212834",
}
INK, DARK_INK = "#111827", "#f1f5f9"


@dataclass(frozen=True)
class Area:
    """A part of the model: `inside` is the id of the part that holds it, "" for the whole model.

    `component` gives its color, "" for a part that holds others; `note` is in its tooltip.
    """

    id: str
    title: str
    count: int
    inside: str
    component: str = ""
    note: str = ""


def treemap_figure(areas: Sequence[Area], height: int = 430, dark: bool = False) -> go.Figure:
    """Areas inside areas, the largest first; a click opens one, a click on its heading goes back.

    `dark` is for a dark page: Plotly would write dark letters on half clear grounds, so both are given.
    Raises ValueError unless exactly one area is inside nothing and each holder is as large as what it holds.
    """
    _check(areas)
    whole = next(area.count for area in areas if not area.inside)
    grounds, ink = (DARK_GROUNDS, DARK_INK) if dark else (GROUNDS, INK)
    trace = {
        "type": "treemap",
        "ids": [area.id for area in areas],
        "labels": [plotly_text(area.title) for area in areas],
        "parents": [area.inside for area in areas],
        "values": [area.count for area in areas],
        "branchvalues": "total",
        "text": [f"{area.count:,}" for area in areas],
        "customdata": [[percent(area.count / whole), plotly_text(area.note)] for area in areas],
        "texttemplate": "%{label}<br>%{text}<br>%{customdata[0]}",
        "hovertemplate": "%{label}: %{text} numbers, %{customdata[0]} of the model<br>%{customdata[1]}<extra></extra>",
        "marker": {
            "colors": [grounds[area.component] for area in areas],
            "line": {"width": 1, "color": "rgba(125, 135, 150, 0.55)"},
            "pad": {"t": 22, "l": 3, "r": 3, "b": 3},
            "cornerradius": 3,
        },
        "textfont": {"size": 13, "color": ink},
        "pathbar": {"visible": False},
        "tiling": {"pad": 2, "packing": "squarify"},
        "sort": True,
        "maxdepth": 3,
    }
    layout = {
        "height": height,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "hoverlabel": {"align": "left"},
        "uniformtext": {"minsize": 11, "mode": "hide"},  # a name that does not fit is in the tooltip
    }
    return go.Figure([trace], layout)


def _check(areas: Sequence[Area]) -> None:
    if [area.inside for area in areas].count("") != 1:
        raise Refusal(
            "one area must hold all others, got {outermost}", outermost=[area.id for area in areas if not area.inside]
        )
    for holder in areas:
        held = [area.count for area in areas if area.inside == holder.id]
        if held and sum(held) != holder.count:
            raise Refusal(
                "area {area!r} must have as many numbers as the areas in it, got {count:,} and {held:,}",
                area=holder.id,
                count=holder.count,
                held=sum(held),
            )
