"""From a run to the pages that inspect it and generate with it, with a record and a prompt that it can read."""

import streamlit as st

from minigpt.corpus.corpus import Corpus
from minigpt.inspection.sources import RUN_PREFIX, source_run
from minigpt.training.runs.library import run_folder
from minigpt.training.runs.run import Run
from minigpt.training.samples import common_start
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t
from minigpt.ui.shared.examples import fitting, training_records

PROMPT = "The "  # for every model but a run
GOING_TO = "opening_page"  # session: the page that follows


def follow() -> None:
    """After a click on a button of `draw`, another page follows."""
    if page := st.session_state.pop(GOING_TO, None):
        st.switch_page(page)


def draw(run_id: str, best: int | None) -> None:
    """Two buttons, enabled as soon as the run has saved a step.

    They open the step `best`, that of the lowest validation loss, if it is saved; the last one otherwise.
    """
    if GOING_TO in st.session_state:
        st.rerun()
    saved = Run(run_folder(run_id)).steps
    step = best if best in saved else saved[-1] if saved else None
    _button(run_id, "speak", t("Let it speak"), "casino", "pages/sampling.py", step, best)
    _button(run_id, "look", t("Look inside"), "visibility", "pages/overview.py", step, best)


def look_at(name: str, step: int | None = None) -> None:
    """Put a model into the strip, in a callback: at this step, its last one if None. A run gets a record it can read.

    What the reader has typed stays, if the run can read it.
    """
    workspace.choose(model=name, step=step, block=0, head=0)
    if not name.startswith(RUN_PREFIX):
        return
    run, text = _run(name), workspace.current().text
    tokenizer, context_length = run.tokenizer(), run.info.model.context_length
    own = [record.text for record in training_records(name)]
    typed = text != workspace.DEFAULT_TEXT or text in own
    if not typed or fitting([text], tokenizer, context_length, most=1) != [text]:
        found = fitting(own, tokenizer, context_length, most=1)
        workspace.choose(text=found[0] if found else text)


def _run(name: str) -> Run:
    run = source_run(name)
    assert run is not None  # the name has RUN_PREFIX
    return run


def first_prompt(name: str) -> str:
    """What the sampling page begins with: for a run, a common beginning of what it was trained on."""
    if not name.startswith(RUN_PREFIX):
        return PROMPT
    return _start(name, _run(name).info.corpus_hash)


@st.cache_data(show_spinner=False, max_entries=64)
def _start(name: str, corpus_hash: str) -> str:
    return common_start(Corpus(name, training_records(name)[:1000]))


def _button(run_id: str, key: str, label: str, icon: str, page: str, step: int | None, best: int | None) -> None:
    hint = None
    if step is not None and step == best:
        hint = t(
            "At its best step, {step:,}, in place of the model above; the slider there has the other saved steps.",
            step=step,
        )
    elif step is not None:
        hint = t(
            "At step {step:,}, in place of the model above; the slider there has the other saved steps.",
            step=step,
        )
    st.button(
        label,
        key=f"train_{key}",
        icon=f":material/{icon}:",
        disabled=step is None,
        help=hint,
        on_click=_go,
        args=(run_id, page, step),
    )


def _go(run_id: str, page: str, step: int) -> None:
    look_at(f"{RUN_PREFIX}{run_id}", step)
    st.session_state[GOING_TO] = page
