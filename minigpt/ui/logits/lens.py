"""The logit lens on the logits page: what each depth would predict, at every position."""

import pandas as pd
import streamlit as st
import torch

from minigpt.figures.numbers import nats, percent
from minigpt.inspection.logit_lens import logit_lens
from minigpt.inspection.prediction import predict
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.components.matrix import matrix

MOST_WORK = 2_000_000_000  # multiplications of a lens over all positions; beyond, the chosen one only


def draw(view: View) -> None:
    """What each depth would predict, at every position if that is not too much work."""
    config, blocks = view.model.config, view.model.config.layers
    work = view.length * (blocks + 1) * config.width * config.vocab_size
    positions = list(range(view.length)) if work <= MOST_WORK else [view.position]
    reading = logit_lens(view.model, view.trace, positions)
    depths = [t("embeddings")] + [t("block {number}", number=number) for number in range(blocks)]
    st.write(
        t(
            "An extra reading, which the model itself does not do: its final norm and head are applied to the "
            "residual after each depth. Only the last row is the model's own prediction."
        )
    )
    if len(positions) < view.length:
        st.caption(t("A model of this size is read at the chosen position only."))
    shares = reading.logits.softmax(-1)  # (L+1, P, V)
    targets = view.batch.targets[0, positions]
    of_target = shares[:, range(len(positions)), targets].numpy()  # (L+1, P)
    here = positions.index(view.position)
    matrix(
        of_target,
        key="lens_map",
        label=t("Probability of the target after each depth"),
        rows=depths,
        columns=[view.target_labels[position] for position in positions],
        palette="probability",
        selected=(blocks, here),
        row_title=t("after"),
        column_title=t("target"),
        on_select=lambda row, column: workspace.choose(position=positions[column]),
        max_cell=44,
    )
    st.dataframe(
        pd.DataFrame(_lens_rows(view, reading.logits[:, here], depths)),
        key="lens",
        hide_index=True,
        width="stretch",
        height=min(35 * (len(depths) + 1) + 3, 600),
    )
    st.caption(
        t(
            "Top candidates at position {position}. Read this way, the last row differs from the model's logits by at "
            "most {difference:.2g}; the model's own are shown.",
            position=view.position,
            difference=reading.difference,
        )
    )


def _lens_rows(view: View, logits: torch.Tensor, depths: list[str]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    target = view.targets[view.position]
    for depth, values in zip(depths, logits, strict=True):
        reading = predict(values)
        own = reading.candidate(target)
        row: dict[str, object] = {t("after"): depth}
        for candidate in reading.top(3):
            name = t("rank {rank}", rank=candidate.rank)
            row[name] = f"{view.label(candidate.id)}  {percent(candidate.probability)}"
        row |= {
            t("target"): f"{view.target_labels[view.position]}  {percent(own.probability)}",
            t("its rank"): own.rank,
            t("loss (nats)"): nats(reading.steps(target).loss),
        }
        rows.append(row)
    return rows
