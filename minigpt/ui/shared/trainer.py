"""The trainer process of this server, and the state of its runs as the pages see it.

A run goes on to its last step whether its page is open or not, and stops with the server: then, after a
crash, or when its page is opened weeks later, it can be resumed at the step where it stopped.
"""

import streamlit as st

from minigpt.corpus.corpus import Corpus
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.limits import limit
from minigpt.presets import Preset
from minigpt.sentences import Refusal, sentence_of
from minigpt.storage.owned import new_id
from minigpt.training.runs.create import lay_out
from minigpt.training.runs.info import RunStatus
from minigpt.training.runs.library import put_label, run_folder, runs_of
from minigpt.training.runs.run import Run
from minigpt.training.server.client import RunState, Trainer


@st.cache_resource(show_spinner=False)
def trainer() -> Trainer:
    """The one trainer of this server: a process of low priority that ends with the server."""
    return Trainer()


def state(run_id: str) -> RunState:
    """The state of a run: from the trainer while it has the run, from its folder otherwise."""
    try:
        folder = run_folder(run_id)
        run = Run(folder)
        state = trainer().state(folder)
        if state is not None and (state.status.in_trainer or state.status is RunStatus.FAILED):
            return state
        return RunState(str(folder), run.status, reason=run.info.reason)
    except ValueError as error:
        return RunState("", RunStatus.DELETED, reason=sentence_of(error))


def begin(preset: Preset, corpus: Corpus, browser: str, name: str, speed: float, learned: Learned | None = None) -> str:
    """Make a run of `preset` on `corpus` for this browser and start it; its id. `learned` is its tokenizer, if there.

    Raises ValueError for what cannot be trained, when this browser has too many runs under way, and
    in place of an OSError when the run library cannot be written.
    """
    under_way = sum(state(run_id).status.active for run_id in runs_of(browser))
    most = limit("MINIGPT_RUNS_A_BROWSER")
    if under_way >= most:
        raise Refusal(
            "{count} runs of this browser are under way, at most {most} are allowed; stop one first",
            count=under_way,
            most=most,
        )
    if preset.training.steps > limit("MINIGPT_RUN_STEPS"):
        most, steps = limit("MINIGPT_RUN_STEPS"), preset.training.steps
        raise Refusal("steps must be at most {most:,}, got {steps:,}", most=most, steps=steps)
    run_id = new_id(browser)
    folder = run_folder(run_id)
    try:
        lay_out(folder, preset, corpus, preset.training, learned)
        put_label(run_id, browser, name)
    except OSError as error:
        raise Refusal("cannot write the new run {folder}: {reason}", folder=folder, reason=error.strerror) from error
    try:
        trainer().ask("start", folder, speed=speed)
    except ValueError:
        if state(run_id).status != RunStatus.FAILED:  # a run that failed in its first moments is there, and says why
            raise
    return run_id
