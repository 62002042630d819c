"""A tokenizer while a process learns it: how far it is, what it merged last, and how to stop it."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from minigpt.config import TokenizerConfig
from minigpt.corpus.tokenizer_jobs.jobs import JobStatus, Learned
from minigpt.figures.corpus import compression_chart
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base.text import plain, t
from minigpt.ui.shared import tokenizing
from minigpt.ui.shared.corpora import Choice

LAST = 12  # merges on show while they come
HEIGHT = 300


def draw_progress(choice: Choice, config: TokenizerConfig, on_cancel: Callable[[], None] | None = None) -> None:
    """Polled twice a second; when it is over the whole page runs once more."""
    st.fragment(_panel, run_every=0.5)(choice, config, on_cancel)


def merge_rows(learned: Learned) -> list[dict]:
    """The merges of a finished tokenizer, as merges.jsonl has them."""
    return [vars(merge) | {"piece": learned.tokenizer.piece_bytes(merge.id).hex()} for merge in learned.merges]


def draw_curve(tokens: list[int], size: int, wanted: int) -> None:
    """Bytes a token after each merge: `tokens` left of `size` bytes of training text."""
    st.caption(t("Bytes a token after each merge, on the training texts"))
    ratio = size / tokens[-1] if tokens else 1.0
    alt = t("Compression: {ratio:.2f} bytes a token after {merges} merges", ratio=ratio, merges=len(tokens))
    st.echarts_chart(
        compression_chart(tokens, size, wanted, t("merges")), key="tokenizer_curve", height=HEIGHT, alt=alt
    )


def draw_merges(rows: list[dict], title: str) -> None:
    """Merges as rows: number, the new piece, the ids of its parts, how often the pair occurred, tokens then."""
    columns = {
        t("merge"): [row["rank"] + 1 for row in rows],
        t("piece"): [visible_label(bytes.fromhex(row["piece"])) for row in rows],
        t("pair"): [f"{row['left']} + {row['right']} → {row['id']}" for row in rows],
        t("count"): [row["count"] for row in rows],
        t("tokens then"): [row["tokens"] for row in rows],
    }
    plain_number = st.column_config.NumberColumn(format="localized")
    st.caption(title)
    st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        width="stretch",
        height=HEIGHT,
        key="tokenizer_merges",
        column_config={t("count"): plain_number, t("tokens then"): plain_number},
    )


def _panel(choice: Choice, config: TokenizerConfig, on_cancel: Callable[[], None] | None) -> None:
    state = tokenizing.state(choice, config)
    if not state.status.active:
        st.rerun()
    rows = tokenizing.merges_so_far(choice, config)
    done = len(rows) if config.kind == "byte_bpe" else 0
    ratio = state.size / rows[-1]["tokens"] if rows else 1.0
    bar, cancel = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(1.0, done / max(1, config.merges)), text=plain(_said(state.status, done, config.merges, ratio)))
    cancel.button(
        t("Cancel"),
        key="tokenizer_cancel",
        icon=":material/close:",
        width="stretch",
        on_click=_cancel,
        args=(choice, config, on_cancel),
    )
    if rows:
        curve, table = st.columns([1, 1.2], gap="large")
        with curve:
            draw_curve([row["tokens"] for row in rows], state.size, config.merges)
        with table:
            draw_merges(rows[-LAST:][::-1], t("The last merges, the newest first"))


def _said(status: JobStatus, done: int, merges: int, ratio: float) -> str:
    if status == JobStatus.READING:
        return t("Reading the corpus.")
    if status == JobStatus.COUNTING:
        return t("Counting the tokens of every record.")
    return t("{done:,} of {merges:,} merges; {ratio:.2f} bytes a token so far.", done=done, merges=merges, ratio=ratio)


def _cancel(choice: Choice, config: TokenizerConfig, on_cancel: Callable[[], None] | None) -> None:
    tokenizing.cancel(choice, config)
    if on_cancel:
        on_cancel()
