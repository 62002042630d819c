"""What the logits page shows: the sentence, candidates, losses, the softmax in numbers, all positions."""

import pandas as pd
import streamlit as st

from minigpt.figures.logits import Bar, Words, candidates_figure
from minigpt.figures.losses import losses_chart
from minigpt.figures.numbers import every_digit, nats, percent
from minigpt.figures.theme import chart_config
from minigpt.inspection.prediction import Candidate, Prediction
from minigpt.ui.base import workspace
from minigpt.ui.base.text import plain, t
from minigpt.ui.base.view import View


def sentence(view: View, prediction: Prediction) -> str:
    """What the model expects at the position, how sure it is, and what the target costs (Markdown)."""
    best, target = prediction.best, prediction.candidate(view.targets[view.position])
    values = {
        "position": view.position,
        "read": plain(view.labels[view.position]),
        "best": plain(view.label(best.id)),
        "share": percent(best.probability),
        "target": plain(view.target_labels[view.position]),
        "target_share": percent(target.probability),
        "rank": target.rank,
        "size": f"{len(prediction.logits):,}",
        "loss": nats(view.losses[view.position]),
    }
    if best.id == target.id:
        return t(
            "After **{read}** at position {position} it expects **{best}** with {share}. That is the target: rank 1 of "
            "{size}, loss {loss} nats.",
            **values,
        )
    return t(
        "After **{read}** at position {position} it expects **{best}** with {share}. The target **{target}** gets "
        "{target_share}: rank {rank} of {size}, loss {loss} nats.",
        **values,
    )


def candidates(view: View, prediction: Prediction, count: int) -> None:
    """The most probable ids, the target wherever it ranks, and the rest."""
    target = prediction.candidate(view.targets[view.position])
    shown = prediction.top(count)
    if target.rank > count:
        shown.append(target)
    others = len(prediction.logits) - len(shown)
    words = Words(
        rest=t("{count:,} other ids", count=others),
        rank=t("rank {rank}", rank="{rank}"),
        hover=t(
            "{label} · id {id}<br>rank {rank}<br>{probability}",
            label="{label}",
            id="{id}",
            rank="{rank}",
            probability="{probability}",
        ),
    )
    bars = [_bar(view, candidate, target.id) for candidate in shown]
    figure = candidates_figure(bars, prediction.rest([candidate.id for candidate in shown]), words)
    st.plotly_chart(
        figure, key="candidates", config=chart_config("next-token"), alt=t("Probabilities of the next token")
    )


def losses(view: View, prediction: Prediction) -> None:
    """Loss of each position; a click on a bar chooses the position."""
    hover = [
        t(
            "position {position}: {piece} → {target}, {loss} nats",
            position=position,
            piece=view.labels[position],
            target=view.target_labels[position],
            loss=nats(view.losses[position]),
        )
        for position in range(view.length)
    ]
    uniform = prediction.uniform_loss
    lines = [
        (t("mean {loss}", loss=nats(view.loss)), view.loss),
        (t("ln {size} = {loss}", size=len(prediction.logits), loss=nats(uniform)), uniform),
    ]
    chart = losses_chart(view.losses, view.target_labels, view.position, lines, hover)
    st.echarts_chart(chart, key="losses", height=330, on_select=_take_column, alt=t("Loss of each position"))


def _take_column() -> None:
    """A click on a column selects it, a second click frees it again: both choose its position."""
    selected, text = st.session_state["losses"]["selection"]["selected"], workspace.current().text
    if selected:
        st.session_state["column"] = text, int(selected[0]["data_indices"][0])
    of, column = st.session_state.get("column", (None, 0))
    if of == text:
        workspace.choose(position=column)


def arithmetic(view: View, prediction: Prediction) -> None:
    """The softmax of the target, number by number."""
    id = view.targets[view.position]
    steps, label = prediction.steps(id), view.target_labels[view.position]
    top = prediction.best
    rows = [
        (t("logit of the target"), f"z\\[{id}\\]", steps.logit, label),
        (t("largest logit"), "max z", steps.greatest, view.label(top.id)),
        (t("distance between the two"), "z − max z", steps.shifted, ""),
        (t("exp of the distance"), "exp(z − max z)", steps.power, ""),
        (
            t("the same for every id, added up"),
            "Σ exp(z − max z)",
            steps.total,
            t("{size:,} ids", size=len(prediction.logits)),
        ),
        (t("probability"), "p = exp(z − max z) ÷ Σ", steps.probability, percent(steps.probability)),
        (t("loss"), "−ln p", steps.loss, t("nats")),
    ]
    st.write(t("Softmax turns logits into probabilities; subtracting the largest first keeps exp from overflowing."))
    lines = [f"| {a} | {b} | {every_digit(c)} | {plain(d)} |" for a, b, c, d in rows]
    titles = (t("Step"), t("Formula"), t("Number"), t("Note"))
    head = ["| " + " | ".join(titles) + " |", "|---|---|---|---|"]
    st.markdown("\n".join(head + lines))
    own = view.losses[view.position]
    st.caption(
        t(
            "The model's own loss function says {own}; the difference is {difference}. Weighted over all ids the "
            "surprise (entropy) is {entropy:.4f} nats; ln {size} = {uniform:.6f} if all ids were equal.",
            own=every_digit(own),
            difference=f"{abs(own - steps.loss):.2g}".replace("-", "−"),
            entropy=prediction.entropy,
            size=len(prediction.logits),
            uniform=prediction.uniform_loss,
        )
    )


def positions(view: View) -> None:
    """Every position: its target, probability, rank and loss, and what the model would rather say."""
    rows = []
    for position, outcome in enumerate(view.outcomes):
        rows.append(
            {
                t("here"): "▶" if position == view.position else "",
                t("position"): position,
                t("input"): view.labels[position],
                t("target"): view.target_labels[position],
                t("probability"): percent(outcome.probability),
                t("rank"): outcome.rank,
                t("loss (nats)"): view.losses[position],
                t("top candidate"): view.label(outcome.best),
                t("its probability"): percent(outcome.best_probability),
            }
        )
    st.dataframe(
        pd.DataFrame(rows),
        key="positions",
        hide_index=True,
        width="stretch",
        height=min(35 * (view.length + 1) + 3, 600),
        column_config={
            t("loss (nats)"): st.column_config.NumberColumn(format="%.9f"),
            t("here"): st.column_config.Column("", width=30),
        },
    )


def _bar(view: View, candidate: Candidate, target: int) -> Bar:
    label = view.label(candidate.id)
    return Bar(label, candidate.id, candidate.rank, candidate.probability, target=candidate.id == target)
