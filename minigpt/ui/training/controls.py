"""The buttons of a run: play or pause, one step, stop, back to step 0; and its speed."""

from collections.abc import Callable

import streamlit as st

from minigpt.training.runs.library import run_folder
from minigpt.ui.base import browser, workspace
from minigpt.ui.base.text import t
from minigpt.ui.shared.trainer import State, begin, state, trainer
from minigpt.ui.training import settings as training_settings

FAULT = "training_fault"  # session: what the last button could not do
SPEED = "training_speed"
SPEEDS = (0.0, 4.0, 1.0)  # steps a second; 0 = as fast as it goes
HELD = ("queued", "loading", "running", "paused")  # in the memory of the trainer


def speed() -> float:
    """The chosen speed, in steps a second, 0 = as fast as it goes."""
    return st.session_state.get(SPEED) or 0.0


def start() -> None:
    """Callback of Start: a new run with the settings as they are at the click, shown from now on."""
    st.session_state.pop(FAULT, None)
    preset, faults = training_settings.chosen()
    if faults:
        return  # said beside the settings
    try:
        learned = training_settings.tokenizer(preset)
        if learned is None:
            return  # Start is pressed again when the tokenizer is there
        name, corpus = training_settings.run_name(), training_settings.corpus()
        id = begin(preset, corpus, browser.secret(), name, speed(), learned)
    except (ValueError, TimeoutError) as error:
        st.session_state[FAULT] = str(error)
        return
    training_settings.fold()
    workspace.choose(run=id)


def act(id: str, command: str, **values) -> None:
    """Callback of the buttons of a run."""
    st.session_state.pop(FAULT, None)
    try:
        trainer().ask(command, run_folder(id), **values)
    except (ValueError, TimeoutError) as error:
        if state(id).status not in ("failed", "deleted"):  # those are told by the panel
            st.session_state[FAULT] = str(error)


def draw(id: str | None, now: State, mine: bool, more: Callable[[], None] | None = None) -> None:
    """The row of buttons, and what `more` draws there. A run of another browser can be watched, not steered.

    Without a run all are at rest.
    """
    steerable = mine and id is not None and now.status != "deleted"
    over, held = now.status == "finished", now.status in HELD
    with st.container(horizontal=True, vertical_alignment="center", key="train_buttons"):
        if now.going:
            _button("train_pause", t("Pause"), "pause", "P", id, "pause", steerable)
        else:
            again = now.status in ("stopped", "interrupted", "failed")
            label = t("Resume") if again else t("Play")
            _button("train_play", label, "play_arrow", "P", id, "play", steerable and not over)
        _button("train_step", t("One step"), "skip_next", "N", id, "step", steerable and not over)
        _button("train_stop", t("Stop"), "stop", "X", id, "stop", steerable and held)
        _reset(id, steerable and now.status != "created")
        st.segmented_control(
            t("Speed"), SPEEDS, key=SPEED, default=0.0, format_func=_speed_label, label_visibility="collapsed",
            on_change=_take_speed, args=(id,), persist_state="session", disabled=not mine,
        )  # fmt: skip
        if more:
            more()


HELP = {
    "pause": "Pause after this step; the run stays in memory.",
    "play": "Train from the step where the run stands.",
    "step": "One update, then pause; what it did stands below the curve.",
    "stop": "Stop after this step and save; the run can be resumed at any time, also after the server has ended.",
    "reset": "Back to step 0 with the same initial weights and batches; asks before it deletes.",
}


def _button(key: str, label: str, icon: str, shortcut: str, id: str | None, command: str, enabled: bool) -> None:
    values = {"speed": speed()} if command == "play" else {}
    st.button(
        label, key=key, icon=f":material/{icon}:", shortcut=shortcut, disabled=not enabled, help=t(HELP[command]),
        on_click=act, args=(id, command), kwargs=values,
    )  # fmt: skip


def _reset(id: str | None, enabled: bool) -> None:
    """Asks first, in a box that a run at step 0 gets anew, and so closed."""
    box = st.popover(
        t("Reset"), icon=":material/replay:", disabled=not enabled, help=t(HELP["reset"]),
        key=f"train_reset_box_{'some' if enabled else 'none'}",
    )  # fmt: skip
    with box:
        st.markdown(t("Back to step 0? What was learned is deleted: curves, samples and saved steps."))
        st.button(
            t("Delete and go back"), key="train_reset", type="primary", icon=":material/delete:",
            disabled=not enabled, on_click=act, args=(id, "reset"),
        )  # fmt: skip


def _speed_label(speed: float) -> str:
    return t("Full speed") if speed == 0 else t("{speed:g} a second", speed=speed)


def _take_speed(id: str | None) -> None:
    if id is not None and state(id).status in HELD:
        act(id, "speed", speed=speed())
