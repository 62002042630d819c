"""A tokenizer while a process learns it: how far it is, what it merged last, and how to stop it."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from minigpt.config import TokenizerConfig
from minigpt.tokenizers.labels import visible_label
from minigpt.tokenizers.learning import Learned
from minigpt.ui import tokenizing
from minigpt.ui.corpora import Choice
from minigpt.ui.text import plain, t

LAST = 12  # merges on show while they come
STAGES = {
    "reading": "Reading the corpus.",
    "learning": "{done} of {merges} merges; {ratio:.2f} bytes a token so far.",
    "counting": "Counting the tokens of every record.",
}


def draw_progress(choice: Choice, config: TokenizerConfig, on_cancel: Callable[[], None] | None = None) -> None:
    """Polled twice a second; when it is over the whole page runs once more."""
    st.fragment(_panel, run_every=0.5)(choice, config, on_cancel)


def merge_rows(learned: Learned) -> list[dict]:
    """The merges of a finished tokenizer, as merges.jsonl has them."""
    return [vars(merge) | {"piece": learned.tokenizer.piece_bytes(merge.id).hex()} for merge in learned.merges]


def merges_table(rows: list[dict]) -> pd.DataFrame:
    """Merges as rows: number, the new piece, its two parts' ids, how often the pair stood there, tokens then."""
    columns = {
        t("merge"): [row["rank"] + 1 for row in rows],
        t("piece"): [visible_label(bytes.fromhex(row["piece"])) for row in rows],
        t("pair"): [f"{row['left']} + {row['right']} → {row['id']}" for row in rows],
        t("count"): [row["count"] for row in rows],
        t("tokens then"): [row["tokens"] for row in rows],
    }
    return pd.DataFrame(columns)


def _panel(choice: Choice, config: TokenizerConfig, on_cancel: Callable[[], None] | None) -> None:
    state = tokenizing.state(choice, config)
    if not state.going:
        st.rerun()
    rows = tokenizing.merges_so_far(choice, config)
    done = len(rows) if config.kind == "byte_bpe" else 0
    ratio = state.bytes / rows[-1]["tokens"] if rows else 1.0
    said = t(STAGES[state.status], done=f"{done:,}", merges=f"{config.merges:,}", ratio=ratio)
    bar, cancel = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(1.0, done / max(1, config.merges)), text=plain(said))
    cancel.button(
        t("Cancel"), key="tokenizer_cancel", icon=":material/close:", width="stretch",
        on_click=_cancel, args=(choice, config, on_cancel),
    )  # fmt: skip
    if rows:
        st.dataframe(merges_table(rows[-LAST:][::-1]), hide_index=True, width="stretch", key="tokenizer_live")


def _cancel(choice: Choice, config: TokenizerConfig, on_cancel: Callable[[], None] | None) -> None:
    tokenizing.cancel(choice, config)
    if on_cancel:
        on_cancel()
