"""The tokenizer panel: what to learn, the merges as they come, and how far they compress the text."""

import streamlit as st

from minigpt.config import TOKENIZERS, TokenizerConfig
from minigpt.corpus.tokenizer_jobs.jobs import JobStatus, Learned
from minigpt.figures.corpus import pieces_chart
from minigpt.limits import limit
from minigpt.ui.base import messages
from minigpt.ui.base.text import plain, t, tn
from minigpt.ui.corpus import plan as corpus_plan
from minigpt.ui.shared import tokenizer_progress, tokenizing
from minigpt.ui.shared.corpora import Choice

FAULT = "corpus_tokenizer_fault"  # session: why a job could not begin
PIECES = 20  # the most frequent ones on show


def draw_choice(choice: Choice) -> None:
    """Kind and number of merges, for each corpus separately."""
    kind, merges = (corpus_plan.key_of(name, choice) for name in ("kind", "merges"))
    names = {"byte_bpe": t("byte-level BPE"), "chars": t("characters")}
    left, right, _ = st.columns([1.2, 1, 1.6], vertical_alignment="bottom")
    left.segmented_control(
        t("Tokenizer"),
        TOKENIZERS,
        key=kind,
        format_func=lambda name: names[name],
        required=True,
        persist_state="session",
    )
    if st.session_state[kind] == "byte_bpe":
        right.number_input(
            t("Merges"),
            0,
            limit("MINIGPT_MERGES"),
            step=32,
            key=merges,
            persist_state="session",
            help=t("Each joins the pair of neighbours that is most frequent, and makes the vocabulary larger by one."),
        )


def draw(choice: Choice, config: TokenizerConfig, learned: Learned | None) -> None:
    """What was learned; or the job that learns it, active or to begin."""
    if learned is not None:
        _learned(choice, config, learned)
    elif tokenizing.state(choice, config).status.active:
        tokenizer_progress.draw_progress(choice, config)
    else:
        _begin(choice, config)
    if kept := corpus_plan.known_tokenizers(choice):
        st.caption(plain(kept))


def _begin(choice: Choice, config: TokenizerConfig) -> None:
    state = tokenizing.state(choice, config)
    if state.status == JobStatus.FAILED:
        messages.problem(state.reason)
    elif state.status == JobStatus.INTERRUPTED:
        messages.notice(t("The process that was learning it ended too early."))
    if FAULT in st.session_state:
        messages.problem(st.session_state[FAULT])
    st.markdown(
        t(
            "This corpus is large: a separate process learns its tokenizer, here or when you start a run. "
            "It continues when you leave this page, and the tokenizer is kept."
        )
    )
    st.button(
        t("Learn this tokenizer"),
        key="corpus_learn",
        icon=":material/play_arrow:",
        on_click=_take_begin,
        args=(choice, config),
    )


def _take_begin(choice: Choice, config: TokenizerConfig) -> None:
    st.session_state.pop(FAULT, None)
    try:
        tokenizing.begin(choice, config)
    except ValueError as error:
        st.session_state[FAULT] = error


def _learned(choice: Choice, config: TokenizerConfig, learned: Learned) -> None:
    tokenizer, train = learned.tokenizer, learned.counted.train
    st.markdown(plain(_summary(config, learned)))
    if learned.merges:
        curve, table = st.columns([1, 1.2], gap="large")
        with curve:
            tokens = [merge.tokens for merge in learned.merges]
            tokenizer_progress.draw_curve(tokens, train.bytes, len(tokens))
        with table:
            title = t("The merges in the order in which they were learned")
            tokenizer_progress.draw_merges(tokenizer_progress.merge_rows(learned), title)
        return
    ids = train.counts.argsort(kind="stable")[::-1][:PIECES]
    labels = [tokenizer.piece_label(int(id)) for id in ids if train.counts[id]]
    st.caption(t("The most frequent pieces of the training texts"))
    chart = pieces_chart(labels, [train.counts[id] for id in ids if train.counts[id]])
    st.echarts_chart(chart, key="corpus_pieces", height=440, alt=t("The most frequent pieces"))


def _summary(config: TokenizerConfig, learned: Learned) -> str:
    """Vocabulary, how much of it is used, and what is only in validation texts."""
    known = learned.counted
    said = [
        t(
            "{size:,} ids, of which {covered:,} occur in the training texts "
            "({share:.0%} of those that a text can have).",
            size=known.vocab_size,
            covered=known.covered,
            share=known.coverage,
        )
    ]
    if config.kind == "byte_bpe" and len(learned.merges) < config.merges:
        found = {"found": len(learned.merges), "merges": config.merges}
        said.append(t("Only {found:,} of {merges:,} merges were learned: no pair was left.", **found))
    if known.validation_only:
        said.append(
            tn(
                "{count:,} id occurs only in validation texts: nothing teaches it.",
                "{count:,} ids occur only in validation texts: nothing teaches them.",
                count=known.validation_only,
            )
        )
    return " ".join(said)
