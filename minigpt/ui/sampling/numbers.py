"""The columns of the sampling page in numbers, one table; and both as files to download."""

import pandas as pd
import streamlit as st

from minigpt.corpus.corpus import Record
from minigpt.figures.numbers import nats, percent
from minigpt.generation.compare import Comparison, TextMeasures, measure, to_csv, to_markdown
from minigpt.huggingface.imports import is_import
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base.text import t, tn
from minigpt.ui.base.view import View
from minigpt.ui.sampling.setup import LETTERS, Setup
from minigpt.ui.shared.examples import training_records

FOUND = "sampling_found"  # session: a comparison, the lengths of its columns, and their numbers


def records_of(view: View) -> tuple[Record, ...]:
    """The training records of the workspace's model."""
    return () if is_import(view.space.model) else training_records(view.space.model)


def draw(comparison: Comparison, records: tuple[Record, ...]) -> None:
    """The table that compares the columns."""
    found = _numbers(comparison, records)
    table = {t("measure"): list(_rows(found[0], records))}
    for letter, column in zip(LETTERS, found, strict=False):
        table[letter] = list(_rows(column, records).values())
    height = 35 * (len(table[t("measure")]) + 1) + 3
    st.dataframe(pd.DataFrame(table), hide_index=True, width="stretch", height=height, key="sampling_numbers")


def _numbers(comparison: Comparison, records: tuple[Record, ...]) -> list[TextMeasures]:
    """The numbers of the columns as long at this moment: a large corpus is searched only when they grow."""
    lengths = [len(steps) for steps in comparison.steps]
    of, then, found = st.session_state.get(FOUND, (None, None, []))
    if of is not comparison or then != lengths:
        found = [measure(comparison.tokenizer, steps, records) for steps in comparison.steps]
        st.session_state[FOUND] = (comparison, lengths, found)
    return found


def _rows(found: TextMeasures, records: tuple[Record, ...]) -> dict[str, str]:
    copy = found.copy
    where = "–"
    if copy.record is not None and copy.length:
        record = records[copy.record].id
        where = tn("{count} byte of {record}", "{count} bytes of {record}", count=copy.length, record=record)
    return {
        t("tokens"): str(found.tokens),
        t("different tokens (distinct-1)"): share(found.distinct_1),
        t("different pairs (distinct-2)"): share(found.distinct_2),
        t("repeated triples"): share(found.repetition),
        t("mean surprise, raw (nats)"): "–" if found.surprise is None else nats(found.surprise),
        t("mean entropy, raw (nats)"): "–" if found.raw_entropy is None else nats(found.raw_entropy),
        t("mean entropy, drawn from (nats)"): "–" if found.entropy is None else nats(found.entropy),
        t("longest copy"): where,
        t("copied text"): visible_label(copy.text.encode() if isinstance(copy.text, str) else copy.text),
        t("memorized or invented"): _origin(found) if records else t("the corpus is not known here"),
        t("stop"): _stop(found.stop),
    }


def _stop(reason: str | None) -> str:
    return {
        "eos": t("end of the text"),
        "length": t("requested length"),
        "context_limit": t("end of the context"),
    }.get(reason or "", "–")


def _origin(found: TextMeasures) -> str:
    return t("all of it memorized") if found.memorized else t("invented")


def share(value: float | None) -> str:
    """A rate as a percentage, a dash where there is none."""
    return "–" if value is None else percent(value)


def draw_export(view: View, setup: Setup, comparison: Comparison) -> None:
    """Two files, and a note about the link."""
    table, page, _ = st.columns([1, 1, 2])
    table.download_button(
        t("Every token as CSV"),
        lambda: to_csv(comparison),
        "samples.csv",
        "text/csv",
        key="sampling_csv",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
    )
    source = t("{model} at step {step}", model=view.space.model, step=view.space.step)
    page.download_button(
        t("The texts as Markdown"),
        lambda: to_markdown(comparison, setup.prompt, source),
        "samples.md",
        "text/markdown",
        key="sampling_markdown",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
    )
    st.caption(
        t("The address of this page holds model, step, prompt, settings and seeds: opening it gives the same texts.")
    )
