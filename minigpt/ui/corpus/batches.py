"""How records become batches: whole in a context they fit into, or as windows of the text laid end to end."""

import pandas as pd
import streamlit as st

from minigpt.config import MODES
from minigpt.corpus.advice import Advice
from minigpt.corpus.length_check import TooLong
from minigpt.corpus.statistics import histogram
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.figures.corpus import lengths_chart, pieces_chart
from minigpt.ui.base.text import plain, t, tn
from minigpt.ui.corpus import plan as corpus_plan
from minigpt.ui.corpus.records import readable
from minigpt.ui.shared import corpus_fit
from minigpt.ui.shared.corpora import Choice, loaded

MOST_CONTEXT = 1024
HEIGHT = 340
PIECES = 14
SHOWN = 200  # too long records in the table; all are counted


def draw_lengths(learned: Learned | None, plan: Advice) -> None:
    """Tokens of each record, those beyond the context in amber; of one text, its most frequent pieces."""
    if learned is None:
        st.info(t("Learn the tokenizer, below, to see the text in its tokens."), icon=":material/bar_chart:")
        return
    lengths = learned.counted.train.lengths
    if len(lengths) == 1:
        _frequent_pieces(learned)
        return
    counts, edges = histogram(lengths)
    st.caption(t("Training records by their tokens"))
    chart = lengths_chart(
        counts.tolist(), edges.tolist(), plan.context_length if plan.mode == "records" else None, t("tokens")
    )
    alt = t("Tokens of the training records: {least} to {most}", least=int(lengths.min()), most=int(lengths.max()))
    st.echarts_chart(chart, key="corpus_lengths", height=HEIGHT, alt=alt)


def _frequent_pieces(learned: Learned) -> None:
    """Of one text: the pieces that occur most often."""
    used = learned.counted.train.counts
    ids = [int(token) for token in used.argsort(kind="stable")[::-1][:PIECES] if used[token]]
    st.caption(t("The most frequent pieces of the training text"))
    chart = pieces_chart([learned.tokenizer.piece_label(token) for token in ids], [int(used[token]) for token in ids])
    st.echarts_chart(chart, key="corpus_frequent", height=HEIGHT, alt=t("The most frequent pieces"))


def draw(choice: Choice, plan: Advice, learned: Learned | None) -> None:
    """Mode and context of the run to come, and the records that do not fit."""
    mode, context = (corpus_plan.key_of(name, choice) for name in ("mode", "context"))
    st.session_state[mode], st.session_state[context] = plan.mode, plan.context_length
    names = {"records": t("whole records"), "windows": t("windows of the text")}
    left, right, _ = st.columns([1.4, 1, 1.4], vertical_alignment="bottom")
    left.segmented_control(
        t("Batches of"),
        MODES,
        key=mode,
        format_func=lambda name: names[name],
        required=True,
        on_change=_take,
        args=(choice, mode, "mode"),
    )
    right.number_input(
        t("Context length"),
        1,
        MOST_CONTEXT,
        step=1,
        key=context,
        on_change=_take,
        args=(choice, context, "context_length"),
    )
    if plan.mode == "windows":
        st.markdown(
            t(
                "Windows of {context} neighboring tokens take texts of any length: nothing is cut off, "
                "and each pair of neighbors is learned.",
                context=plan.context_length,
            )
        )
        return
    long = corpus_fit.beyond(choice, plan.tokenizer, plan.context_length)
    if learned is None or long is None:
        st.markdown(t("Which records fit is known when the tokenizer is learned."))
        return
    if not long.records:
        st.markdown(
            t(
                "Every record fits; the longest needs {needed} of {context} positions.",
                needed=long.needed,
                context=plan.context_length,
            )
        )
        return
    _too_long(choice, long, plan)


def _too_long(choice: Choice, long: TooLong, plan: Advice) -> None:
    text = tn(
        "{count:,} of {total:,} records does not fit into {context} positions. Records are never cut; choose one of:",
        "{count:,} of {total:,} records do not fit into {context} positions. Records are never cut; choose one of:",
        count=len(long.records),
        total=len(loaded(choice).train) + len(loaded(choice).validation),
        context=plan.context_length,
    )
    st.warning(plain(text), icon=":material/straighten:")
    with st.container(horizontal=True):
        if long.needed <= MOST_CONTEXT:
            st.button(
                t("A context of {needed}", needed=long.needed),
                key="corpus_longer",
                on_click=corpus_plan.choose,
                args=(choice,),
                kwargs={"context_length": long.needed},
            )
        st.button(
            t("Windows of the text"),
            key="corpus_windows",
            on_click=corpus_plan.choose,
            args=(choice,),
            kwargs={"mode": "windows"},
        )
    rows = long.records[:SHOWN]
    table = {
        t("split"): [t("training") if row.split == "train" else t("validation") for row in rows],
        t("number"): [row.number for row in rows],
        t("positions"): [row.needed for row in rows],
        t("text"): [readable(row.record.text, 120) for row in rows],
    }
    st.dataframe(pd.DataFrame(table), hide_index=True, width="stretch", key="corpus_long", height=240)
    if len(long.records) > SHOWN:
        st.caption(t("Only the {shown} longest are listed.", shown=SHOWN))


def _take(choice: Choice, key: str, field: str) -> None:
    corpus_plan.choose(choice, **{field: st.session_state[key]})
