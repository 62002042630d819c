"""Which records validate: the share, the seed, and what happens to duplicates."""

import streamlit as st

from minigpt.corpus.splitting import DUPLICATES, SHARE, Split
from minigpt.ui.base.text import plain, t
from minigpt.ui.corpus import own as corpus_own
from minigpt.ui.corpus import records as corpus_records
from minigpt.ui.shared.corpora import Choice, loaded
from minigpt.ui.shared.corpus_texts import is_one_text

MOST_SHARE = 0.5


def draw(choice: Choice, split: Split | None) -> None:
    """The controls of an own corpus and what they give; a shipped one has a split that stays."""
    if split is None:
        corpus = loaded(choice)
        text = "{train} training and {validation} validation records. A shipped corpus keeps its split, "
        if is_one_text(corpus):
            text = "One text, whose end validates. A shipped corpus keeps its split, "
        text += "so that all runs on it can be compared; bring a file of your own to split it otherwise."
        sizes = {"train": f"{len(corpus.train):,}", "validation": f"{len(corpus.validation):,}"}
        st.markdown(plain(t(text, **sizes)))
        return
    controls, found = st.columns([1, 1.4], gap="large")
    with controls:
        _controls(choice, split)
    with found:
        st.markdown(plain(_said(split)))
        corpus_records.draw_duplicates(split)


def _said(split: Split) -> str:
    corpus = split.corpus
    if split.no_validation:
        return t("All of it trains; nothing validates: {reason}.", reason=split.no_validation)
    if split.kind == "continuous":
        return t("The text is cut once, {cut}. What follows validates.", cut=split.cut)
    text = "{train} records train, {validation} validate ({share:.1%}). "
    text += "Which ones depends on the seed and the texts alone."
    share = len(corpus.validation) / (len(corpus.train) + len(corpus.validation))
    sizes = {"train": f"{len(corpus.train):,}", "validation": f"{len(corpus.validation):,}"}
    return t(text, share=share, **sizes)


def _controls(choice: Choice, split: Split) -> None:
    options = corpus_own.choices(choice).split
    if split.kind == "file" or options.anew:
        _put(choice, "anew", options.anew)
        st.toggle(t("Split anew, in place of the file's own split"), key=_key(choice, "anew"),
                  on_change=_take, args=(choice, "anew"))  # fmt: skip
        if split.kind == "file":
            return
    _put(choice, "share", SHARE if options.share is None else options.share)
    st.slider(
        t("Validation share"), 0.0, MOST_SHARE, step=0.01, key=_key(choice, "share"), on_change=_take,
        args=(choice, "share"), help=t("Of the records, or of the characters of a continuous text."),
    )  # fmt: skip
    if split.kind == "continuous":
        return
    _put(choice, "seed", options.seed)
    st.number_input(t("Seed of the split"), 0, 2**31 - 1, step=1, key=_key(choice, "seed"), on_change=_take,
                    args=(choice, "seed"))  # fmt: skip
    _put(choice, "duplicates", options.duplicates)
    names = {
        "together": t("on one side together"),
        "drop": t("keep the first of each text"),
        "apart": t("each by itself (leaks)"),
    }
    st.radio(t("Identical texts"), DUPLICATES, key=_key(choice, "duplicates"), format_func=names.get,
             on_change=_take, args=(choice, "duplicates"))  # fmt: skip


def _key(choice: Choice, field: str) -> str:
    return f"corpus_split_{field}_{choice.key}"


def _put(choice: Choice, field: str, value) -> None:
    st.session_state[_key(choice, field)] = value


def _take(choice: Choice, field: str) -> None:
    corpus_own.change_split(choice, **{field: st.session_state[_key(choice, field)]})
