"""The whole distribution of one position: a curve by rank, or a map by id."""

import numpy as np
import streamlit as st

from minigpt.figures.logits import curve_figure, ranks_drawn
from minigpt.figures.numbers import percent
from minigpt.figures.theme import chart_config
from minigpt.inspection.prediction import Prediction
from minigpt.ui.base.text import plain, t
from minigpt.ui.base.view import View
from minigpt.ui.components.matrix import matrix

MOST_CELLS, ACROSS = 1024, 32  # ids of the map on screen, and of one row
MAP = "map_id"  # session: where an id of the map was chosen, and which


def draw(view: View, prediction: Prediction) -> None:
    """All probabilities by rank, or by id."""
    orders = {"rank": t("by rank"), "id": t("by id")}
    way = st.segmented_control(
        t("Order"),
        list(orders),
        default="rank",
        key="order",
        required=True,
        format_func=lambda order: orders[order],
        label_visibility="collapsed",
    )
    if way == "id":
        _map(view, prediction)
        return
    size, target = len(prediction.logits), prediction.candidate(view.targets[view.position])
    figure = curve_figure(
        prediction.probabilities,
        (target.rank, view.target_labels[view.position]),
        uniform=t("all equal: 1 / {size:,}", size=size),
        axes=(t("rank"), t("probability")),
    )
    st.plotly_chart(figure, key="curve", config=chart_config("distribution"), alt=t("All probabilities by rank"))
    drawn = len(ranks_drawn(size))
    if drawn < size:
        st.caption(
            t(
                "All {size:,} ids, both axes logarithmic; the target is amber. {drawn} ranks are drawn, the first 200 "
                "among them.",
                size=size,
                drawn=drawn,
            )
        )
    else:
        st.caption(t("All {size:,} ids, both axes logarithmic; the target is amber.", size=size))


def _map(view: View, prediction: Prediction) -> None:
    """A page of ids as cells: the one that holds the chosen id."""
    size = len(prediction.logits)
    place = (view.space.model, view.space.text, view.position)
    kept, chosen = st.session_state.get(MAP, (None, 0))
    chosen = chosen if kept == place else view.targets[view.position]
    first = chosen // MOST_CELLS * MOST_CELLS
    cells = np.full(MOST_CELLS, np.nan)
    page = prediction.probabilities[first : first + MOST_CELLS]
    cells[: len(page)] = page
    rows = -(-len(page) // ACROSS)
    matrix(
        cells.reshape(-1, ACROSS)[:rows],
        key="id_map",
        label=t("Probability of each id"),
        rows=[str(first + row * ACROSS) for row in range(rows)],
        columns=[f"+{column}" for column in range(ACROSS)],
        palette="probability",
        limit=float(prediction.probabilities.max()),
        selected=divmod(chosen - first, ACROSS),
        row_title=t("id"),
        column_title=t("plus"),
        numbers=False,
        on_select=lambda row, column: _take(place, first + row * ACROSS + column),
        max_cell=34,
    )
    if size > MOST_CELLS:
        st.session_state["map_jump"] = chosen
        label = t("Go to an id, 0 to {last}; {shown} are on screen", last=size - 1, shown=len(page))
        st.number_input(
            label, 0, size - 1, key="map_jump", on_change=lambda: _take(place, st.session_state["map_jump"])
        )
    one = prediction.candidate(chosen)
    st.write(
        t(
            "id {id}, **{piece}**: rank {rank}, logit {logit:.6f}, probability {share}. Click a cell for another id.",
            id=chosen,
            piece=plain(view.label(chosen)),
            rank=one.rank,
            logit=one.logit,
            share=percent(one.probability),
        )
    )


def _take(place: tuple, id: int) -> None:
    st.session_state[MAP] = (place, id)
