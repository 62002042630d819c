"""Other people's models in, ours out: Hugging Face GPT-2 folders opened, and a saved step of a run written as one."""

import streamlit as st

from minigpt.huggingface.export import check_download, export_folder, export_zip, obstacles
from minigpt.inspection.sources import BUNDLED, RUN_PREFIX, load_source, source_run, source_steps
from minigpt.presets import PRESETS
from minigpt.sentences import Refusal
from minigpt.training.runs.library import runs_of
from minigpt.training.runs.run import Run
from minigpt.ui.base import browser, messages
from minigpt.ui.base.text import plain, t, translate
from minigpt.ui.models import imports as models_imports
from minigpt.ui.shared.run_titles import source_title

SAID = "export_said"  # session: (it worked, what the last button did)
OUT = "export_out"
LOCAL = ("127.0.0.1", "localhost", "::1")


def draw() -> None:
    """Both directions, side by side."""
    opening, writing = st.columns(2, gap="large")
    with opening:
        st.subheader(t("Open a GPT-2 model"))
        models_imports.draw(alone())
    with writing:
        st.subheader(t("Export a run to transformers"))
        _export_panel()


def alone() -> bool:
    """Whether the app serves only this computer: then its reader may name any folder on it."""
    return st.get_option("server.address") in LOCAL


def _export_panel() -> None:
    """A download, and a folder to write, which may be typed if the app serves only this computer."""
    st.caption(
        t(
            "config.json, model.safetensors and the tokenizer in one folder: GPT2LMHeadModel.from_pretrained reads it "
            "and gives the same logits. GPT-2's architecture has no bias on the LM head, so a model with one cannot be "
            "exported."
        )
    )
    runs = [run for run in (*runs_of(browser.secret()), BUNDLED) if _fits(run)]
    if not runs:
        able = [name for name in PRESETS if not obstacles(PRESETS[name].model)]
        messages.hint(t("None of your runs fits yet; one of these presets does: {names}.", names=", ".join(able)))
        return
    run = st.selectbox(t("Run to export"), runs, key="export_run", format_func=source_title, persist_state="session")
    name = _source(run)
    try:
        config, steps = _run(name).info.model, source_steps(name)
    except ValueError as error:
        messages.problem(error)
        return
    step = steps[0]
    if len(steps) > 1:
        step = st.select_slider(t("Step to export"), steps, steps[-1], key=f"export_step_{run}")
    try:
        check_download(config)
        _download(run, name, step)
    except ValueError as error:
        messages.notice(translate(error))
    if alone():
        _write(name, step)
    if SAID in st.session_state:
        worked, sentence = st.session_state[SAID]
        st.success(plain(sentence), icon=":material/check:") if worked else messages.problem(sentence)


def _source(run: str) -> str:
    return BUNDLED if run == BUNDLED else RUN_PREFIX + run


def _run(source: str) -> Run:
    found = source_run(source)
    assert found is not None  # a preset has no run, and none is offered here
    return found


def _fits(run: str) -> bool:
    """Whether GPT-2's architecture holds the run's model; a run that is damaged or gone does not."""
    try:
        return not obstacles(_run(_source(run)).info.model)
    except ValueError:
        return False


def _download(run: str, name: str, step: int) -> None:
    title = f"{run}-step-{step}"
    st.download_button(
        t("Download as zip"),
        lambda: export_zip(title, *load_source(name, step)),
        f"{title}.zip",
        "application/zip",
        key="export_zip",
        icon=":material/download:",
        on_click="ignore",
    )


def _write(name: str, step: int) -> None:
    st.text_input(
        t("Or a new folder on this computer"), key=OUT, placeholder=t("/home/me/my-gpt"), persist_state="session"
    )
    st.button(t("Write the folder"), key="export_write", icon=":material/save:", on_click=_export, args=(name, step))


def _export(name: str, step: int) -> None:
    """Callback: write the folder that was typed."""
    folder = st.session_state[OUT].strip()
    try:
        if not folder:
            raise Refusal("type the path of the new folder first")
        reason = export_folder(folder, *load_source(name, step))
        written, noted = t("Written to {folder}.", folder=folder), translate(reason)
        st.session_state[SAID] = (True, f"{written} {noted[:1].upper()}{noted[1:]}")
    except ValueError as error:
        st.session_state[SAID] = (False, translate(error))
