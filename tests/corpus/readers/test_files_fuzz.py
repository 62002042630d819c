"""Whatever the bytes: a reading or one ValueError, and records in = records used + records reported."""

import csv
import io
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minigpt.corpus.readers.encodings import ENCODINGS, EncodingFault, decode, fitting_encodings, preview
from minigpt.corpus.readers.files import FORMATS, ReadOptions, read_corpus
from minigpt.corpus.readers.read_result import ReadResult
from minigpt.corpus.readers.tables import DELIMITERS
from minigpt.corpus.splitting import DUPLICATES, SplitOptions, split_records

PIECES = ["a", "b", " ", "\n", "\r", "\r\n", ",", ";", "\t", '"', '""', "text", "\ufeff", "\0", "\u2028", "é", "法"]
PIECES += ["{", "}", "[", "]", ":", '"text"', '"id"', "\\ud83d", "\\ude00", "\\n", "null", "1", '{"text": "a"}', '"a"']
ROUGH = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
CELL = st.text(st.characters(codec="utf-8", exclude_characters='\0\n\r,"'), max_size=12)
LINE = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), max_size=12)
VALUE = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "id", "n"]), inner),
    max_leaves=4,
)
OPTIONS = st.builds(
    ReadOptions,
    format=st.sampled_from([None, *FORMATS]),
    encoding=st.sampled_from(list(ENCODINGS)),
    column=st.sampled_from([None, None, "text", "a"]),
    delimiter=st.sampled_from([None, None, *DELIMITERS]),
    continuous=st.booleans(),
)


def tried(content: bytes, file: str, options: ReadOptions | None = None) -> ReadResult | None:
    """The reading, None for a ValueError, which must be one sentence."""
    try:
        reading = read_corpus(content, file, options)
    except ValueError as error:
        assert str(error) and "\n" not in str(error) and "\r" not in str(error)
        return None
    assert all(text.strip() for text in texts(reading))
    assert len({record.id for record in reading.records}) == len(reading.records)
    return reading


def texts(reading: ReadResult) -> list[str]:
    return [record.text for record in reading.records + (reading.validation or ())]


def check_kept(reading: ReadResult | None, written: list[str]) -> None:
    """The usable texts are those that were written, the others are reported as empty."""
    wanted = [text for text in written if text.strip()]
    assert (texts(reading) if reading else []) == wanted
    if reading:
        assert len(reading.empty) == len(written) - len(wanted) and not reading.faults


@given(st.binary(max_size=60), st.sampled_from(["a.txt", "a.csv", "a.jsonl", "a.json"]), OPTIONS)
def test_any_bytes(content: bytes, file: str, options: ReadOptions):
    reading = tried(content, file, options)
    if reading:
        assert reading.found == reading.used + len(reading.empty) + len(reading.faults)


@given(ROUGH, st.sampled_from(["a.txt", "a.csv", "a.tsv", "a.jsonl", "a.json"]))
def test_any_text_of_telling_pieces(text: str, file: str):
    tried(text.encode(), file)


@given(st.binary(max_size=80), st.sampled_from(list(ENCODINGS)))
def test_any_bytes_in_any_encoding(content: bytes, encoding: str):
    try:
        decoded = decode(content, encoding)
    except EncodingFault as error:
        assert 0 <= error.offset < len(content) and error.byte == content[error.offset]
        assert preview(content, encoding).fault
    else:
        decoded.text.encode("utf-8")
        assert not preview(content, encoding).fault
    assert set(fitting_encodings(content)) <= set(ENCODINGS)


@given(st.lists(LINE, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
@example(["\ufeffa"], "\n", True)
@example(["a\u2028b", " c "], "\r\n", False)
def test_lines_in_are_lines_out(lines: list[str], end: str, ended: bool):
    text = end.join(lines) + (end if ended and lines else "")
    if not ended and lines and not lines[-1]:
        lines = lines[:-1]  # an end of the last line, not a line
    check_kept(tried(b"\xef\xbb\xbf" + text.encode(), "a.txt"), lines)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=60))
def test_one_text_in_is_one_text_out(text: str):
    reading = tried(b"\xef\xbb\xbf" + text.encode(), "a.txt", ReadOptions(continuous=True))
    check_kept(reading, [text] if text.strip() else [])


