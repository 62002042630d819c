"""How a file was read, in words, with every choice that was made for it; and what has to be settled first."""

import pandas as pd
import streamlit as st

from minigpt.corpus.library import is_text, read_label, source
from minigpt.corpus.readers.encodings import (
    ENCODINGS,
    EncodingFault,
    decode,
    fitting_encodings,
    likely_encoding,
    preview,
)
from minigpt.corpus.readers.files import COLUMN, FORMATS, format_of, longest_column
from minigpt.corpus.readers.lines import detect_continuous
from minigpt.corpus.readers.read_result import ColumnMissing, FaultyRecords, ReadResult, listed
from minigpt.corpus.readers.tables import DELIMITERS
from minigpt.ui.base import browser, messages
from minigpt.ui.base.text import plain, t, tn, translate
from minigpt.ui.corpus import own as corpus_own
from minigpt.ui.corpus.records import readable
from minigpt.ui.shared.corpora import Choice

SHOWN = 500  # faults in the table; all are counted


def draw(choice: Choice, now: corpus_own.Prepared) -> None:
    """What was read, or what to choose; the choices themselves in a box."""
    if now.fault is not None:
        _settle(choice, now.read, now.fault)
    elif now.read is not None:
        st.markdown(plain(_summary(now.read)))
    if now.read is not None:
        for sentence in now.read.notes:
            messages.notice(sentence)
        if now.fault is None and now.read.faults:
            with st.expander(t("Records left out: {count:,}", count=len(now.read.faults))):
                _faults(now.read)
    with st.expander(t("How the file is read"), expanded=now.fault is not None):
        _choices(choice, now)


def _summary(read: ReadResult) -> str:
    """Format, encoding, what was found, and what does not count as a record."""
    file = {"file": read.file, "format": read.format, "encoding": read.encoding, "size": f"{read.size:,}"}
    if read.mark:
        said = [t("{file}: {format}, {encoding} (byte order mark removed), {size} bytes.", **file)]
    else:
        said = [t("{file}: {format}, {encoding}, {size} bytes.", **file)]
    if read.continuous:
        said.append(t("Read as one continuous text."))
    elif read.format == "txt":
        said.append(
            tn("Each line is a record: {count:,} record.", "Each line is a record: {count:,} records.", count=read.used)
        )
    else:
        said.append(
            tn(
                "{count:,} record from '{column}'.",
                "{count:,} records from '{column}'.",
                count=read.used,
                column=read.column,
            )
        )
    if read.empty:
        said.append(
            tn(
                "{count:,} empty record skipped: {places}.",
                "{count:,} empty records skipped: {places}.",
                count=len(read.empty),
                places=listed(read.empty, len(read.empty)),
            )
        )
    ends = read.line_ends
    if ends and ends.crlf and not read.continuous:
        said.append(t("Line ends CR LF are not part of the records."))
    return " ".join(said)


def _settle(choice: Choice, read: ReadResult | None, fault: ValueError) -> None:
    """The fault, and what can be done about it."""
    if isinstance(fault, ColumnMissing) and _is_question(choice, fault):
        _which_column(choice, fault)
        return
    messages.problem(t("Not read yet: {fault}.", fault=translate(fault).rstrip(".")))
    if isinstance(fault, EncodingFault):
        _encodings(choice)
    elif isinstance(fault, ColumnMissing):
        _columns(choice, fault, t("Where are the texts?"))
    elif isinstance(fault, FaultyRecords) and read is not None:
        _faults(read)
        st.button(
            tn("Go on without this record", "Go on without these {count:,} records", count=len(fault.faults)),
            key="corpus_without",
            type="primary",
            disabled=not read.used,
            on_click=corpus_own.change_split,
            args=(choice,),
            kwargs={"skip_faults": True},
        )


def _is_question(choice: Choice, fault: ColumnMissing) -> bool:
    """Whether nothing is wrong: no column was chosen, and the names do not look like a row that was split wrongly."""
    one_name = len(fault.columns) == 1 and any(mark in fault.columns[0] for mark in DELIMITERS.values())
    return corpus_own.choices(choice).read.column is None and not one_name


