"""All pieces of a vocabulary by their labels, found by id or by a part of the piece."""

from collections.abc import Sequence

import streamlit as st

from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base.view import View

LISTED = 1000  # ids of a vocabulary that is offered as a whole; a larger one is searched


def labels_of(view: View) -> tuple[str, ...]:
    """The label of every id of the model, by id."""
    return _labels(view.tokenizer.fingerprint, view.model.config.vocab_size, view.tokenizer)


@st.cache_resource(show_spinner=False, max_entries=8)
def _labels(fingerprint: str, size: int, _tokenizer: Tokenizer) -> tuple[str, ...]:
    known = min(size, _tokenizer.vocab_size)  # a second for 50,000 ids, so once a tokenizer
    return (*map(_tokenizer.piece_label, range(known)), *(f"‹id {token}›" for token in range(known, size)))


@st.cache_resource(show_spinner=False, max_entries=8)
def byte_ids(fingerprint: str, _tokenizer: Tokenizer) -> dict[int, int]:
    """The id of each single byte, for tokenizers that begin with bytes."""
    found = ((_tokenizer.piece_bytes(token), token) for token in range(_tokenizer.vocab_size))
    return {piece[0]: token for piece, token in found if len(piece) == 1 and _tokenizer.merge_rank(token) is None}


def search(labels: Sequence[str], query: str) -> list[int]:
    """Ids whose number is `query`, then those whose label is it, begins with it, or holds it; each by id.

    A typed space finds the `·` that stands for it.

    >>> search(["a", "ba", "·a", "ab"], "a"), search(["a", "ba", "·a", "ab"], " a"), search(["a", "b"], "1")
    ([0, 3, 1, 2], [2], [1])
    """
    if not query:
        return []
    number = [int(query)] if query.isascii() and query.isdecimal() and int(query[:12]) < len(labels) else []
    found: tuple[list[int], ...] = ([], [], [])
    for wanted in dict.fromkeys((query, visible_label(query.encode()))):
        for token, label in enumerate(labels):
            if wanted in label:
                found[0 if label == wanted else 1 if label.startswith(wanted) else 2].append(token)
    return list(dict.fromkeys((*number, *found[0], *found[1], *found[2])))
