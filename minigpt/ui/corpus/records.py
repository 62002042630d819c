"""The records as they are: a part of either split at a time; of a continuous text, its lines."""

import pandas as pd
import streamlit as st

from minigpt.corpus.corpus import Corpus
from minigpt.corpus.splitting import Split
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.ui.base.text import plain, t
from minigpt.ui.shared.corpora import Choice, loaded
from minigpt.ui.shared.corpus_texts import is_one_text, readable

ROWS = 100  # on show at once
SPLITS = ("train", "validation")
HEIGHT = 320


def draw(choice: Choice, learned: Learned | None) -> None:
    """A split to choose, where to begin, and the table."""
    corpus = loaded(choice)
    which, start = st.columns([2, 1], vertical_alignment="bottom")
    names = {"train": t("Training"), "validation": t("Validation")}
    split = which.segmented_control(
        t("Split"), SPLITS, key=f"corpus_shown_{choice.key}", default="train", format_func=names.get,
        label_visibility="collapsed", required=True,
    )  # fmt: skip
    records = getattr(corpus, split)
    if not records:
        st.info(t("No record validates: the loss on unseen text is not available."), icon=":material/info:")
        return
    rows = _lines(corpus.hash, split, corpus) if is_one_text(corpus) else _rows(corpus, split, learned)
    count = len(rows)
    first = 1
    if count > ROWS:
        first = start.number_input(t("From number"), 1, count, 1, ROWS, key=f"corpus_from_{choice.key}_{split}")
    part = rows[first - 1 : first - 1 + ROWS]
    table = pd.DataFrame([_cells(row) for row in part])
    widths = {t("number"): 70, t("tokens"): 70, t("text"): 620}
    config = {name: st.column_config.Column(width=width) for name, width in widths.items() if name in table}
    st.dataframe(table, hide_index=True, width="stretch", height=HEIGHT, column_config=config, key="corpus_table")
    if count > ROWS:
        text = "{first} to {last} of {count}."
        st.caption(t(text, first=f"{first:,}", last=f"{first - 1 + len(part):,}", count=f"{count:,}"))


def draw_duplicates(split: Split) -> None:
    """What was grouped, and what leaks."""
    if split.kind != "continuous":
        text = "{distinct} different texts; {duplicates} duplicates {fate}."
        fate = t("left out") if split.dropped else t("grouped with the first of their text")
        values = {"distinct": f"{split.distinct:,}", "duplicates": f"{split.duplicates:,}"}
        st.markdown(plain(t(text, fate=fate, **values)))
    if split.leaked:
        text = "{leaked} validation records stand in the training split too: their loss says nothing about unseen text."
        st.warning(plain(t(text, leaked=f"{split.leaked:,}")), icon=":material/warning:")


def _rows(corpus: Corpus, split: str, learned: Learned | None) -> list[tuple]:
    lengths = getattr(learned.counted, split).lengths if learned else None
    return [
        (number, None if lengths is None else int(lengths[number - 1]), record.text)
        for number, record in enumerate(getattr(corpus, split), start=1)
    ]


@st.cache_resource(show_spinner=False, max_entries=4)
def _lines(hash: str, split: str, _corpus: Corpus) -> list[tuple]:
    """The lines of one text that are not blank, with their numbers."""
    lines = getattr(_corpus, split)[0].text.split("\n")
    return [(number, None, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _cells(row: tuple) -> dict:
    number, tokens, text = row
    counted = {} if tokens is None else {t("tokens"): tokens}
    return {t("number"): number} | counted | {t("text"): readable(text)}
