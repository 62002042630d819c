"""The trainer process of this server, and the runs of its shelf as the pages see them.

A run goes on to its last step whether somebody looks or not, and stops with the server: then, after a
crash, or when its page is opened weeks later, it can be resumed at the step where it stopped.
"""

from dataclasses import dataclass

import streamlit as st

from minigpt.corpus.corpus import Corpus
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.limits import limit
from minigpt.presets import Preset
from minigpt.storage.owned import new_id
from minigpt.training.runs.create import lay_out
from minigpt.training.runs.library import put_label, run_folder, runs_of
from minigpt.training.runs.run import Run
from minigpt.training.server.client import Trainer

GOING = ("queued", "loading", "running")  # something will happen by itself


@dataclass(frozen=True)
class State:
    """How a run stands. `place` in the queue from 1; 0 = not waiting."""

    status: str  # created, queued, loading, running, paused, stopped, interrupted, finished, failed, deleted
    place: int = 0
    reason: str = ""

    @property
    def going(self) -> bool:
        """Whether its numbers change by themselves."""
        return self.status in GOING


@st.cache_resource(show_spinner=False)
def trainer() -> Trainer:
    """The one trainer of this server: a process of low priority that ends with the server."""
    return Trainer()


def state(id: str) -> State:
    """How the run stands: by the trainer while it holds the run, by its folder otherwise."""
    try:
        folder = run_folder(id)
        run = Run(folder)
        standing = trainer().standing(folder)
        if standing is not None and standing.status in (*GOING, "paused", "failed"):
            return State(standing.status, standing.place, standing.reason)
        return State(run.status, reason=run.info.reason)
    except ValueError as error:
        return State("deleted", reason=str(error))


def begin(preset: Preset, corpus: Corpus, browser: str, name: str, speed: float, learned: Learned | None = None) -> str:
    """Make a run of `preset` on `corpus` for this browser and start it; its id. `learned` is its tokenizer, if there.

    Raises ValueError for what cannot be trained, when this browser has too many runs under way, and
    in place of an OSError when the shelf cannot be written.
    """
    under_way = sum(state(id).going for id in runs_of(browser))
    most = limit("MINIGPT_RUNS_A_BROWSER")
    if under_way >= most:
        raise ValueError(f"{under_way} runs of this browser are under way, at most {most} are allowed; stop one first")
    if preset.training.steps > limit("MINIGPT_RUN_STEPS"):
        raise ValueError(f"steps must be at most {limit('MINIGPT_RUN_STEPS'):,}, got {preset.training.steps:,}")
    id = new_id(browser)
    folder = run_folder(id)
    try:
        lay_out(folder, preset, corpus, preset.training, learned)
        put_label(id, browser, name)
    except OSError as error:
        raise ValueError(f"cannot write the new run {folder}: {error.strerror}") from error
    try:
        trainer().ask("start", folder, speed=speed)
    except ValueError:
        if state(id).status != "failed":  # a run that failed in its first moments is there, and says why
            raise
    return id
