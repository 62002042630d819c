"""The time machine's play button: walks through the saved steps, about two a second, on every page.

A tick never interrupts a page: it comes as a fragment run, which waits for the running script to end, and asks
for a whole rerun. The rerun takes the next step at its very beginning, so a click between two steps costs nothing.
"""

import time

import streamlit as st

from minigpt.inspection.sources import source_steps
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t

SECONDS = 0.45  # from one step to the next, at least
STATE = "playing"  # session: the time of the last step, absent when not playing
FRESH = "playing_fresh"  # session: the whole script runs, not the button's fragment alone


def advance() -> None:
    """Take the next saved step if it is due; stop at the last one, or when the model cannot be seen."""
    if STATE not in st.session_state or time.monotonic() - st.session_state[STATE] < SECONDS:
        return
    space = workspace.current()
    try:
        later = [step for step in source_steps(space.model) if space.step is not None and step > space.step]
    except ValueError:
        later = []
    if later:
        workspace.choose(step=later[0])
        st.session_state[STATE] = time.monotonic()
    if len(later) < 2:
        del st.session_state[STATE]


def draw(steps: tuple[int, ...]) -> None:
    """The button, and the clock behind it while it plays."""
    st.session_state[FRESH] = True
    st.fragment(_button, run_every=SECONDS if STATE in st.session_state else None)(steps)


def _button(steps: tuple[int, ...]) -> None:
    if not st.session_state.pop(FRESH, False):  # a tick of the clock or a click, not the run of the page itself
        st.rerun()
    on = STATE in st.session_state
    st.button(
        "",
        key="play_steps",
        icon=":material/pause:" if on else ":material/play_arrow:",
        width="stretch",
        help=t("Stop at this step") if on else t("Play the saved steps"),
        disabled=len(steps) < 2,
        on_click=_toggle,
        args=(steps,),
    )


def _toggle(steps: tuple[int, ...]) -> None:
    """Start, from the first step when the last one is shown; or stop at the step shown."""
    if st.session_state.pop(STATE, None) is not None:
        return
    if workspace.current().step == steps[-1]:
        workspace.choose(step=steps[0])
    st.session_state[STATE] = time.monotonic()
