"""Colours with one meaning each, and what all Plotly figures have in common.

Text, grids and grounds come from Streamlit's theme, so that a figure is right in light and dark. The colours
here have at least 3:1 on both grounds. Figures are built in one piece from plain dicts: each later change of a
Plotly figure costs milliseconds.
"""

import plotly.graph_objects as go

QUERY, KEY, VALUE = "#3b82f6", "#ef4444", "#10b981"
RESIDUAL = "#64748b"
PREDICTION = "#9333ea"
TARGET = "#e3a300"
REST = "rgba(125, 135, 150, 0.30)"  # what is left over, padding
BAR = "rgba(125, 135, 150, 0.75)"  # at rest, not chosen
LINE = "rgba(125, 135, 150, 0.85)"  # reference lines
CLEAR = "rgba(0, 0, 0, 0)"

AXIS = {"automargin": True, "fixedrange": True, "zeroline": False}

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}


def plotly_text(label: str) -> str:
    """`label` for any Plotly text: tags and formulas in it are shown, not read.

    >>> plotly_text("<b>$x$")
    '&lt;b&gt;&#36;x&#36;'
    """
    return "".join(_ENTITIES.get(character, character) for character in label)


def shortened(label: str, most: int = 14) -> str:
    """At most `most` characters, the last one an ellipsis when something is left out."""
    return label if len(label) <= most else label[: most - 1] + "…"


def calm_figure(traces: list[dict], layout: dict, height: int, right: int = 8) -> go.Figure:
    """A figure without title, legend, or zoom by accident; `right` px are left for labels beside the plot.

    Axes named in `layout` (xaxis, yaxis, xaxis2 ...) get the common settings.
    """
    axes = {name: AXIS | axis for name, axis in layout.items() if name[1:5] == "axis"}
    common = {
        "height": height,
        "margin": {"l": 8, "r": right, "t": 8, "b": 8},
        "showlegend": False,
        "dragmode": False,
        "bargap": 0.25,
        "hoverlabel": {"align": "left", "namelength": 0},
    }
    return go.Figure(traces, common | layout | axes)


def level(height: float, axis: str = "y") -> dict:
    """A dashed horizontal line through the whole plot at `height`, as a Plotly shape."""
    line = {"width": 1.2, "dash": "dash", "color": LINE}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": axis, "y0": height, "y1": height, "line": line}


def beside(text: str, height: float, shift: int = 0) -> dict:
    """A label in the right margin at `height` (its log10 on a logarithmic axis), as a Plotly annotation."""
    place = {"xref": "paper", "x": 1.01, "xanchor": "left", "y": height, "yshift": shift}
    return place | {"text": text, "align": "left", "showarrow": False}


def chart_config(name: str, picture: str = "png") -> dict:
    """`config` of st.plotly_chart: no logo, and a download of the picture ("png" or "svg") as a file `name`."""
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": picture, "filename": name, "scale": 3 if picture == "png" else 1},
    }
