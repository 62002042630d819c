"""The buttons of a run: play or pause, one step, stop, back to step 0; and its speed."""

from collections.abc import Callable

import streamlit as st

from minigpt.sentences import say
from minigpt.training.runs.info import RunStatus
from minigpt.training.runs.library import run_folder
from minigpt.training.server.client import RunState
from minigpt.ui.base import browser, workspace
from minigpt.ui.base.text import t, translate
from minigpt.ui.shared.trainer import begin, state, trainer
from minigpt.ui.training import settings as training_settings

FAULT = "training_fault"  # session: what the last button could not do
SPEED = "training_speed"
SPEEDS = (0.0, 4.0, 1.0)  # steps a second; 0 = as fast as it goes


def speed() -> float:
    """The chosen speed, in steps a second, 0 = as fast as it goes."""
    return st.session_state.get(SPEED) or 0.0


def start() -> None:
    """Callback of Start: a new run with the settings as they are at the click, shown from now on."""
    st.session_state.pop(FAULT, None)
    preset, faults = training_settings.chosen()
    if preset is None:
        return  # the reason is beside the settings
    try:
        learned = training_settings.tokenizer(preset)
        if learned is None:
            return  # Start is pressed again when the tokenizer is there
        name, corpus = training_settings.run_name(), training_settings.corpus()
        run_id = begin(preset, corpus, browser.secret(), name, speed(), learned)
    except (ValueError, TimeoutError) as error:
        st.session_state[FAULT] = translate(error)
        return
    training_settings.fold()
    workspace.choose(run=run_id)


def act(run_id: str, command: str, **values: float) -> None:
    """Callback of the buttons of a run."""
    st.session_state.pop(FAULT, None)
    try:
        trainer().ask(command, run_folder(run_id), **values)
    except (ValueError, TimeoutError) as error:
        if state(run_id).status not in (RunStatus.FAILED, RunStatus.DELETED):  # the panel shows those
            st.session_state[FAULT] = translate(error)


def draw(run_id: str | None, now: RunState, mine: bool, more: Callable[[], None] | None = None) -> None:
    """The row of buttons, and what `more` draws there. A run of another browser can be watched, not controlled.

    Without a run all are disabled.
    """
    allowed = mine and run_id is not None and now.status != RunStatus.DELETED
    finished = now.status == RunStatus.FINISHED
    with st.container(horizontal=True, vertical_alignment="center", key="train_buttons"):
        if now.status.active:
            _button("train_pause", t("Pause"), "pause", "P", run_id, "pause", allowed)
        else:
            again = now.status in (RunStatus.STOPPED, RunStatus.INTERRUPTED, RunStatus.FAILED)
            label = t("Resume") if again else t("Play")
            _button("train_play", label, "play_arrow", "P", run_id, "play", allowed and not finished)
        _button("train_step", t("One step"), "skip_next", "N", run_id, "step", allowed and not finished)
        _button("train_stop", t("Stop"), "stop", "X", run_id, "stop", allowed and now.status.in_trainer)
        _reset(run_id, allowed and now.status != RunStatus.CREATED)
        st.segmented_control(
            t("Speed"),
            SPEEDS,
            key=SPEED,
            default=0.0,
            format_func=_speed_label,
            label_visibility="collapsed",
            on_change=_set_speed,
            args=(run_id,),
            persist_state="session",
            disabled=not mine,
        )
        if more:
            more()


HELP = {
    "pause": say("Pause after this step; the run stays in memory."),
    "play": say("Train from the current step of the run."),
    "step": say("One update, then pause; what it did is shown below the curve."),
    "stop": say("Stop after this step and save; the run can be resumed at any time, also after the server has ended."),
    "reset": say("Back to step 0 with the same initial weights and batches; asks before it deletes."),
}


def _button(key: str, label: str, icon: str, shortcut: str, run_id: str | None, command: str, enabled: bool) -> None:
    values = {"speed": speed()} if command == "play" else {}
    st.button(
        label,
        key=key,
        icon=f":material/{icon}:",
        shortcut=shortcut,
        disabled=not enabled,
        help=translate(HELP[command]),
        on_click=act,
        args=(run_id, command),
        kwargs=values,
    )


def _reset(run_id: str | None, enabled: bool) -> None:
    """Asks first, in a popover. A run at step 0 gets a new one, and so a closed one."""
    box = st.popover(
        t("Reset"),
        icon=":material/replay:",
        disabled=not enabled,
        help=translate(HELP["reset"]),
        key=f"train_reset_box_{'some' if enabled else 'none'}",
    )
    with box:
        st.markdown(t("Back to step 0? This deletes what was learned: curves, samples and saved steps."))
        st.button(
            t("Delete and go back"),
            key="train_reset",
            type="primary",
            icon=":material/delete:",
            disabled=not enabled,
            on_click=act,
            args=(run_id, "reset"),
        )


def _speed_label(speed: float) -> str:
    return t("Full speed") if speed == 0 else t("{speed:g} a second", speed=speed)


def _set_speed(run_id: str | None) -> None:
    if run_id is not None and state(run_id).status.in_trainer:
        act(run_id, "speed", speed=speed())