def _which_column(choice: Choice, fault: ColumnMissing) -> None:
    """The columns to choose from, and the one that holds the longest texts."""
    name, content = read_label(choice.key, browser.secret()).name, source(choice.key, browser.secret())
    read = corpus_own.choices(choice).read
    longest, is_table = longest_column(content, name, read), format_of(name, read) == "csv"
    values = {"name": COLUMN, "longest": longest}
    if is_table and longest is not None:
        question = t(
            "Which column holds the texts? None is called '{name}'. Likely '{longest}', which holds the longest.",
            **values,
        )
    elif is_table:
        question = t("Which column holds the texts? None is called '{name}'.", name=COLUMN)
    elif longest is not None:
        question = t(
            "Which field holds the texts? None is called '{name}'. Likely '{longest}', which holds the longest.",
            **values,
        )
    else:
        question = t("Which field holds the texts? None is called '{name}'.", name=COLUMN)
    messages.hint(question)
    _columns(choice, fault, t("Column of the texts") if is_table else t("Field of the texts"))


def _columns(choice: Choice, fault: ColumnMissing, question: str) -> None:
    st.pills(
        question,
        fault.columns,
        key=f"corpus_column_{choice.key}",
        format_func=plain,
        on_change=_take_column,
        args=(choice,),
    )


def _faults(read: ReadResult) -> None:
    shown = read.faults[:SHOWN]
    table = {
        t("file"): [fault.file for fault in shown],
        t("place"): [translate(fault.place) for fault in shown],
        t("reason"): [translate(fault.reason) for fault in shown],
    }
    st.dataframe(pd.DataFrame(table), hide_index=True, width="stretch", key="corpus_faults")
    if len(read.faults) > SHOWN:
        st.caption(t("The first {shown} of {count:,} faults.", shown=SHOWN, count=len(read.faults)))


def _encodings(choice: Choice) -> None:
    """The encodings that fit, each with how the file begins in it: only its reader can know which is right."""
    content = source(choice.key, browser.secret())
    fitting = fitting_encodings(content)
    if not fitting:
        st.markdown(t("It is not text in any of the encodings known here; save it as UTF-8 and upload it again."))
        return
    st.markdown(t("In which encoding does it look right? The lines show how it begins."))
    likely = likely_encoding(content)
    fitting = tuple(sorted(fitting, key=lambda name: name != likely))
    begins = [" / ".join(filter(None, preview(content, name, lines=3).lines)) for name in fitting]
    table = pd.DataFrame(
        {
            t("encoding"): list(fitting),
            t("looks like it"): [t("likely") if name == likely else "" for name in fitting],
            t("for"): [translate(ENCODINGS[name]) for name in fitting],
            t("the file begins"): [readable(begin, 160) for begin in begins],
        }
    )
    st.dataframe(table, hide_index=True, width="stretch", key="corpus_previews")
    st.pills(
        t("Read it as"),
        fitting,
        key=f"corpus_encoding_{choice.key}",
        on_change=_take_encoding,
        args=(choice,),
        format_func=lambda name: t("{name} (likely)", name=name) if name == likely else name,
    )


def _choices(choice: Choice, now: corpus_own.Prepared) -> None:
    """Every choice of the reading, at its present value."""
    read = corpus_own.choices(choice).read
    name = read_label(choice.key, browser.secret()).name
    first, second, third = st.columns(3)
    with first:
        _select(choice, "format", t("Format"), ("", *FORMATS), read.format, t("by the file's name"))
    with second:
        _select(choice, "encoding", t("Encoding"), tuple(ENCODINGS), read.encoding)
    plain_text = read.format == "txt" or (read.format is None and is_text(name))
    with third:
        if plain_text:
            _lines_or_text(choice, read.continuous)
        else:
            _select(choice, "delimiter", t("Between cells"), ("", *DELIMITERS), read.delimiter, t("by the name"))
    if not plain_text:
        if now.read is not None and now.read.columns:
            _select(choice, "column", t("Column of the texts"), now.read.columns, now.read.column)
        else:
            key = f"corpus_field_{choice.key}"
            st.session_state[key] = read.column or "text"
            st.text_input(t("Field of the texts"), key=key, on_change=_take, args=(choice, "column", key))


def _lines_or_text(choice: Choice, continuous: bool) -> None:
    key = f"corpus_continuous_{choice.key}"
    st.session_state[key] = continuous
    names = {False: t("one record a line"), True: t("one continuous text")}
    st.radio(
        t("The text is"),
        (False, True),
        key=key,
        format_func=lambda value: names[value],
        horizontal=True,
        on_change=_take,
        args=(choice, "continuous", key),
    )
    try:
        text = decode(source(choice.key, browser.secret()), corpus_own.choices(choice).read.encoding).text
    except ValueError:
        return
    st.caption(translate(detect_continuous(text).reason))


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
