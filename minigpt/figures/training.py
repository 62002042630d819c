"""Curves of a run, as Apache ECharts options: they update in place and keep a reader's zoom."""

from collections.abc import Sequence

TRAIN, VALIDATION = "#64748b", "#9333ea"


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
