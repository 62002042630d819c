"""What a run on the corpus would be: preset, tokenizer, and how its records become batches."""

from dataclasses import replace

import streamlit as st

from minigpt.config import TokenizerConfig
from minigpt.corpus.advice import Advice
from minigpt.presets import PRESETS
from minigpt.ui.base.text import t
from minigpt.ui.shared import tokenizing
from minigpt.ui.shared.corpora import Choice
from minigpt.ui.shared.corpus_fit import advice_for

REASONS = {
    "short": "Short records suit it.",
    "long": "A long text suits it, read in windows.",
    "han": "Chinese suits it, one id a character.",
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


def choose(choice: Choice, **changes) -> None:
    """Choose mode or context in place of the advice, in a callback."""
    chosen = key_of("chosen", choice)
    st.session_state[chosen] = st.session_state.get(chosen, {}) | changes


def said(plan: Advice) -> str:
    """The plan in a sentence or two."""
    merges = t("byte-level BPE with {merges} merges", merges=f"{plan.tokenizer.merges:,}")
    kind = merges if plan.tokenizer.kind == "byte_bpe" else t("characters")
    batches = "whole records in {context} positions" if plan.mode == "records" else "windows of {context} positions"
    text = "On the Training page, with preset {preset} ({about}), {kind}, and batches of {batches}. {reason} "
    text += "Everything can be changed there."
    values = {"preset": plan.preset, "about": t(PRESETS[plan.preset].about), "reason": t(REASONS[plan.reason])}
    return t(text, kind=kind, batches=t(batches, context=plan.context_length), **values)


def known_tokenizers(choice: Choice) -> str:
    """What was learned from the corpus so far, in words; "" before."""
    names = [
        t("{merges} merges", merges=f"{config.merges:,}") if config.kind == "byte_bpe" else t("characters")
        for config in tokenizing.known(choice)
    ]
    return t("Learned and kept: {names}.", names=", ".join(names)) if names else ""


def key_of(name: str, choice: Choice) -> str:
    """The widget key of a choice on the page: each corpus has its own."""
    return f"corpus_{name}_{choice.key}"
