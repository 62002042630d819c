"""What the logits page shows: candidates, losses, the softmax in numbers, the distribution, the logit lens."""

import numpy as np
import pandas as pd
import streamlit as st

from minigpt.figures.logits import Bar, Words, candidates_figure, curve_figure, losses_figure, ranks_drawn
from minigpt.figures.numbers import nats, percent
from minigpt.figures.theme import chart_config
from minigpt.model.lens import logit_lens
from minigpt.model.prediction import Candidate, Prediction, predict
from minigpt.ui import workspace
from minigpt.ui.components.matrix import matrix
from minigpt.ui.text import plain, t
from minigpt.ui.view import View

MOST_CELLS = 1024  # ids of the map by id
LENS_WORK = 2_000_000_000  # multiplications of a lens over all positions; beyond, the chosen one only


def sentence(view: View, prediction: Prediction) -> str:
    """What the model expects at the position, how sure it is, and what the target costs (Markdown)."""
    best, target = prediction.best, prediction.candidate(view.targets[view.position])
    values = {
        "position": view.position,
        "read": plain(view.labels[view.position]),
        "best": plain(view.tokenizer.piece_label(best.id)),
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
            "position {position}: {piece} → {target}\n{loss} nats",
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
    figure = losses_figure(view.losses, view.target_labels, view.position, lines, t("loss (nats)"), hover)
    st.plotly_chart(
        figure,
        key="losses",
        config=chart_config("losses"),
        on_select=_take_bar,
        selection_mode="points",
        alt=t("Loss of each position"),
    )


def _take_bar() -> None:
    points = st.session_state["losses"]["selection"]["points"]
    if points:
        workspace.choose(position=int(points[0]["x"]))


def arithmetic(view: View, prediction: Prediction) -> None:
    """The softmax of the target, number by number."""
    id = view.targets[view.position]
    steps, label = prediction.steps(id), view.target_labels[view.position]
    top = prediction.best
    rows = [
        (t("logit of the target"), f"z[{id}]", steps.logit, label),
        (t("greatest logit"), "max z", steps.greatest, view.tokenizer.piece_label(top.id)),
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
    st.write(t("Softmax turns logits into probabilities; subtracting the greatest first keeps exp from overflowing."))
    table = pd.DataFrame([{t("step"): a, t("formula"): b, t("number"): repr(c), t("note"): d} for a, b, c, d in rows])
    st.dataframe(table, key="softmax", hide_index=True, width="stretch")
    own = view.losses[view.position]
    st.caption(
        t(
            "The model's own loss function says {own}; the difference is {difference:.2g}. Weighted over all ids the "
            "surprise (entropy) is {entropy:.4f} nats; ln {size} = {uniform:.6f} if all ids were equal.",
            own=repr(own),
            difference=abs(own - steps.loss),
            entropy=prediction.entropy,
            size=len(prediction.logits),
            uniform=prediction.uniform_loss,
        )
    )


def distribution(view: View, prediction: Prediction) -> None:
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
            piece=plain(view.tokenizer.piece_label(chosen)),
            rank=one.rank,
            logit=one.logit,
            share=percent(one.probability),
        )
    )


def lens(view: View) -> None:
    """What each depth would predict, at every position if that is not too much work."""
    config, blocks = view.model.config, view.model.config.layers
    work = view.length * (blocks + 1) * config.width * config.vocab_size
    positions = list(range(view.length)) if work <= LENS_WORK else [view.position]
    reading = logit_lens(view.model, view.trace, positions)
    depths = [t("embeddings")] + [t("block {number}", number=number) for number in range(blocks)]
    st.write(
        t(
            "An extra reading, which the model itself does not do: its final norm and head are applied to the "
            "residual after each depth. Only the last row is the model's own prediction."
        )
    )
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
        pd.DataFrame(_lens_rows(view, reading.logits[:, here], depths)), key="lens", hide_index=True, width="stretch"
    )
    st.caption(
        t(
            "Top candidates at position {position}. Read this way, the last row differs from the model's logits by at "
            "most {difference:.2g}; the model's own are shown.",
            position=view.position,
            difference=reading.difference,
        )
    )


def _lens_rows(view: View, logits, depths: list[str]) -> list[dict]:
    rows, target = [], view.targets[view.position]
    for depth, values in zip(depths, logits, strict=True):
        reading = predict(values)
        own = reading.candidate(target)
        row = {t("after"): depth}
        for candidate in reading.top(3):
            name = t("rank {rank}", rank=candidate.rank)
            row[name] = f"{view.tokenizer.piece_label(candidate.id)}  {percent(candidate.probability)}"
        row |= {
            t("target"): f"{view.target_labels[view.position]}  {percent(own.probability)}",
            t("its rank"): own.rank,
            t("loss (nats)"): nats(reading.steps(target).loss),
        }
        rows.append(row)
    return rows


def positions(view: View) -> None:
    """Every position: its target, probability, rank and loss, and what the model would rather say."""
    rows = []
    for position in range(view.length):
        prediction = predict(view.trace.logits.at(position))
        target, best = prediction.candidate(view.targets[position]), prediction.best
        rows.append(
            {
                t("here"): "▶" if position == view.position else "",
                t("position"): position,
                t("input"): view.labels[position],
                t("target"): view.target_labels[position],
                t("probability"): percent(target.probability),
                t("rank"): target.rank,
                t("loss (nats)"): view.losses[position],
                t("top candidate"): view.tokenizer.piece_label(best.id),
                t("its probability"): percent(best.probability),
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
    label = view.tokenizer.piece_label(candidate.id)
    return Bar(label, candidate.id, candidate.rank, candidate.probability, target=candidate.id == target)
