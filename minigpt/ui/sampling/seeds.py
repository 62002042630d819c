"""The columns of the sampling page over twenty seeds, with progress and cancel."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from minigpt.figures.numbers import nats, percent
from minigpt.figures.sampling import seeds_figure
from minigpt.figures.theme import chart_config
from minigpt.generation.seeds import SeedComparison, SeedSummary
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base import messages
from minigpt.ui.base.text import t, translate
from minigpt.ui.base.view import View
from minigpt.ui.sampling.numbers import records_of, share
from minigpt.ui.sampling.setup import LETTERS, Setup

STATE = "sampling_seeds"
SEEDS = 20
SLICE = 0.2  # seconds of work in one run of the script


def draw(view: View, setup: Setup) -> None:
    """A button, progress while it works, then the columns in numbers."""
    asked = (view.space.model, view.space.step, replace(setup, by_hand=False, dice=None))
    key, model, compared = st.session_state.get(STATE, (None, None, None))
    if key != asked or model is not view.model:
        compared = None
    if compared is None:
        st.write(
            t(
                "One text is an accident, twenty are a summary: the same columns with {count} seeds each, from the "
                "the column's own seed.",
                count=SEEDS,
            )
        )
        start = t("Write {count} texts for every column", count=SEEDS)
        st.button(start, key="seeds_start", type="primary", on_click=_start, args=(view, setup, asked))
        if fault := st.session_state.pop("seeds_fault", ""):
            messages.problem(fault)
    elif compared.finished:
        _result(compared)
    else:
        st.fragment(lambda: _progress(compared), run_every=0.3)()


def _start(view: View, setup: Setup, asked: tuple) -> None:
    try:
        work = SeedComparison(view.model, view.tokenizer, setup.prompt, setup.columns, records_of(view), SEEDS)
    except ValueError as error:
        st.session_state["seeds_fault"] = translate(error)
        return
    st.session_state[STATE] = (asked, view.model, work)


def _progress(compared: SeedComparison) -> None:
    if STATE not in st.session_state:
        st.rerun()
    done, cancel = st.columns([5, 1], vertical_alignment="bottom")
    done.progress(compared.progress, t("{share:.0%} of the texts written and counted", share=compared.progress))
    cancel.button(t("Cancel"), key="seeds_cancel", on_click=_forget, width="stretch")
    compared.advance(SLICE)
    if compared.finished:
        st.rerun()


def _forget() -> None:
    st.session_state.pop(STATE, None)


def _result(compared: SeedComparison) -> None:
    columns = range(compared.width)
    rows: dict[str, list[str]] = {}
    for column in columns:
        for name, value in summary_rows(compared.summary(column)).items():
            rows.setdefault(name, []).append(value)
    frame = pd.DataFrame([[name, *values] for name, values in rows.items()])
    frame.columns = [t("mean of {count} texts", count=compared.seeds), *LETTERS[: compared.width]]
    st.dataframe(frame, hide_index=True, width="stretch", key="habits")
    panels: list[tuple[str, Sequence[Sequence[float]]]] = [
        (t("mean surprise (nats)"), _values(compared, "surprise")),
        (t("different pairs"), _values(compared, "distinct_2")),
        (t("longest copy (bytes)"), [[row.copy.length for row in compared.column_measures(c)] for c in columns]),
    ]
    st.plotly_chart(
        seeds_figure(panels, LETTERS[: compared.width]),
        key="seeds",
        config=chart_config("seeds"),
        alt=t("Surprise, different pairs and longest copy of every text"),
    )
    st.caption(t("A dot is one text, the line the mean of its column."))
    with st.expander(t("All texts"), key="seeds_texts", on_change="rerun") as texts:
        if texts.open:
            st.dataframe(texts_frame(compared), hide_index=True, width="stretch", key="all_texts")
    st.button(t("Forget these texts"), key="seeds_forget", on_click=_forget)


def summary_rows(summary: SeedSummary) -> dict[str, str]:
    """A column over all its seeds."""
    stops = ", ".join(f"{name} {count}" for name, count in sorted(summary.stops.items()))
    return {
        t("different texts"): t("{some} of {texts}", some=summary.different, texts=summary.texts),
        t("texts that are all memorized"): t("{some} of {texts}", some=summary.memorized, texts=summary.texts),
        t("longest copy (bytes)"): f"{summary.copied:.1f}",
        t("different pairs (distinct-2)"): share(summary.distinct_2),
        t("repeated triples"): share(summary.repetition),
        t("mean surprise, raw (nats)"): "–" if summary.surprise is None else nats(summary.surprise),
        t("mean entropy, raw (nats)"): "–" if summary.raw_entropy is None else nats(summary.raw_entropy),
        t("tokens"): f"{summary.tokens:.1f}",
        t("stops"): stops,
    }


def texts_frame(compared: SeedComparison) -> pd.DataFrame:
    """Every text with its column, seed and numbers."""
    rows = []
    for column in range(compared.width):
        found = zip(compared.texts(column), compared.column_measures(column), strict=True)
        for place, (text, row) in enumerate(found):
            settings = compared.comparison.columns[column * compared.seeds + place]
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


def _values(compared: SeedComparison, name: str) -> list[list[float]]:
    columns = [compared.column_measures(column) for column in range(compared.width)]
    return [[value for row in rows if (value := getattr(row, name)) is not None] for rows in columns]
