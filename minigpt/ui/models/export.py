"""A saved step of a run as a Hugging Face GPT-2 folder: a download, or a new folder on this computer."""

import streamlit as st

from minigpt.huggingface.export import check_download, export_folder, export_zip, obstacles
from minigpt.inspection.sources import BUNDLED, RUN_PREFIX, load_source, source_run, source_steps
from minigpt.presets import PRESETS
from minigpt.training.runs.library import runs_of
from minigpt.ui.base import browser, messages
from minigpt.ui.base.text import plain, t
from minigpt.ui.shared.run_titles import source_title

SAID = "export_said"  # session: (it worked, what the last button did)
OUT = "export_out"


def draw(alone: bool) -> None:
    """`alone`: the app serves this computer only, so a folder to write may be typed."""
    st.caption(
        t(
            "config.json, model.safetensors and the tokenizer in one folder: GPT2LMHeadModel.from_pretrained reads it "
            "and gives the same logits. GPT-2's architecture has no bias on the LM head, so models with one stay here."
        )
    )
    runs = [run for run in (*runs_of(browser.secret()), BUNDLED) if _fits(run)]
    if not runs:
        able = [name for name in PRESETS if not obstacles(PRESETS[name].model)]
        messages.hint(t("No run of this browser fits yet; one of these presets does: {names}.", names=", ".join(able)))
        return
    run = st.selectbox(
        t("Run to take along"), runs, key="export_run", format_func=source_title, persist_state="session"
    )
    name = _source(run)
    try:
        config, steps = source_run(name).info.model, source_steps(name)
    except ValueError as error:
        messages.problem(str(error))
        return
    step = steps[0]
    if len(steps) > 1:
        step = st.select_slider(t("Step to take along"), steps, steps[-1], key=f"export_step_{run}")
    try:
        check_download(config)
        _download(run, name, step)
    except ValueError as error:
        messages.notice(str(error))
    if alone:
        _write(name, step)
    if SAID in st.session_state:
        worked, sentence = st.session_state[SAID]
        st.success(plain(sentence), icon=":material/check:") if worked else messages.problem(sentence)


def _source(run: str) -> str:
    return BUNDLED if run == BUNDLED else RUN_PREFIX + run


def _fits(run: str) -> bool:
    """Whether GPT-2's architecture holds the run's model; a run that is damaged or gone does not."""
    try:
        return not obstacles(source_run(_source(run)).info.model)
    except ValueError:
        return False


def _download(run: str, name: str, step: int) -> None:
    title = f"{run}-step-{step}"
    st.download_button(
        t("Download as zip"), lambda: export_zip(title, *load_source(name, step)), f"{title}.zip", "application/zip",
        key="export_zip", icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _write(name: str, step: int) -> None:
    st.text_input(
        t("Or a new folder on this computer"), key=OUT, placeholder="/home/me/my-gpt", persist_state="session",
    )  # fmt: skip
    st.button(t("Write the folder"), key="export_write", icon=":material/save:", on_click=_export, args=(name, step))


def _export(name: str, step: int) -> None:
    """Callback: write the folder that was typed."""
    folder = st.session_state[OUT].strip()
    try:
        if not folder:
            raise ValueError("type the path of the new folder first")
        reason = export_folder(folder, *load_source(name, step))
        written = t("Written to {folder}.", folder=folder)
        st.session_state[SAID] = (True, f"{written} {reason[:1].upper()}{reason[1:]}")
    except ValueError as error:
        st.session_state[SAID] = (False, str(error))
