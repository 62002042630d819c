"""How a file was read, in words, with every choice that was made for it; and what has to be settled first."""

import pandas as pd
import streamlit as st

from minigpt.corpus.library import read_label, source
from minigpt.corpus.readers.detect_continuous import continuity
from minigpt.corpus.readers.encodings import (
    ENCODINGS,
    EncodingFault,
    decode,
    fitting_encodings,
    likely_encoding,
    preview,
)
from minigpt.corpus.readers.files import COLUMN, FORMATS, format_of, longest_column
from minigpt.corpus.readers.read_result import ColumnMissing, FaultyRecords, Reading, listed
from minigpt.corpus.readers.tables import DELIMITERS
from minigpt.ui.base import browser, messages
from minigpt.ui.base.text import plain, t
from minigpt.ui.corpus import own as corpus_own
from minigpt.ui.shared.corpora import Choice
from minigpt.ui.shared.corpus_texts import readable

SHOWN = 500  # faults in the table; all are counted
REASONS = {
    "few-lines": "it has few lines, and they are long",
    "long-lines": "its lines are long",
    "paragraphs": "its lines are paragraphs with blank lines between them",
    "wrapped": "its lines are of like length and most end within a sentence",
    "lines": "its lines stand by themselves",
}


def draw(choice: Choice, now: corpus_own.Outcome) -> None:
    """What was read, or what to choose; the choices themselves in a box."""
    if now.fault is not None:
        _settle(choice, now)
    else:
        st.markdown(plain(_said(now.reading)))
    if now.reading is not None:
        for sentence in now.reading.notes:
            messages.notice(sentence)
        if now.fault is None and now.reading.faults:
            with st.expander(t("Records left out: {count}", count=f"{len(now.reading.faults):,}")):
                _faults(now.reading)
    with st.expander(t("How the file is read"), expanded=now.fault is not None):
        _choices(choice, now)


def _said(reading: Reading) -> str:
    """Format, encoding, what was found, and what is no record."""
    mark = t(" (byte order mark removed)") if reading.mark else ""
    said = [t("{file}: {format}, {encoding}{mark}, {size} bytes.", file=reading.file, format=reading.format,
              encoding=reading.encoding, mark=mark, size=f"{reading.size:,}")]  # fmt: skip
    if reading.continuous:
        said.append(t("Read as one continuous text."))
    elif reading.format == "txt":
        said.append(t("Each line is a record: {used} records.", used=f"{reading.used:,}"))
    else:
        said.append(t("{used} records from '{column}'.", used=f"{reading.used:,}", column=reading.column))
    if reading.empty:
        text = (
            "{count} empty records skipped: {places}."
            if len(reading.empty) > 1
            else "1 empty record skipped: {places}."
        )
        said.append(t(text, count=f"{len(reading.empty):,}", places=listed(reading.empty)))
    ends = reading.line_ends
    if ends and ends.crlf and not reading.continuous:
        said.append(t("Line ends CR LF belong to no record."))
    return " ".join(said)


def _settle(choice: Choice, now: corpus_own.Outcome) -> None:
    """The fault, and what can be done about it."""
    if isinstance(now.fault, ColumnMissing) and _is_question(choice, now.fault):
        _which_column(choice, now.fault)
        return
    messages.problem(t("Not read yet: {fault}.", fault=str(now.fault).rstrip(".")))
    if isinstance(now.fault, EncodingFault):
        _encodings(choice)
    elif isinstance(now.fault, ColumnMissing):
        _columns(choice, now.fault, t("Where are the texts?"))
    elif isinstance(now.fault, FaultyRecords):
        _faults(now.reading)
        count = len(now.fault.faults)
        text = "Go on without these {count} records" if count > 1 else "Go on without this record"
        st.button(
            t(text, count=f"{count:,}"), key="corpus_without", type="primary", disabled=not now.reading.used,
            on_click=corpus_own.change_split, args=(choice,), kwargs={"skip_faults": True},
        )  # fmt: skip


def _is_question(choice: Choice, fault: ColumnMissing) -> bool:
    """Whether nothing is wrong: nobody has named a column, and the names are not a row that was split wrongly."""
    one_name = len(fault.columns) == 1 and any(mark in fault.columns[0] for mark in DELIMITERS.values())
    return corpus_own.choices(choice).read.column is None and not one_name


def _which_column(choice: Choice, fault: ColumnMissing) -> None:
    """The columns to choose from, and the one that holds the longest texts."""
    name, content = read_label(choice.key, browser.secret()).name, source(choice.key, browser.secret())
    read = corpus_own.choices(choice).read
    longest, is_table = longest_column(content, name, read), format_of(name, read) == "csv"
    text = (
        "Which column holds the texts? None is called '{name}'."
        if is_table
        else ("Which field holds the texts? None is called '{name}'.")
    )
    if longest is not None:
        text += " Likely '{longest}', which holds the longest."
    messages.hint(t(text, name=COLUMN, longest=longest))
    _columns(choice, fault, t("Column of the texts") if is_table else t("Field of the texts"))


