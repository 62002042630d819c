"""Loss along a record, as an Apache ECharts option: it follows the chosen position in place."""

from collections.abc import Sequence

from minigpt.figures.theme import BAR, CLEAR, LINE, TARGET


def losses_chart(
    losses: Sequence[float],
    labels: Sequence[str],
    position: int,
    lines: Sequence[tuple[str, float]],
    hover: Sequence[str],
) -> dict:
    """Loss of each position in nats, the chosen one in amber; `lines` are levels with their names.

    `labels` are the target pieces; below the bars they follow their positions 0 .. T-1, so that no two are
    alike. The second series is clear and as high as the chart: it takes clicks and shows `hover`, so that a
    bar of a small loss is as easy to hit as any. ECharts draws all texts as they are.
    """
    right = max(92, 8 + 6 * max(len(name) for name, _ in lines))  # px, for the names of the levels
    top = 1.1 * max([*losses, *(height for _, height in lines)])
    bars = [
        {"value": loss, "itemStyle": {"color": TARGET if at == position else BAR}} for at, loss in enumerate(losses)
    ]
    shown = {"type": "bar", "data": bars, "barWidth": "76%", "silent": True, "z": 2, "markLine": _levels(lines)}
    areas = [{"value": top, "name": text} for text in hover]
    clicked = {"type": "bar", "data": areas, "barWidth": "100%", "xAxisIndex": 1, "selectedMode": "single", "z": 3}
    clear = {"itemStyle": {"color": CLEAR, "borderWidth": 0}}
    clicked |= clear | {"select": clear, "emphasis": {"itemStyle": {"color": "rgba(125, 135, 150, 0.15)"}}}
    names = [f"{at}  {label}" for at, label in enumerate(labels)]
    return {
        "animation": False,
        "grid": {"left": 30, "right": right, "top": 14, "bottom": 72, "outerBoundsMode": "none"},
        "tooltip": {"trigger": "item", "formatter": "{b}", "confine": True},
        "xAxis": [
            {
                "type": "category",
                "data": names,
                "axisLabel": {"rotate": 90, "width": 62, "overflow": "truncate", "hideOverlap": True},
                "axisTick": {"show": False},
            },
            {"type": "category", "data": names, "show": False},  # of the clear columns, or they would share the width
        ],
        "yAxis": {"type": "value", "min": 0, "max": top, "splitNumber": 4, "axisLabel": {"showMaxLabel": False}}
        | {"splitLine": {"showMaxLine": False}},  # the top is not a round number
        "series": [shown, clicked],
    }


def _levels(lines: Sequence[tuple[str, float]]) -> dict:
    """Dashed lines with their names at the right; names of close levels are set above and below their lines."""
    close = len(lines) == 2 and abs(lines[0][1] - lines[1][1]) < 0.1 * max(height for _, height in lines)
    lowest = min(range(len(lines)), key=lambda at: lines[at][1])
    data = []
    for at, (name, height) in enumerate(lines):
        shift = 0 if not close else 9 if at == lowest else -9  # px downwards
        label = {"formatter": name, "position": "end", "offset": [0, shift]}
        data.append({"yAxis": height, "label": label})
    return {
        "symbol": "none",
        "silent": True,
        "lineStyle": {"color": LINE, "type": "dashed", "width": 1.2},
        "data": data,
    }
