"""Records of a model's own corpus: to compare its texts with, and to try as the record of the pages."""

from collections.abc import Iterator, Sequence
from itertools import islice

import streamlit as st

from minigpt.corpus.corpus import Record
from minigpt.corpus.library import FIRST, bundled
from minigpt.inspection.sources import source_run
from minigpt.presets import PRESETS
from minigpt.tokenizers.base import Tokenizer

MOST = 40  # records offered
CHINESE = "chinese-lines"  # of an untrained model of characters


def training_records(name: str) -> tuple[Record, ...]:
    """What the model of a source was trained on; without a run, what the project ships for a model of its kind."""
    run = source_run(name)
    return _records(name, "" if run is None else run.info.corpus_hash)


@st.cache_resource(show_spinner=False, max_entries=4)
def _records(name: str, corpus_hash: str) -> tuple[Record, ...]:
    run = source_run(name)
    if run is not None:
        return run.corpus().train
    characters = name in PRESETS and PRESETS[name].tokenizer.kind == "chars"
    return bundled(CHINESE if characters else FIRST).corpus().train


def fitting(texts: Sequence[str], tokenizer: Tokenizer, context_length: int, most: int = MOST) -> list[str]:
    """The first `most` texts that the tokenizer can write, a long one down to a beginning that fits.

    >>> fitting(["red", "a b c d"], ByteBPE(), context_length=5)
    ['red', 'a b']
    """
    beginnings = (beginning(text, tokenizer, context_length) for text in texts)
    return list(islice(filter(None, dict.fromkeys(beginnings)), most))


def beginning(text: str, tokenizer: Tokenizer, context_length: int) -> str:
    """The text itself if it fits, else a beginning of it that ends at a line or a space if it can; "" if none fits."""
    text = text[: 16 * context_length]  # a piece of sixteen characters each would be a surprise
    try:
        if _fits(text, tokenizer, context_length):
            return text
    except ValueError:  # a character without an id
        return ""
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(text[:middle], tokenizer, context_length) else (low, middle)
    return next((cut for cut in _cuts(text[:low]) if cut), "")


def _cuts(text: str) -> Iterator[str]:
    """Beginnings of `text` that end well, the best first."""
    for border in ("\n", " "):
        cut = text[: text.rfind(border) + 1].rstrip()
        if 2 * len(cut) >= len(text):
            yield cut
    yield text


def _fits(text: str, tokenizer: Tokenizer, context_length: int) -> bool:
    return bool(text) and len(tokenizer.encode(text)) < context_length
