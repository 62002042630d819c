"""Which corpus: a shipped one, one of this browser, or a new one from a file or from pasted text."""

import streamlit as st

from minigpt.corpus.library import corpora_of, delete, take_file
from minigpt.limits import limit
from minigpt.ui.base import browser, messages
from minigpt.ui.base.text import plain, t, translate
from minigpt.ui.shared import corpora, tokenizing

FAULT = "corpus_fault"  # session: why the last file was not taken
TAKEN = "corpus_uploads"  # session: how many files came; each gets a fresh box, which lets go of the last one
BOX_WIDTH, FILE_WIDTH = 440, 500  # px; what has no room wraps
PASTED = "pasted text.txt"
PASTE_CHARACTERS = 200_000
ENDINGS = ["txt", "md", "csv", "tsv", "jsonl", "ndjson", "json"]


def draw(choice: corpora.Choice) -> None:
    """The corpus box, the file box, and a sentence about what is chosen or why a file was not taken."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _corpus_box(choice)
        if choice.own:
            with st.popover("", icon=":material/delete:", key="corpus_delete", help=t("Delete this corpus")):
                _delete(choice)
        number = st.session_state.setdefault(TAKEN, 0)
        st.file_uploader(
            t("Your own file: txt, csv, jsonl or json"),
            ENDINGS,
            key=f"corpus_file_{number}",
            on_change=_take_file,
            max_upload_size=max(1, limit("MINIGPT_UPLOAD_BYTES") // 1_000_000),
            width=FILE_WIDTH,
        )
        with st.popover(t("Paste text"), icon=":material/content_paste:", key="corpus_paste"):
            _paste()
    st.caption(plain(_about(choice)))
    if FAULT in st.session_state:
        messages.problem(t("The file was not taken: {fault}.", fault=translate(st.session_state[FAULT])))


def _corpus_box(choice: corpora.Choice) -> None:
    titles = {other.key: other.title for other in corpora.choices()}
    st.session_state["corpus_choice"] = choice.key
    st.selectbox(
        t("Corpus"),
        list(titles),
        key="corpus_choice",
        format_func=lambda key: titles[key],
        on_change=_take_choice,
        width=BOX_WIDTH,
    )


def _about(choice: corpora.Choice) -> str:
    if not choice.own:
        return choice.about
    kept, most = len(corpora_of(browser.secret())), limit("MINIGPT_CORPORA_A_BROWSER")
    text = t(
        "Kept on this computer, only for this browser: {kept} of {most}. Runs keep their own copy.",
        kept=kept,
        most=most,
    )
    return text


def _paste() -> None:
    with st.form("corpus_paste_form", border=False, clear_on_submit=True):
        st.text_area(t("Text"), key="corpus_pasted", height=220, max_chars=PASTE_CHARACTERS)
        st.form_submit_button(t("Use this text"), on_click=_take_text, icon=":material/check:")


def _delete(choice: corpora.Choice) -> None:
    st.markdown(t("The file, its corpus and its tokenizers are deleted. Runs trained on it are kept."))
    st.button(t("Delete this corpus"), key="corpus_delete_now", on_click=_take_delete, args=(choice,))


def _take_choice() -> None:
    st.session_state.pop(FAULT, None)
    corpora.choose(st.session_state["corpus_choice"])


def _take_file() -> None:
    file = st.session_state[f"corpus_file_{st.session_state[TAKEN]}"]
    if file is not None:
        st.session_state[TAKEN] += 1
        _keep(file.name, file.getvalue())


def _take_text() -> None:
    text = st.session_state["corpus_pasted"]
    if text.strip():
        _keep(PASTED, text.encode())


def _keep(name: str, content: bytes) -> None:
    st.session_state.pop(FAULT, None)
    try:
        corpora.choose(take_file(browser.secret(), name, content))
    except ValueError as error:
        st.session_state[FAULT] = error


def _take_delete(choice: corpora.Choice) -> None:
    tokenizing.cancel_all(choice)
    try:
        delete(choice.key, browser.secret())
    except (ValueError, OSError) as error:
        st.session_state[FAULT] = error
    corpora.choose(corpora.FIRST)