@given(
    st.lists(TEXT, max_size=8),
    st.sampled_from(list(DELIMITERS)),
    st.sampled_from([("\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_MINIMAL)]),
)
@example(['a"b', "c\r\nd", "e\rf", "\n"], "comma", ("\n", csv.QUOTE_ALL))
def test_cells_in_are_cells_out(cells: list[str], delimiter: str, style: tuple[str, int]):
    (end, quoting), file = style, io.StringIO(newline="")
    writer = csv.writer(file, delimiter=DELIMITERS[delimiter], lineterminator=end, quoting=quoting)
    writer.writerows([["n", "text"], *([str(i), cell] for i, cell in enumerate(cells))])
    check_kept(tried(file.getvalue().encode(), "a.csv", ReadOptions(delimiter=delimiter)), cells)


@given(st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=8))
def test_every_row_is_used_or_reported(rows: list[list[str]]):
    """Rows of other lengths than the header's are faults, each with its line."""
    written = "text,n\n" + "".join(",".join(row) + "\n" for row in rows)
    reading = tried(written.encode(), "a.csv")
    if reading is None:
        assert not any(len(row) != 2 and row != [""] or row[0].strip() for row in rows)
        return
    assert reading.found == len(rows)
    assert [fault.place for fault in reading.faults] == [
        f"line {i}" for i, row in enumerate(rows, start=2) if len(row) != 2 and row != [""]
    ]
    assert texts(reading) == [row[0] for row in rows if len(row) == 2 and row[0].strip()]


@given(st.lists(VALUE, max_size=6), st.booleans())
def test_values_in_are_records_used_or_reported(values: list, as_lines: bool):
    if as_lines:
        reading = tried("".join(json.dumps(value) + "\n" for value in values).encode(), "a.jsonl")
    else:
        reading = tried(json.dumps(values).encode(), "a.json")
    found = [value.get("text") if isinstance(value, dict) else value for value in values]
    if reading is None:
        assert not any(isinstance(text, str) and text.strip() for text in found)
        return
    assert reading.found == len(values)
    assert texts(reading) == [text for text in found if isinstance(text, str) and text.strip()]


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), min_size=1, max_size=6))
def test_every_rough_line_of_json_is_used_or_reported(lines: list[bytes]):
    reading = tried(b"".join(line + b"\n" for line in lines), "a.jsonl")
    if reading and not reading.line_ends.cr:
        assert reading.found == len(lines)


@given(
    st.lists(st.sampled_from(["a", "a ", "b", "b\t", "c", "d", "e", "", " "]) | LINE, max_size=30),
    st.none() | st.floats(0, 0.99),
    st.integers(0, 5),
    st.sampled_from(DUPLICATES),
    st.booleans(),
)
def test_splits_lose_nothing_and_leak_nothing(
    lines: list[str], share: float | None, seed: int, duplicates: str, trailing: bool
):
    reading = tried(("\ufeff" + "".join(line + "\n" for line in lines)).encode(), "a.txt")
    if reading is None:
        return
    made = split_records(reading, SplitOptions(share, seed, duplicates, ignore_trailing_space=trailing))
    train, validation = made.corpus.train, made.corpus.validation
    assert len(train) + len(validation) + made.dropped == reading.used == len(reading.records)
    assert {*train} | {*validation} <= {*reading.records} and not {*train} & {*validation}
    assert bool(validation) != bool(made.no_validation) and train
    shared = {key(record.text, trailing) for record in train} & {key(record.text, trailing) for record in validation}
    assert (duplicates == "apart" or not shared) and bool(made.leaked) == bool(shared)
    assert made.distinct + made.duplicates == reading.used
    assert read_corpus(_to_jsonl(train).encode(), "a.jsonl").records == train


def key(text: str, trailing: bool) -> str:
    return text.rstrip() if trailing else text


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(data=st.data())
def test_texts_survive_each_encoding(encoding: str, data: st.DataObject):
    """Characters that the encoding has, written in it; the mark that UTF-16 and UTF-32 need is no text."""
    letters = "aZ 9~" if encoding not in ("gb18030", "big5") else "aZ 9天地人"
    lines = data.draw(st.lists(st.text(letters, max_size=8), max_size=6))
    content = "".join(line + "\n" for line in lines).encode(encoding)
    check_kept(tried(content, "a.txt", ReadOptions(encoding=encoding)), lines)


def _to_jsonl(records: tuple) -> str:
    rows = ({"id": record.id, "text": record.text} for record in records)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
