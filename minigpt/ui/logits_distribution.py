"""The whole distribution of one position: a curve by rank, or a map by id."""

import numpy as np
import streamlit as st

from minigpt.figures.logits import curve_figure, ranks_drawn
from minigpt.figures.numbers import percent
from minigpt.figures.theme import chart_config
from minigpt.model.prediction import Prediction
from minigpt.ui.components.matrix import matrix
from minigpt.ui.text import plain, t
from minigpt.ui.view import View

MOST_CELLS = 1024  # ids of the map


def draw(view: View, prediction: Prediction) -> None:
    """All probabilities by rank, or by id."""
    way = st.segmented_control(
        t("Order"),
        ["rank", "id"],
        default="rank",
        key="order",
        required=True,
        format_func={"rank": t("by rank"), "id": t("by id")}.get,
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
    note = t("All {size:,} ids, both axes logarithmic; the target is amber.", size=size)
    if drawn < size:
        note += " " + t("{drawn} ranks are drawn, the first 200 among them.", drawn=drawn)
    st.caption(note)


def _map(view: View, prediction: Prediction) -> None:
    size, across = len(prediction.logits), 32
    if size > MOST_CELLS:
        st.caption(t("The map by id is for up to {most:,} ids; this model has {size:,}.", most=MOST_CELLS, size=size))
        return
    rows = -(-size // across)
    cells = np.full(rows * across, np.nan)
    cells[:size] = prediction.probabilities
    place = (view.space.model, view.space.text, view.position)
    kept, chosen = st.session_state.get("map_id", (None, 0))
    chosen = chosen if kept == place else view.targets[view.position]
    matrix(
        cells.reshape(rows, across),
        key="id_map",
        label=t("Probability of each id"),
        rows=[str(row * across) for row in range(rows)],
        columns=[f"+{column}" for column in range(across)],
        palette="probability",
        limit=float(prediction.probabilities.max()),
        selected=divmod(chosen, across),
        row_title=t("id"),
        column_title=t("plus"),
        numbers=False,
        on_select=lambda row, column: st.session_state.update(map_id=(place, row * across + column)),
        max_cell=34,
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
