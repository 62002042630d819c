"""A corpus of this browser: what its file gives under the choices made for it, read once for all reruns."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from minigpt.corpus import library
from minigpt.corpus.library import Choices
from minigpt.corpus.readers.files import ReadOptions, read_corpus
from minigpt.corpus.readers.read_result import ReadResult
from minigpt.corpus.splitting import CorpusSplit, SplitOptions, split_records
from minigpt.ui.base import browser
from minigpt.ui.shared.corpora import Choice


@dataclass(frozen=True)
class Prepared:
    """What a file gives: its records and their split, or the fault that has to be settled first."""

    read: ReadResult | None
    split: CorpusSplit | None
    fault: ValueError | None


def choices(choice: Choice) -> Choices:
    """How this corpus is read and split."""
    return library.read_choices(choice.key, browser.secret())


def change_reading(choice: Choice, **changes: Any) -> None:
    """Read it in another way, in a callback."""
    library.write_choices(choice.key, browser.secret(), choices(choice).with_reading(**changes))


def change_split(choice: Choice, **changes: Any) -> None:
    """Split it in another way, in a callback."""
    now = choices(choice)
    library.write_choices(choice.key, browser.secret(), replace(now, split=replace(now.split, **changes)))


def prepared(choice: Choice) -> Prepared:
    """What the file gives; its corpus is on disk afterwards, if there is one."""
    now, label = choices(choice), library.read_label(choice.key, browser.secret())
    read = _read(label.hash, label.name, now.read, library.source(choice.key, browser.secret()))
    if isinstance(read, ValueError):
        return Prepared(None, None, read)
    split = _split(label.hash, label.name, now.read, now.split, read)
    if isinstance(split, ValueError):
        return Prepared(read, None, split)
    if not choice.path.exists():
        library.keep_corpus(choice.key, browser.secret(), split.corpus)
    return Prepared(read, split, None)


@st.cache_resource(show_spinner=False, max_entries=4)
def _read(content_hash: str, name: str, options: ReadOptions, _content: bytes) -> ReadResult | ValueError:
    try:
        return read_corpus(_content, name, options)
    except ValueError as error:
        return _bare(error)


@st.cache_resource(show_spinner=False, max_entries=4)
def _split(
    content_hash: str, name: str, options: ReadOptions, split: SplitOptions, _result: ReadResult
) -> CorpusSplit | ValueError:
    try:
        return split_records(_result, split)
    except ValueError as error:
        return _bare(error)


def _bare(error: ValueError) -> ValueError:
    """The error without the frames it came through, which would keep the whole file in memory."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
