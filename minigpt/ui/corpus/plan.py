"""What a run on the corpus would be: preset, tokenizer, and how its records become batches."""

from dataclasses import replace

import streamlit as st

from minigpt.config import TokenizerConfig
from minigpt.corpus.advice import Advice
from minigpt.presets import PRESETS
from minigpt.sentences import say
from minigpt.ui.base.text import t, translate
from minigpt.ui.shared import tokenizing
from minigpt.ui.shared.corpora import Choice
from minigpt.ui.shared.corpus_fit import advice_for

REASONS = {
    "short": say("Short records suit it."),
    "long": say("A long text, read in windows, suits it."),
    "han": say("Chinese text, one id a character, suits it."),
}


def tokenizer_of(choice: Choice) -> TokenizerConfig:
    """The tokenizer chosen on the page.

    At first it is the one that a job learns now, else the last one learned, else the one that suits the corpus.
    """
    kind, merges = (key_of(name, choice) for name in ("kind", "merges"))
    if kind not in st.session_state:
        first = tokenizing.under_way(choice) or advice_for(choice).tokenizer
        st.session_state[kind] = first.kind
        st.session_state.setdefault(merges, first.merges if first.kind == "byte_bpe" else 256)
    config = TokenizerConfig(st.session_state[kind] or "byte_bpe", st.session_state[merges])
    return config if config.kind == "byte_bpe" else TokenizerConfig("chars")


def of(choice: Choice, config: TokenizerConfig) -> Advice:
    """The advice for this tokenizer, with the mode and the context that were chosen instead, if any."""
    return replace(advice_for(choice, config), **st.session_state.get(key_of("chosen", choice), {}))


def choose(choice: Choice, **changes: str | int) -> None:
    """Choose mode or context in place of the advice, in a callback."""
    chosen = key_of("chosen", choice)
    st.session_state[chosen] = st.session_state.get(chosen, {}) | changes


def sentences(plan: Advice) -> str:
    """The plan in sentences."""
    said = [
        t("On the Training page it begins with the preset {preset}.", preset=plan.preset),
        translate(PRESETS[plan.preset].about),
        t("Tokenizer: byte-level BPE with {merges:,} merges.", merges=plan.tokenizer.merges)
        if plan.tokenizer.kind == "byte_bpe"
        else t("Tokenizer: characters."),
        t("Batches: whole records in {context} positions.", context=plan.context_length)
        if plan.mode == "records"
        else t("Batches: windows of {context} positions.", context=plan.context_length),
        translate(REASONS[plan.reason]),
        t("Everything can be changed there."),
    ]
    return " ".join(said)


def known_tokenizers(choice: Choice) -> str:
    """What was learned from the corpus so far; "" before."""
    known = tokenizing.known(choice)
    merges = ", ".join(f"{config.merges:,}" for config in known if config.kind == "byte_bpe")
    said = [t("Learned and kept, by number of merges: {merges}.", merges=merges)] if merges else []
    if any(config.kind != "byte_bpe" for config in known):
        said.append(t("A tokenizer of characters is kept."))
    return " ".join(said)


def key_of(name: str, choice: Choice) -> str:
    """The widget key of a choice on the page: each corpus has its own."""
    return f"corpus_{name}_{choice.key}"
