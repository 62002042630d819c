"""The buttons of a run: play or pause, one step, stop, back to step 0; and its speed."""

import streamlit as st

from minigpt.training.shelf import run_folder
from minigpt.ui import browser, training_settings, workspace
from minigpt.ui.text import t
from minigpt.ui.trainer import State, begin, state, trainer

FAULT = "training_fault"  # session: what the last button could not do
SPEED = "training_speed"
SPEEDS = (0.0, 4.0, 1.0)  # steps a second; 0 = as fast as it goes
HELD = ("queued", "loading", "running", "paused")  # in the memory of the trainer


def speed() -> float:
    """The chosen speed, in steps a second, 0 = as fast as it goes."""
    return st.session_state.get(SPEED) or 0.0


def start(preset, name: str) -> None:
    """Callback of Start: a new run, shown from now on."""
    st.session_state.pop(FAULT, None)
    try:
        id = begin(preset, training_settings.corpus(), browser.secret(), name, speed())
    except (ValueError, TimeoutError) as error:
        st.session_state[FAULT] = str(error)
        return
    workspace.choose(run=id)


def act(id: str, command: str, **values) -> None:
    """Callback of the buttons of a run."""
    st.session_state.pop(FAULT, None)
    try:
        trainer().ask(command, run_folder(id), **values)
    except (ValueError, TimeoutError) as error:
        if state(id).status not in ("failed", "deleted"):  # those are told by the panel
            st.session_state[FAULT] = str(error)


def draw(id: str, now: State, mine: bool) -> None:
    """The row of buttons. A run of another browser can be watched and copied, not steered."""
    over, held = now.status in ("finished", "deleted"), now.status in HELD
    with st.container(horizontal=True, vertical_alignment="bottom", key="train_buttons"):
        if now.going:
            _button("train_pause", t("Pause"), "pause", "P", id, "pause", disabled=not mine)
        else:
            fresh = now.status == "created"
            label = t("Play") if fresh or now.status == "paused" else t("Resume")
            _button("train_play", label, "play_arrow", "P", id, "play", disabled=over or not mine)
        _button("train_step", t("One step"), "skip_next", "N", id, "step", disabled=over or not mine)
        _button("train_stop", t("Stop"), "stop", "X", id, "stop", disabled=not held or not mine)
        resettable = mine and now.status not in ("created", "deleted")
        _button("train_reset", t("Reset"), "replay", "0", id, "reset", disabled=not resettable)
        st.segmented_control(
            t("Speed"), SPEEDS, key=SPEED, default=0.0, format_func=_speed_label, label_visibility="collapsed",
            on_change=_take_speed, args=(id,), persist_state="session", disabled=not mine,
        )  # fmt: skip


HELP = {
    "pause": "Pause after this step; the run stays in memory.",
    "play": "Train from the step where the run stands.",
    "step": "One update, then pause; below the curve stands what it did.",
    "stop": "Stop after this step and save; the run can be resumed at any time, also after the server has ended.",
    "reset": "Back to step 0 with the same initial weights and batches. What was learned is deleted.",
}


def _button(key: str, label: str, icon: str, shortcut: str, id: str, command: str, disabled: bool) -> None:
    values = {"speed": speed()} if command == "play" else {}
    st.button(
        label, key=key, icon=f":material/{icon}:", shortcut=shortcut, disabled=disabled, help=t(HELP[command]),
        on_click=act, args=(id, command), kwargs=values,
    )  # fmt: skip


def _speed_label(speed: float) -> str:
    return t("Full speed") if speed == 0 else t("{speed:g} a second", speed=speed)


def _take_speed(id: str) -> None:
    if state(id).status in HELD:
        act(id, "speed", speed=speed())
