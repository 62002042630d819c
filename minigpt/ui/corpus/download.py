"""What one can take along: the prepared corpus and the tokenizer."""

import tempfile
from pathlib import Path

import streamlit as st

from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.ui.base.text import t
from minigpt.ui.shared.corpora import Choice, loaded


def draw(choice: Choice, learned: Learned | None) -> None:
    """Two files, made when they are asked for."""
    corpus = loaded(choice)
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in corpus.name)[:60] or "corpus"
    with st.container(horizontal=True):
        st.download_button(
            t("Prepared corpus"), lambda: corpus.to_json().encode(), f"{name}.json", "application/json",
            key="corpus_download", icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            t("Tokenizer"), lambda: _tokenizer_file(learned), f"{name}-tokenizer.json", "application/json",
            key="corpus_tokenizer_download", icon=":material/download:", on_click="ignore", disabled=learned is None,
        )  # fmt: skip
    st.markdown(
        t(
            "The corpus holds the split as it is, every text to the letter. Bring it to this page again, on any "
            "computer, or train on it with `python -m minigpt train --corpus`."
        )
    )


def _tokenizer_file(learned: Learned) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        learned.tokenizer.save(path)
        return path.read_bytes()
