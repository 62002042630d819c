"""How does it learn?"""

import streamlit as st

from minigpt.training.runs.info import RunStatus
from minigpt.training.runs.library import command_line_runs, runs_of
from minigpt.ui.base import browser, messages, workspace
from minigpt.ui.base.text import t
from minigpt.ui.frame import shell
from minigpt.ui.shared import open_run, trainer
from minigpt.ui.shared.run_titles import run_title
from minigpt.ui.training import compare as training_compare
from minigpt.ui.training import controls as training_controls
from minigpt.ui.training import panel as training_panel
from minigpt.ui.training import samples as training_samples
from minigpt.ui.training import settings as training_settings

shell.guard()
trainer.trainer().warm()
browser.keep()


def choose_run() -> None:
    """Show another run, in a callback."""
    st.session_state.pop(training_controls.FAULT, None)
    workspace.choose(run=st.session_state["run_choice"])


run = workspace.current().run
st.title(t("How it learns"))
if run is None:
    st.caption(
        t(
            "Start makes a run with these settings. It goes on to its last step, also when this page is closed; "
            "the address of this page finds it again and shares it. When the server stops, it can be resumed."
        )
    )
training_settings.draw(training_controls.start, folded=run is not None)

if run is None:
    if training_controls.FAULT in st.session_state:
        messages.problem(st.session_state[training_controls.FAULT])
    known = [*runs_of(browser.secret()), *command_line_runs()]
    if known:
        st.selectbox(t("Runs so far"), known, index=None, key="run_choice", format_func=run_title, on_change=choose_run)
    training_panel.example()
    st.stop()

known = list(dict.fromkeys([*runs_of(browser.secret()), run, *command_line_runs()]))
chooser, beside = st.columns(2)
with chooser:
    st.session_state["run_choice"] = run
    st.selectbox(
        t("Run"), known, key="run_choice", format_func=run_title, on_change=choose_run, label_visibility="collapsed"
    )
with beside:
    others = training_compare.others(run)
open_run.follow()
training_panel.draw(run, others)
if trainer.state(run).status != RunStatus.DELETED:
    training_compare.guarded(training_compare.table, run, others)
    other = st.expander(t("Samples of any prompt, from the saved steps"), key="train_samples", on_change="rerun")
    with other:
        if other.open:
            training_compare.guarded(training_samples.draw, run)
    training_compare.guarded(training_compare.downloads, run)
