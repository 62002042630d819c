"""From a run to the pages that look into it and let it speak, with a record and a prompt that it can read."""

import streamlit as st

from minigpt.corpus.records import Corpus
from minigpt.sources import RUN_PREFIX, source_run
from minigpt.training.runs import Run
from minigpt.training.samples import common_start
from minigpt.training.shelf import run_folder
from minigpt.ui import workspace
from minigpt.ui.examples import fitting, training_records
from minigpt.ui.text import t

PROMPT = "The "  # for every model but a run
GOING_TO = "opening_page"  # session: the page that follows


def draw(id: str) -> None:
    """Two buttons, in use as soon as the run has saved a step; pressed, another page follows."""
    if page := st.session_state.pop(GOING_TO, None):
        st.switch_page(page)
    ready = _is_ready(id)
    st.fragment(_buttons, run_every=None if ready else 1.0)(id, ready)


def look_at(name: str) -> None:
    """Put a model into the strip, in a callback: at its last step. A run comes with a record that it can read.

    What the reader has typed stays, if the run can read it.
    """
    workspace.choose(model=name, step=None, block=0, head=0)
    if not name.startswith(RUN_PREFIX):
        return
    run, text = source_run(name), workspace.current().text
    tokenizer, context_length = run.tokenizer(), run.info.model.context_length
    own = [record.text for record in training_records(name)]
    typed = text != workspace.DEFAULT_TEXT or text in own
    if not typed or fitting([text], tokenizer, context_length, most=1) != [text]:
        found = fitting(own, tokenizer, context_length, most=1)
        workspace.choose(text=found[0] if found else text)


def first_prompt(name: str) -> str:
    """What the sampling page begins with: for a run, a common beginning of what it was trained on."""
    if not name.startswith(RUN_PREFIX):
        return PROMPT
    return _start(name, source_run(name).info.corpus_hash)


@st.cache_data(show_spinner=False, max_entries=64)
def _start(name: str, corpus_hash: str) -> str:
    return common_start(Corpus(name, training_records(name)[:1000]))


def _is_ready(id: str) -> bool:
    return bool(Run(run_folder(id)).steps)


def _buttons(id: str, ready: bool) -> None:
    """Looked at once a second until the first step is saved; then, and after a click, the whole page runs."""
    if GOING_TO in st.session_state or _is_ready(id) != ready:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", key="train_next"):
        _button(id, "speak", t("Let it speak"), "casino", "pages/sampling.py", ready)
        _button(id, "look", t("Look inside"), "visibility", "pages/overview.py", ready)
        st.caption(t("This run in place of the model above, at its last saved step."), width="content")


def _button(id: str, key: str, label: str, icon: str, page: str, ready: bool) -> None:
    st.button(label, key=f"train_{key}", icon=f":material/{icon}:", disabled=not ready, on_click=_go, args=(id, page))


def _go(id: str, page: str) -> None:
    look_at(f"{RUN_PREFIX}{id}")
    st.session_state[GOING_TO] = page
