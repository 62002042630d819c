"""The columns of the sampling page over twenty seeds, with progress and cancel."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from minigpt.figures.numbers import nats, percent
from minigpt.figures.sampling import seeds_figure
from minigpt.figures.theme import chart_config
from minigpt.generation.seeds import Habit, Repetition
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base import messages
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.sampling.numbers import records_of, share
from minigpt.ui.sampling.setup import LETTERS, Setup

STATE = "sampling_seeds"
SEEDS = 20
SLICE = 0.2  # seconds of work in one run of the script


def draw(view: View, setup: Setup) -> None:
    """A button, progress while it works, then the habits of the columns."""
    asked = (view.space.model, view.space.step, replace(setup, by_hand=False, dice=None))
    key, model, repetition = st.session_state.get(STATE, (None, None, None))
    if key != asked or model is not view.model:
        repetition = None
    if repetition is None:
        st.write(
            t(
                "One text is an accident, twenty are a habit: the same columns with {count} seeds each, from the "
                "column's own seed upwards.",
                count=SEEDS,
            )
        )
        start = t("Write {count} texts for every column", count=SEEDS)
        st.button(start, key="seeds_start", type="primary", on_click=_start, args=(view, setup, asked))
        if fault := st.session_state.pop("seeds_fault", ""):
            messages.problem(fault)
    elif repetition.finished:
        _result(repetition)
    else:
        st.fragment(lambda: _progress(repetition), run_every=0.3)()


def _start(view: View, setup: Setup, asked: tuple) -> None:
    try:
        work = Repetition(view.model, view.tokenizer, setup.prompt, setup.columns, records_of(view), SEEDS)
    except ValueError as error:
        st.session_state["seeds_fault"] = str(error)
        return
    st.session_state[STATE] = (asked, view.model, work)


def _progress(repetition: Repetition) -> None:
    if STATE not in st.session_state:
        st.rerun()
    done, cancel = st.columns([5, 1], vertical_alignment="bottom")
    done.progress(repetition.progress, t("{share:.0%} of the texts written and counted", share=repetition.progress))
    cancel.button(t("Cancel"), key="seeds_cancel", on_click=_forget, width="stretch")
    repetition.advance(SLICE)
    if repetition.finished:
        st.rerun()


def _forget() -> None:
    st.session_state.pop(STATE, None)


def _result(repetition: Repetition) -> None:
    columns = range(repetition.width)
    rows: dict[str, list[str]] = {}
    for column in columns:
        for name, value in habit_rows(repetition.habit(column)).items():
            rows.setdefault(name, []).append(value)
    frame = pd.DataFrame([[name, *values] for name, values in rows.items()])
    frame.columns = [t("mean of {count} texts", count=repetition.seeds), *LETTERS[: repetition.width]]
    st.dataframe(frame, hide_index=True, width="stretch", key="habits")
    panels = [
        (t("mean surprise (nats)"), _values(repetition, "surprise")),
        (t("different pairs"), _values(repetition, "distinct_2")),
        (t("longest copy (bytes)"), [[row.copy.length for row in repetition.column_numbers(c)] for c in columns]),
    ]
    st.plotly_chart(
        seeds_figure(panels, LETTERS[: repetition.width]),
        key="seeds",
        config=chart_config("seeds"),
        alt=t("Surprise, different pairs and longest copy of every text"),
    )
    st.caption(t("A dot is one text, the line the mean of its column."))
    with st.expander(t("All texts"), key="seeds_texts", on_change="rerun") as texts:
        if texts.open:
            st.dataframe(texts_frame(repetition), hide_index=True, width="stretch", key="all_texts")
    st.button(t("Forget these texts"), key="seeds_forget", on_click=_forget)


def habit_rows(habit: Habit) -> dict[str, str]:
    """A column's habits as words and numbers."""
    stops = ", ".join(f"{name} {count}" for name, count in sorted(habit.stops.items()))
    return {
        t("different texts"): t("{count} of {all}", count=habit.different, all=habit.texts),
        t("texts that are all memorised"): t("{count} of {all}", count=habit.memorised, all=habit.texts),
        t("longest copy (bytes)"): f"{habit.copied:.1f}",
        t("different pairs (distinct-2)"): share(habit.distinct_2),
        t("repeated triples"): share(habit.repetition),
        t("mean surprise, raw (nats)"): "–" if habit.surprise is None else nats(habit.surprise),
        t("mean entropy, raw (nats)"): "–" if habit.raw_entropy is None else nats(habit.raw_entropy),
        t("tokens"): f"{habit.tokens:.1f}",
        t("stops"): stops,
    }


def texts_frame(repetition: Repetition) -> pd.DataFrame:
    """Every text with its column, seed and numbers."""
    rows = []
    for column in range(repetition.width):
        found = zip(repetition.texts(column), repetition.column_numbers(column), strict=True)
        for place, (text, row) in enumerate(found):
            settings = repetition.comparison.columns[column * repetition.seeds + place]
            rows.append(
                {
                    t("column"): LETTERS[column],
                    t("seed"): settings.seed,
                    t("text"): visible_label(text),
                    t("surprise"): row.surprise,
                    t("copied"): percent(row.copy.length / len(text)) if text else "–",
                    t("stop"): row.stop,
                }
            )
    return pd.DataFrame(rows)


def _values(repetition: Repetition, name: str) -> list[Sequence[float]]:
    columns = [repetition.column_numbers(column) for column in range(repetition.width)]
    return [[value for row in rows if (value := getattr(row, name)) is not None] for rows in columns]
