"""The vocabulary panel of the tokens page: the tokenizer in numbers, and its ids; many are searched and paged."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.shared.pieces import LISTED, labels_of, search
from minigpt.ui.tokens.token_facts import vocabulary_rows

PAGE = 200  # ids of a large vocabulary in the table at once


def vocabulary(view: View) -> None:
    """Metrics, then every id of a small vocabulary or a page of a large one."""
    _metrics(view)
    size = view.tokenizer.vocab_size
    if view.model.config.vocab_size > size:
        st.caption(
            t(
                "The model has {ids:,} ids, its tokenizer only the first {known:,}; it never draws one of the others.",
                ids=view.model.config.vocab_size,
                known=size,
            )
        )
    ids = range(size) if size <= LISTED else _page(view)
    st.dataframe(_table(view, ids), key="vocabulary", hide_index=True, width="stretch", height=460)
    how = t("Search with the magnifying glass on the table, sort by clicking a heading.")
    mark = t(
        "Tokenizer fingerprint: {fingerprint}. Equal fingerprints mean equal ids; every checkpoint names the one it "
        "needs.",
        fingerprint=view.tokenizer.fingerprint,
    )
    st.caption(f"{how} {mark}" if size <= LISTED else mark)


def _metrics(view: View) -> None:
    tokenizer, size, pieces = view.tokenizer, len(view.space.text.encode()), view.length - 1
    parts = {
        "byte_bpe": t("256 bytes, 3 special ids, the merges"),
        "gpt2": t("256 bytes, the merges, 1 special id"),
        "chars": t("the characters of its alphabet, 3 special ids"),
    }
    cells = st.columns(4)
    cells[0].metric(t("Vocabulary"), f"{tokenizer.vocab_size:,}", help=parts[tokenizer.kind])
    cells[1].metric(t("Merges"), f"{len(tokenizer.merges):,}")
    cells[2].metric(
        t("Bytes per token"),
        f"{size / pieces:.3f}",
        help=t("{size} bytes / {tokens} tokens, without BOS and EOS", size=size, tokens=pieces),
    )
    cells[3].metric(t("Ids in this record"), f"{len(set(view.ids + view.targets)):,}", help=t("BOS and EOS counted"))


def _page(view: View) -> Sequence[int]:
    """The ids that a search finds, or those of one page."""
    size = view.tokenizer.vocab_size
    box, page = st.columns([2, 1])
    hint = t("An id, or part of a piece")
    query = box.text_input(t("Search the vocabulary"), key="vocabulary_search", placeholder=hint)
    last = (size - 1) // PAGE * PAGE
    start = page.number_input(t("From id"), 0, last, step=PAGE, key="vocabulary_from", disabled=bool(query))
    if not query:
        st.caption(t("Ids {first} to {last} of {size:,}", first=start, last=min(size, start + PAGE) - 1, size=size))
        return range(start, min(size, start + PAGE))
    found = [token for token in search(labels_of(view), query) if token < size]
    st.caption(t("Pieces found: {found:,}, shown: {shown}", shown=min(PAGE, len(found)), found=len(found)))
    return found[:PAGE]


def _table(view: View, ids: Sequence[int]) -> pd.DataFrame:
    used = Counter(view.ids + view.targets[-1:])
    rows = [(*row, used[row[0]]) for row in vocabulary_rows(view.tokenizer, ids)]
    return pd.DataFrame(rows, columns=[t("id"), t("piece"), t("bytes"), t("made by"), t("in this record")])
