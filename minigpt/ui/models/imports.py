"""Opening a Hugging Face GPT-2 folder: what is in it, a button that shows it on every page, those opened before."""

from pathlib import Path

import pandas as pd
import streamlit as st

from minigpt.huggingface.hub import GPT2_REPO, can_download, download_gpt2
from minigpt.huggingface.imports import (
    FolderFacts,
    folder_stamps,
    forget_import,
    import_folder,
    import_title,
    imports_of,
    imports_store,
    look_into,
    offered_folders,
)
from minigpt.ui.base import browser, messages, workspace
from minigpt.ui.base.text import plain, t, translate

SAID = "import_said"  # session: (it worked, what the last button did)
PATH = "import_path"
OFFERED = "import_offered"


def draw(alone: bool) -> None:
    """`alone`: the app serves this computer only, so folders may be typed."""
    st.caption(
        t(
            "A folder with config.json, model.safetensors and the tokenizer (tokenizer.json, or vocab.json and "
            "merges.txt), as transformers saves it. It stays where it is; nothing is copied, and no pickle is opened."
        )
    )
    folder = _folder(alone)
    _said()
    if folder:
        _found(folder)
    _opened_before()
    if alone:
        _download()
    browser.keep()


def _folder(alone: bool) -> str:
    """The folder to look into: chosen among those in the store, or typed."""
    offered = offered_folders()
    chosen = None
    if offered:
        chosen = st.selectbox(
            t("Folders offered here"),
            offered,
            index=None,
            key=OFFERED,
            format_func=lambda path: path.name,
            placeholder=t("Choose a folder"),
            persist_state="session",
        )
    if alone:
        typed = st.text_input(
            t("Or the path of a folder on this computer") if offered else t("Path of a folder on this computer"),
            key=PATH,
            placeholder=t("/home/me/gpt2"),
            persist_state="session",
            on_change=_typed,
        )
        return str(chosen) if chosen else typed.strip()
    if not offered:
        messages.hint(
            t(
                "This app serves a network, where no path can be typed; its operator puts model folders into {store}.",
                store=imports_store().name,
            )
        )
    return str(chosen) if chosen else ""


def _typed() -> None:
    """Callback: the path typed last is the one that counts."""
    st.session_state[OFFERED] = None
    st.session_state.pop(SAID, None)


def _download() -> None:
    if not can_download():
        return
    st.button(
        t("Download GPT-2 Small, 550 MB"),
        key="import_download",
        icon=":material/download:",
        on_click=_fetch,
        help=t(
            "{repo} from the Hugging Face Hub, once; it is kept in the Hub's cache on this computer.", repo=GPT2_REPO
        ),
    )


def _fetch() -> None:
    with st.spinner(t("Downloading …")):
        try:
            st.session_state[PATH] = str(download_gpt2())
            st.session_state[OFFERED] = None
            st.session_state[SAID] = (True, t("Downloaded. This was found:"))
        except ValueError as error:
            st.session_state[SAID] = (False, translate(error))


@st.cache_resource(show_spinner=False, max_entries=2)
def _facts(folder: str, stamps: tuple) -> FolderFacts:
    return look_into(folder)


def _found(folder: str) -> None:
    """What the folder holds, and the button that opens it; or what is wrong with it."""
    try:
        facts = _facts(folder, tuple(folder_stamps(Path(folder).expanduser()).items()))
    except (ValueError, OSError) as error:
        messages.problem(error)
        return
    st.button(
        t("Open in the explorer"),
        type="primary",
        key="import_open",
        icon=":material/visibility:",
        on_click=_open,
        args=(folder,),
    )
    st.dataframe(_table(facts), hide_index=True, width="stretch", key="import_facts")


def _table(facts: FolderFacts) -> pd.DataFrame:
    config = facts.config
    rows = {
        t("folder"): facts.folder.name,
        t("parameters"): f"{facts.parameters:,}",
        t("weights on disk"): t("{size:,.1f} MB", size=facts.weight_bytes / 1e6),
        t("blocks × heads"): f"{config.layers} × {config.heads}",
        t("width, FFN width"): f"{config.width:,}, {config.ffn_width:,}",
        t("positions"): f"{config.context_length:,}",
        t("ids of the model, of the tokenizer"): f"{config.vocab_size:,}, {facts.tokenizer.vocab_size:,}",
        t("activation, norm epsilon"): f"{config.activation}, {config.norm_epsilon:g}",
        t("LM head"): t("the token table") if config.tied_head else t("a separate matrix"),
    }
    return pd.DataFrame({t("found"): list(rows), t("value"): list(rows.values())})


def _open(folder: str) -> None:
    """Callback: note the folder for this browser and show it on every page."""
    try:
        _show(import_folder(folder, browser.secret()))
    except ValueError as error:
        st.session_state[SAID] = (False, translate(error))


def _show(name: str) -> None:
    workspace.choose(model=name, step=None, block=0, head=0)
    st.session_state[SAID] = (
        True,
        t(
            "Every page shows {title} now. It stays in this browser's model list; its link shares it.",
            title=import_title(name),
        ),
    )


def _said() -> None:
    if SAID not in st.session_state:
        return
    worked, sentence = st.session_state[SAID]
    if not worked:
        messages.problem(sentence)
        return
    st.success(plain(sentence), icon=":material/check:")
    st.page_link("pages/overview.py", label=t("To the overview"), icon=":material/route:")


def _opened_before() -> None:
    mine = imports_of(browser.secret())
    if not mine:
        return
    st.caption(t("Opened in this browser"))
    for name in mine:
        with st.container(horizontal=True, vertical_alignment="center", key=f"import_row_{name}"):
            st.markdown(plain(import_title(name)), width="stretch")
            st.button(t("Show"), key=f"import_show_{name}", on_click=_show, args=(name,))
            st.button(
                t("Remove"),
                key=f"import_remove_{name}",
                on_click=_remove,
                args=(name,),
                help=t("Removes it from the list; the folder is not changed."),
            )


def _remove(name: str) -> None:
    try:
        forget_import(name, browser.secret())
    except (ValueError, OSError) as error:
        st.session_state[SAID] = (False, translate(error))
        return
    st.session_state.pop(SAID, None)
    if workspace.current().model == name:
        workspace.choose(model=workspace.Workspace.model, step=None, block=0, head=0)
