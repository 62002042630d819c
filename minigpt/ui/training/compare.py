"""Below the live panel: other runs beside this one, and downloads."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from minigpt.inspection.sources import BUNDLED, BUNDLED_RUN
from minigpt.training.runs.export import metrics_csv, run_zip
from minigpt.training.runs.info import differing_settings
from minigpt.training.runs.library import run_folder, runs_of
from minigpt.training.runs.resume import checkpoint_path
from minigpt.training.runs.run import Run
from minigpt.ui.base import browser, messages, workspace
from minigpt.ui.base.text import t, translate
from minigpt.ui.shared.run_titles import source_title


def others(run_id: str) -> list[str]:
    """Runs chosen to be drawn beside `run_id`, of those of this browser and the shipped one."""
    choices = [BUNDLED, *(other for other in runs_of(browser.secret()) if other != run_id)]
    kept = [other for other in st.session_state.get("train_others", []) if other in choices]
    if "train_others" in st.session_state:
        st.session_state["train_others"] = kept
    return st.multiselect(
        t("Draw beside it"),
        choices,
        key="train_others",
        format_func=source_title,
        persist_state="session",
        placeholder=t("Draw other runs beside it"),
        label_visibility="collapsed",
    )


def table(run_id: str, beside: list[str]) -> None:
    """The settings in which the chosen runs differ."""
    if not beside:
        return
    ids = [run_id, *beside]
    found = differing_settings([_run(other).info for other in ids])
    if not found:
        st.caption(t("These runs have the same settings: their numbers are the same, bit for bit."))
        return
    rows = {source_title(other): [str(values[place]) for values in found.values()] for place, other in enumerate(ids)}
    st.dataframe(pd.DataFrame({t("setting"): list(found)} | rows), hide_index=True, width="stretch", key="differences")


def downloads(run_id: str) -> None:
    """Downloads, made when they are asked for."""
    run = _run(run_id)
    with st.container(horizontal=True, vertical_alignment="bottom", key="train_take"):
        st.download_button(
            t("Metrics, CSV"),
            lambda: metrics_csv(run),
            f"{run_id}.csv",
            "text/csv",
            key="train_csv",
            icon=":material/download:",
            on_click="ignore",
        )
        step = _step_in_strip(run_id, run)
        st.download_button(
            t("Last checkpoint") if step is None else t("Checkpoint of step {step}", step=step),
            lambda: checkpoint_path(run.folder, run.steps[-1] if step is None else step).read_bytes(),
            f"{run_id}-{'last' if step is None else f'step-{step:06d}'}.safetensors",
            "application/octet-stream",
            key="train_checkpoint",
            icon=":material/download:",
            on_click="ignore",
            disabled=not run.steps,
        )
        st.download_button(
            t("Whole run, zip"),
            lambda: run_zip(run),
            f"{run_id}.zip",
            "application/zip",
            key="train_zip",
            icon=":material/download:",
            on_click="ignore",
        )
        st.segmented_control(
            t("Pictures as"),
            ("PNG", "SVG"),
            key="train_picture",
            default="PNG",
            persist_state="session",
            help=t("The arrow that appears above a chart saves it in this format."),
        )


def guarded(draw: Callable[..., None], *arguments: object) -> None:
    """Draw a part that reads run folders; for one that is gone, say so."""
    try:
        draw(*arguments)
    except (OSError, ValueError) as error:
        messages.problem(translate(error))


def _step_in_strip(run_id: str, run: Run) -> int | None:
    """The step the strip shows, if it shows this run."""
    space = workspace.current()
    return space.step if space.model == f"run-{run_id}" and space.step in run.steps else None


def _run(run_id: str) -> Run:
    return Run(BUNDLED_RUN if run_id == BUNDLED else run_folder(run_id))
