"""Whether settings suit a corpus: what to begin with, and what does not fit."""

from pathlib import Path

import streamlit as st

from minigpt.config import TokenizerConfig
from minigpt.corpus.advice import Advice, advise
from minigpt.corpus.length_check import TooLong, too_long
from minigpt.presets import Preset
from minigpt.ui.base.text import tn
from minigpt.ui.shared import tokenizing
from minigpt.ui.shared.corpora import Choice, loaded


def advice_for(choice: Choice, config: TokenizerConfig | None = None) -> Advice:
    """Settings for a first run; with the tokenizer given, or the last one learned from it, or the one that suits it."""
    loaded(choice)  # makes the file of a shipped text, if it is not there yet
    if config is None:
        config = next(iter(tokenizing.known(choice)), None)
    advice = _advice(choice.path, choice.path.stat().st_mtime_ns, config, None, choice)
    learned = tokenizing.learned(choice, advice.tokenizer)
    if learned is None:
        return advice
    return _advice(choice.path, choice.path.stat().st_mtime_ns, advice.tokenizer, learned.longest, choice)


@st.cache_data(show_spinner=False, max_entries=64)
def _advice(path: Path, stamp: int, config: TokenizerConfig | None, longest: int | None, _choice: Choice) -> Advice:
    return advise(loaded(_choice), config, longest)


def beyond(choice: Choice, config: TokenizerConfig, context_length: int) -> TooLong | None:
    """The records that do not fit into the context; None before the tokenizer is learned."""
    learned = tokenizing.learned(choice, config)
    if learned is None:
        return None
    return too_long(loaded(choice), learned.tokenizer, context_length, learned.counted)


def fit_fault(choice: Choice, found: Preset) -> str:
    """Why whole records cannot be trained on in this context, and the ways on; "" when they can."""
    if found.training.mode == "windows":
        return ""
    long = beyond(choice, found.tokenizer, found.model.context_length)
    if long is None or not long.records:
        return ""
    return tn(
        "{count:,} of {total:,} records is longer than the context of {context} positions and needs {needed}. "
        "Under More settings, set the context length to {needed}, or batches of windows.",
        "{count:,} of {total:,} records are longer than the context of {context} positions, the longest needs {needed}."
        " Under More settings, set the context length to {needed}, or batches of windows.",
        count=len(long.records),
        total=len(loaded(choice).train) + len(loaded(choice).validation),
        context=found.model.context_length,
        needed=long.needed,
    )
