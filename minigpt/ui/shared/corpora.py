"""The corpora to choose from, shipped ones and those of this browser, and the one that is chosen."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minigpt.corpus.corpus import Corpus
from minigpt.corpus.library import (
    CORPORA,
    FIRST,
    browser_folder,
    bundled,
    bundled_keys,
    corpora_of,
    corpus_folder,
    read_label,
)
from minigpt.corpus.readers.objects import load_corpus
from minigpt.sentences import reason_of, say
from minigpt.storage.atomic import write_atomic
from minigpt.ui.base import browser, workspace
from minigpt.ui.base.text import t, translate

GONE = "corpora_gone"  # session: why a corpus of the link is not here
MG_1 = say("The records of MG-1: short sentences that look up a word and name it again.")


@dataclass(frozen=True)
class Choice:
    """A corpus by its name in data/ or the id of a reader's file."""

    key: str
    title: str
    about: str
    path: Path  # of the corpus in the project's own format; a file that is not yet read to its end has none
    place: Path  # where its tokenizers are kept
    own: bool

    @property
    def ready(self) -> bool:
        """Whether there is a corpus to train on."""
        return not self.own or self.path.exists()


def choices() -> list[Choice]:
    """Those of this browser, the newest first, then the shipped ones."""
    own = [_own(name) for name in corpora_of(browser.secret())]
    return [*own, *map(_bundled, bundled_keys())]


def current() -> Choice:
    """The chosen one. One that is not here gives way to that of the shipped run, see `gone`."""
    key = workspace.current().corpus or FIRST
    if key in bundled_keys():
        return _bundled(key)
    try:
        return _own(key)
    except ValueError as error:
        st.session_state[GONE] = reason_of(error)
        workspace.choose(corpus=None)
        workspace.write_url()
        return _bundled(FIRST)


def gone() -> str:
    """Why the chosen corpus is not shown, once; "" when it is."""
    return st.session_state.pop(GONE, "")


def choose(key: str) -> None:
    """Look at another one, in a callback."""
    workspace.choose(corpus=None if key == FIRST else key)


def loaded(choice: Choice) -> Corpus:
    """Its records, read once for all readers.

    Raises ValueError for a damaged file, OSError for a missing one. A shipped text is split once, and kept
    in the project's own format, which the processes that learn from it read.
    """
    if not choice.own and not choice.path.exists():
        choice.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(choice.path, bundled(choice.key).corpus().to_json().encode())
    return _loaded(str(choice.path), choice.path.stat().st_mtime_ns)


@st.cache_resource(show_spinner=False, max_entries=8)
def _loaded(path: str, stamp: int) -> Corpus:
    return load_corpus(path)


def _bundled(key: str) -> Choice:
    found = bundled(key)
    title, about = (t("MG-1's records"), translate(MG_1)) if key == FIRST else (found.title, found.about)
    path = found.path
    if path.suffix != ".json":
        state = path.stat()
        path = CORPORA.root / "bundled" / f"{key}-{state.st_mtime_ns:x}-{state.st_size:x}.json"
    return Choice(key, title, about, path, browser_folder(browser.secret()), own=False)


def _own(name: str) -> Choice:
    folder = corpus_folder(name, browser.secret())
    title = f"{read_label(name, browser.secret()).name} · {name[-4:]}"
    return Choice(name, title, "", folder / "corpus.json", folder, own=True)
