"""A corpus of this browser: how its file is read and split, and what came of it."""

from dataclasses import asdict, dataclass, fields, replace
from pathlib import PurePath

import streamlit as st

from minigpt.corpus.library import keep_corpus, put, read_choices, read_label, source, write_choices
from minigpt.corpus.readers.detect_continuous import continuity
from minigpt.corpus.readers.encodings import EncodingFault, decode
from minigpt.corpus.readers.files import FORMATS, ReadOptions, check_size, read_corpus
from minigpt.corpus.readers.read_result import Reading
from minigpt.corpus.splitting import Split, SplitOptions, split_records
from minigpt.ui.base import browser
from minigpt.ui.base.text import t
from minigpt.ui.shared.corpora import Choice


@dataclass(frozen=True)
class Choices:
    """How to read and how to split."""

    read: ReadOptions
    split: SplitOptions


@dataclass(frozen=True)
class Outcome:
    """What came of a file: a reading, and the corpus, or the fault that has to be settled first."""

    reading: Reading | None
    split: Split | None
    fault: ValueError | None


def take(name: str, content: bytes) -> str:
    """Keep a file for this browser, with the reading that its text suggests; its id.

    Raises ValueError for a file that is empty or beyond the limits, or when this browser keeps too many.
    """
    check_size(name, len(content))
    if not content.strip():
        kind = t("it is empty (0 bytes)") if not content else t("there is nothing but white space in it")
        raise ValueError(t("{file} has no usable records: {kind}", file=name, kind=kind))
    id = put(browser.secret(), name, content)
    if not read_choices(id, browser.secret()) and is_text(name):
        try:
            suggested = continuity(decode(content).text).continuous
        except EncodingFault:
            suggested = False
        _write(id, Choices(ReadOptions(continuous=suggested), SplitOptions()))
    return id


def choices(choice: Choice) -> Choices:
    """How this corpus is read and split; what is not understood any more is the default."""
    kept = read_choices(choice.key, browser.secret())
    try:
        return Choices(_from(ReadOptions, kept.get("read", {})), _from(SplitOptions, kept.get("split", {})))
    except (ValueError, TypeError):
        return Choices(ReadOptions(), SplitOptions())


def change_reading(choice: Choice, **changes) -> None:
    """Read it otherwise, in a callback. Faults are agreed to anew."""
    now = choices(choice)
    _write(choice.key, Choices(replace(now.read, **changes), replace(now.split, skip_faults=False)))


def change_split(choice: Choice, **changes) -> None:
    """Split it otherwise, in a callback."""
    now = choices(choice)
    _write(choice.key, replace(now, split=replace(now.split, **changes)))


def outcome(choice: Choice) -> Outcome:
    """What came of the file; its corpus is on the shelf afterwards, if there is one."""
    now, label = choices(choice), read_label(choice.key, browser.secret())
    content = source(choice.key, browser.secret())
    reading = _reading(label.hash, label.name, now.read, content)
    if isinstance(reading, ValueError):
        return Outcome(None, None, reading)
    split = _split(label.hash, label.name, now.read, now.split, reading)
    if isinstance(split, ValueError):
        return Outcome(reading, None, split)
    if not choice.path.exists():
        keep_corpus(choice.key, browser.secret(), split.corpus)
    return Outcome(reading, split, None)


@st.cache_resource(show_spinner=False, max_entries=4)
def _reading(hash: str, name: str, options: ReadOptions, _content: bytes) -> Reading | ValueError:
    try:
        return read_corpus(_content, name, options)
    except ValueError as error:
        return _bare(error)


@st.cache_resource(show_spinner=False, max_entries=4)
def _split(hash: str, name: str, read: ReadOptions, options: SplitOptions, _reading: Reading) -> Split | ValueError:
    try:
        return split_records(_reading, options)
    except ValueError as error:
        return _bare(error)


def _bare(error: ValueError) -> ValueError:
    """The error without the frames it came through, which would keep the whole file in memory."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def is_text(name: str) -> bool:
    """Whether a file of this name is read as txt."""
    return PurePath(name).suffix.lower() in FORMATS["txt"]


def _write(id: str, now: Choices) -> None:
    write_choices(id, browser.secret(), {"read": asdict(now.read), "split": asdict(now.split)})


def _from(kind: type, values: dict):
    return kind(**{field.name: values[field.name] for field in fields(kind) if field.name in values})
