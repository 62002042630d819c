"""Which records are for validation: the share, the seed, and what happens to duplicates."""

import streamlit as st

from minigpt.corpus.splitting import DUPLICATES, SHARE, CorpusSplit
from minigpt.ui.base.text import plain, t, tn
from minigpt.ui.corpus import own as corpus_own
from minigpt.ui.shared.corpora import Choice, loaded

MOST_SHARE = 0.5


def draw(choice: Choice, split: CorpusSplit | None) -> None:
    """The controls of a reader's corpus and what they give; a shipped one has a fixed split."""
    if split is None:
        _shipped(choice)
        return
    controls, found = st.columns([1, 1.4], gap="large")
    with controls:
        _controls(choice, split)
    with found:
        st.markdown(plain(_summary(split)))
        _duplicates(split)


def _shipped(choice: Choice) -> None:
    corpus = loaded(choice)
    if corpus.is_one_text:
        text = t("One text; its end is for validation.")
    else:
        sizes = {"train": len(corpus.train), "validation": len(corpus.validation)}
        text = t("Records for training: {train:,}; for validation: {validation:,}.", **sizes)
    st.markdown(plain(text))
    st.markdown(
        t(
            "A shipped corpus keeps its split, so that all runs on it can be compared; "
            "upload your own file to split it in another way."
        )
    )


def _summary(split: CorpusSplit) -> str:
    corpus = split.corpus
    if split.no_validation:
        return t("All of it is for training, none for validation: {reason}.", reason=split.no_validation)
    if split.cut:
        return t("{cut} The rest is for validation.", cut=split.cut)
    train, validation = len(corpus.train), len(corpus.validation)
    return t(
        "Records for training: {train:,}; for validation: {validation:,} ({share:.1%}). "
        "Which ones depends only on the seed and the texts.",
        train=train,
        validation=validation,
        share=validation / (train + validation),
    )


def _duplicates(split: CorpusSplit) -> None:
    """What was grouped, and what leaks."""
    if split.kind != "continuous":
        values = {"distinct": split.distinct, "duplicates": split.duplicates}
        if split.dropped:
            text = t("Different texts: {distinct:,}; duplicates: {duplicates:,}, which are left out.", **values)
        else:
            text = t(
                "Different texts: {distinct:,}; duplicates: {duplicates:,}, each grouped with the first of its text.",
                **values,
            )
        st.markdown(plain(text))
    if split.leaked:
        text = tn(
            "{count:,} validation record is also in the training split: its loss says nothing about unseen text.",
            "{count:,} validation records are also in the training split: their loss says nothing about unseen text.",
            count=split.leaked,
        )
        st.warning(plain(text), icon=":material/warning:")


def _controls(choice: Choice, split: CorpusSplit) -> None:
    options = corpus_own.choices(choice).split
    if split.kind == "file" or options.resplit:
        _put(choice, "resplit", options.resplit)
        st.toggle(
            t("Make a new split, in place of the file's own split"),
            key=_key(choice, "resplit"),
            on_change=_take,
            args=(choice, "resplit"),
        )
        if split.kind == "file":
            return
    _put(choice, "share", SHARE if options.share is None else options.share)
    st.slider(
        t("Validation share"),
        0.0,
        MOST_SHARE,
        step=0.01,
        key=_key(choice, "share"),
        on_change=_take,
        args=(choice, "share"),
        help=t("Of the records, or of the characters of a continuous text."),
    )
    if split.kind == "continuous":
        return
    _put(choice, "seed", options.seed)
    st.number_input(
        t("Seed of the split"), 0, 2**31 - 1, step=1, key=_key(choice, "seed"), on_change=_take, args=(choice, "seed")
    )
    _put(choice, "duplicates", options.duplicates)
    names = {
        "together": t("together on one side"),
        "drop": t("keep the first of each text"),
        "apart": t("each alone (leaks)"),
    }
    st.radio(
        t("Identical texts"),
        DUPLICATES,
        key=_key(choice, "duplicates"),
        format_func=lambda name: names[name],
        on_change=_take,
        args=(choice, "duplicates"),
    )


def _key(choice: Choice, field: str) -> str:
    return f"corpus_split_{field}_{choice.key}"


def _put(choice: Choice, field: str, value: object) -> None:
    st.session_state[_key(choice, field)] = value


def _take(choice: Choice, field: str) -> None:
    corpus_own.change_split(choice, **{field: st.session_state[_key(choice, field)]})
