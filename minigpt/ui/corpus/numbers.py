"""The corpus in numbers, and the button that leads to a run."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from minigpt.corpus.advice import Advice
from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.ui.base import workspace
from minigpt.ui.base.text import plain, t
from minigpt.ui.corpus import plan as corpus_plan
from minigpt.ui.shared import corpora

GO = "corpus_goes_on"  # session: the button was pressed in this run of the page


def draw(
    choice: corpora.Choice, plan: Advice, learned: Learned | None, on_train: Callable[[corpora.Choice, Advice], None]
) -> None:
    """Six numbers, then a button that passes the plan to `on_train`, and what that will do."""
    corpus = corpora.loaded(choice)
    records, characters, size, tokens, ratio, ids = st.columns([1.3, 1, 1, 1, 1, 1])
    records.metric(t("Training + validation"), _parts(corpus))
    counted = _sizes(choice.path, choice.path.stat().st_mtime_ns, corpus.train + corpus.validation)
    characters.metric(t("Characters"), f"{counted[0]:,}")
    size.metric(t("Bytes"), f"{counted[1]:,}")
    total = learned and learned.counted.train.tokens + learned.counted.validation.tokens
    tokens.metric(t("Tokens"), f"{total:,}" if learned else "–")
    ratio.metric(t("Bytes a token"), f"{counted[1] / total:.2f}" if total else "–")
    ids.metric(t("Vocabulary"), f"{learned.tokenizer.vocab_size:,}" if learned else "–")
    go, about = st.columns([1.4, 3.6], vertical_alignment="center")
    go.button(
        t("Train on this corpus"),
        type="primary",
        icon=":material/model_training:",
        key="corpus_train",
        on_click=_go,
        args=(choice, plan, on_train),
        width="stretch",
    )
    about.caption(plain(corpus_plan.sentences(plan)))


def went_on() -> bool:
    """Whether the button was pressed: then the training page follows."""
    return st.session_state.pop(GO, False)


def _go(choice: corpora.Choice, plan: Advice, on_train: Callable[[corpora.Choice, Advice], None]) -> None:
    on_train(choice, corpus_plan.of(choice, plan.tokenizer))
    workspace.choose(run=None)
    st.session_state[GO] = True


def _parts(corpus: Corpus) -> str:
    """Numbers of records; of one text, its shares."""
    if not corpus.is_one_text:
        return f"{len(corpus.train):,} + {len(corpus.validation):,}"
    train, validation = (sum(len(record.text) for record in split) for split in (corpus.train, corpus.validation))
    return f"{train / (train + validation):.0%} + {validation / (train + validation):.0%}"


@st.cache_data(show_spinner=False, max_entries=32)
def _sizes(path: Path, stamp: int, _records: tuple[Record, ...]) -> tuple[int, int]:
    """Characters and bytes in UTF-8."""
    return sum(len(record.text) for record in _records), sum(len(record.text.encode()) for record in _records)
