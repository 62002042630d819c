"""The records as they are, a part of either split at a time (of a continuous text, its lines), and as files."""

import re
import tempfile
from pathlib import Path

import pandas as pd
import streamlit as st

from minigpt.corpus.corpus import Corpus
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base.text import t
from minigpt.ui.shared.corpora import Choice, loaded

ROWS = 100  # on show at once
Row = tuple[int, int | None, str]  # number, tokens, text
HEIGHT = 320
_WITHIN = re.compile(r"(?<=[^·])·(?=[^·])")  # a single space between two characters that show


def draw(choice: Choice, learned: Learned | None) -> None:
    """A split to choose, where to begin, and the table."""
    corpus = loaded(choice)
    which, start = st.columns([2, 1], vertical_alignment="bottom")
    names = {"train": t("Training"), "validation": t("Validation")}
    split = which.segmented_control(
        t("Split"),
        list(names),
        key=f"corpus_shown_{choice.key}",
        default="train",
        format_func=lambda name: names[name],
        label_visibility="collapsed",
        required=True,
    )
    records = getattr(corpus, split)
    if not records:
        st.info(t("There is no validation record: the loss on unseen text is not available."), icon=":material/info:")
        return
    rows = _lines(corpus.hash, split, corpus) if corpus.is_one_text else _rows(corpus, split, learned)
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
        st.caption(t("{first:,} to {last:,} of {count:,}.", first=first, last=first - 1 + len(part), count=count))


def draw_downloads(choice: Choice, learned: Learned | None) -> None:
    """The prepared corpus and the tokenizer as files, made when they are asked for."""
    corpus = loaded(choice)
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in corpus.name)[:60] or "corpus"
    with st.container(horizontal=True):
        st.download_button(
            t("Prepared corpus"),
            lambda: corpus.to_json().encode(),
            f"{name}.json",
            "application/json",
            key="corpus_download",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            t("Tokenizer"),
            lambda: _tokenizer_file(learned),
            f"{name}-tokenizer.json",
            "application/json",
            key="corpus_tokenizer_download",
            icon=":material/download:",
            on_click="ignore",
            disabled=learned is None,
        )
    st.markdown(
        t(
            "The corpus file holds both splits and every text unchanged. Upload it to this page again, on any "
            "computer, or train on it with `python -m minigpt train --corpus`."
        )
    )


def _tokenizer_file(learned: Learned | None) -> bytes:
    assert learned is not None  # the button is disabled without one
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        learned.tokenizer.save(path)
        return path.read_bytes()


def readable(text: str, most: int = 300) -> str:
    """The beginning of `text` for a table cell: odd characters by their labels, single inner spaces as spaces.

    More than `most` characters end in an ellipsis.

    >>> readable("two  spaces, a\\ttab and an end ")
    'two··spaces, a‹TAB›tab and an end·'
    """
    shown = _WITHIN.sub(" ", visible_label(text[:most].encode("utf-8", errors="replace")))
    return f"{shown} …" if len(text) > most else shown


def _rows(corpus: Corpus, split: str, learned: Learned | None) -> list[Row]:
    lengths = getattr(learned.counted, split).lengths if learned else None
    return [
        (number, None if lengths is None else int(lengths[number - 1]), record.text)
        for number, record in enumerate(getattr(corpus, split), start=1)
    ]


@st.cache_resource(show_spinner=False, max_entries=4)
def _lines(corpus_hash: str, split: str, _corpus: Corpus) -> list[Row]:
    """The lines of one text that are not blank, with their numbers."""
    lines = getattr(_corpus, split)[0].text.split("\n")
    return [(number, None, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _cells(row: Row) -> dict[str, int | str]:
    number, tokens, text = row
    cells: dict[str, int | str] = {t("number"): number}
    if tokens is not None:
        cells[t("tokens")] = tokens
    return cells | {t("text"): readable(text)}