def _columns(choice: Choice, fault: ColumnMissing, question: str) -> None:
    st.pills(
        question, fault.columns, key=f"corpus_column_{choice.key}", format_func=plain, on_change=_take_column,
        args=(choice,),
    )  # fmt: skip


def _faults(reading: Reading) -> None:
    shown = reading.faults[:SHOWN]
    table = {
        t("file"): [fault.file for fault in shown],
        t("place"): [fault.place for fault in shown],
        t("reason"): [fault.reason for fault in shown],
    }
    st.dataframe(pd.DataFrame(table), hide_index=True, width="stretch", key="corpus_faults")
    if len(reading.faults) > SHOWN:
        text = "The first {shown} of {count} faults."
        st.caption(t(text, shown=SHOWN, count=f"{len(reading.faults):,}"))


def _encodings(choice: Choice) -> None:
    """The encodings that fit, each with how the file begins in it: only its reader can know which is right."""
    content = source(choice.key, browser.secret())
    fitting = fitting_encodings(content)
    if not fitting:
        st.markdown(t("It is text in none of the encodings known here; save it as UTF-8 and bring it again."))
        return
    st.markdown(t("In which encoding does it read right? The lines show how it begins."))
    likely = likely_encoding(content)
    fitting = tuple(sorted(fitting, key=lambda name: name != likely))
    begins = [" / ".join(filter(None, preview(content, name, lines=3).lines)) for name in fitting]
    table = pd.DataFrame(
        {
            t("encoding"): list(fitting),
            t("looks like it"): [t("likely") if name == likely else "" for name in fitting],
            t("for"): [ENCODINGS[name] for name in fitting],
            t("the file begins"): [readable(begin, 160) for begin in begins],
        }
    )
    st.dataframe(table, hide_index=True, width="stretch", key="corpus_previews")
    st.pills(
        t("Read it as"), fitting, key=f"corpus_encoding_{choice.key}", on_change=_take_encoding, args=(choice,),
        format_func=lambda name: t("{name} (likely)", name=name) if name == likely else name,
    )  # fmt: skip


def _choices(choice: Choice, now: corpus_own.Outcome) -> None:
    """Every choice of the reading, at its present value."""
    read = corpus_own.choices(choice).read
    name = read_label(choice.key, browser.secret()).name
    first, second, third = st.columns(3)
    with first:
        _select(choice, "format", t("Format"), ("", *FORMATS), read.format, t("by the file's name"))
    with second:
        _select(choice, "encoding", t("Encoding"), tuple(ENCODINGS), read.encoding)
    is_text = read.format == "txt" or (read.format is None and corpus_own.is_text(name))
    with third:
        if is_text:
            _lines_or_text(choice, read.continuous)
        else:
            _select(choice, "delimiter", t("Between cells"), ("", *DELIMITERS), read.delimiter, t("by the name"))
    if not is_text:
        columns = now.reading.columns if now.reading else ()
        if columns:
            _select(choice, "column", t("Column of the texts"), columns, now.reading.column)
        else:
            key = f"corpus_field_{choice.key}"
            st.session_state[key] = read.column or "text"
            st.text_input(t("Field of the texts"), key=key, on_change=_take, args=(choice, "column", key))


def _lines_or_text(choice: Choice, continuous: bool) -> None:
    key = f"corpus_continuous_{choice.key}"
    st.session_state[key] = continuous
    names = {False: t("one record a line"), True: t("one continuous text")}
    st.radio(
        t("The text is"), (False, True), key=key, format_func=names.get, horizontal=True,
        on_change=_take, args=(choice, "continuous", key),
    )  # fmt: skip
    try:
        found = continuity(decode(source(choice.key, browser.secret()), corpus_own.choices(choice).read.encoding).text)
    except ValueError:
        return
    text = "It looks like {kind}: {reason}."
    st.caption(t(text, kind=names[found.continuous], reason=t(REASONS[found.reason])))


def _select(
    choice: Choice, field: str, label: str, options: tuple[str, ...], value: str | None, unset: str = ""
) -> None:
    """A choice of the reading; the option "" leaves it unset and is called `unset`."""
    key = f"corpus_{field}_choice_{choice.key}"
    st.session_state[key] = value or ""
    st.selectbox(
        label, options, key=key, format_func=lambda option: option or unset, on_change=_take, args=(choice, field, key)
    )


def _take(choice: Choice, field: str, key: str) -> None:
    value = st.session_state[key]
    value = None if value == "" else value
    changes = {field: value}
    if field == "format" and value != "txt":
        changes["continuous"] = False
    if field == "format" and value != "csv":
        changes["delimiter"] = None
    if field == "format" and value == "txt":
        changes["column"] = None
    corpus_own.change_reading(choice, **changes)


def _take_column(choice: Choice) -> None:
    column = st.session_state[f"corpus_column_{choice.key}"]
    if column is not None:
        corpus_own.change_reading(choice, column=column)


def _take_encoding(choice: Choice) -> None:
    encoding = st.session_state[f"corpus_encoding_{choice.key}"]
    if encoding is not None:
        corpus_own.change_reading(choice, encoding=encoding)
