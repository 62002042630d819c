"""From the bytes of a file to a `ReadResult`: txt, csv, JSON Lines, JSON and the project's own corpus format.

The format comes from the file's name or the caller, the encoding from the caller (UTF-8 by default):
neither is guessed from the content. An option that does not apply to a format is refused.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePath

from minigpt.corpus.readers.encodings import decode
from minigpt.corpus.readers.lines import LineEnds, line_count, line_ends, split_lines
from minigpt.corpus.readers.objects import TEXT_FIELD as COLUMN
from minigpt.corpus.readers.objects import parsed, read_document, read_lines
from minigpt.corpus.readers.read_result import LINE, RECORD, TEXT, Gathered, ReadResult
from minigpt.corpus.readers.tables import DELIMITERS, read_table, table_head
from minigpt.limits import limit
from minigpt.sentences import Refusal
from minigpt.validation import check_choice

FORMATS = {  # and how the names of their files end
    "txt": (".txt", ".text"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
}
HEAD = 200  # rows that show which column is likely
MOST_HEAD = 1_000_000  # characters of a file that are read for it


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; None leaves it to the file's name or to the default.

    `column` is for csv, jsonl and json, `delimiter` (a name of DELIMITERS) for csv, `continuous` (one
    text, not one a line) for txt. Raises ValueError for an unknown value.
    """

    format: str | None = None
    encoding: str = "utf-8"
    column: str | None = None
    delimiter: str | None = None
    continuous: bool = False

    def __post_init__(self) -> None:
        check_choice("format", self.format, (None, *FORMATS))
        check_choice("delimiter", self.delimiter, (None, *DELIMITERS))
        check_choice("continuous", self.continuous, (True, False))


def read_file(path: str | Path, options: ReadOptions | None = None) -> ReadResult:
    """Read a file from disk; `read_corpus` says what is raised, and ValueError for a file that cannot be opened."""
    path = Path(path)
    try:
        check_size(path.name, path.stat().st_size)
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise Refusal("there is no corpus file {path}", path=path) from error
    except OSError as error:
        raise Refusal("{path} cannot be read: {reason}", path=path, reason=error.strerror) from error
    return read_corpus(content, path.name, options)


def read_corpus(content: bytes, file: str, options: ReadOptions | None = None) -> ReadResult:
    """All records of a file named `file`, with everything that is empty or faulty in it.

    Raises ValueError, in one sentence with the file's name, for a file beyond the limits, an unknown
    format, an option that does not apply to the format, bytes that are not text in the encoding
    (EncodingFault), a missing column or field (ColumnMissing), content that is not of the format as a
    whole, and for no usable record. Faults of single records are listed in the result.

    Example: `read_corpus(b"one\\n\\ntwo\\n", "a.txt")` has the records `line-1` and `line-3`, and `line 2` is empty.
    """
    options = options or ReadOptions()
    check_size(file, len(content))
    file_format = format_of(file, options)
    decoded = decode(content, options.encoding, file)
    parts = _READERS[file_format](decoded.text, file, options)
    gathered, validation = parts.gathered, parts.validation
    both = [gathered, validation] if validation else [gathered]
    empty = tuple(place for part in both for place in part.empty)
    faults = tuple(fault for part in both for fault in part.faults)
    if not faults and not any(part.texts for part in both):
        raise no_records(file, content, blank=bool(empty))
    return ReadResult(
        file=file,
        name=parts.name or PurePath(file).stem or file,
        format=parts.format,
        encoding=decoded.encoding,
        mark=decoded.mark,
        size=len(content),
        content_hash=hashlib.sha256(content).hexdigest()[:16],
        records=gathered.records(),
        validation=validation.records() if validation else None,
        empty=empty,
        faults=faults,
        line_ends=parts.line_ends,
        continuous=options.continuous,
        column=None if file_format == "txt" else options.column or COLUMN,
        columns=parts.columns,
        notes=tuple(note for part in both for note in part.notes()),
    )


def longest_column(content: bytes, file: str, options: ReadOptions | None = None) -> str | None:
    """The column of a csv, or field of objects, with the longest texts on average in the first 200 rows.

    Of equals the first one; None when no text is found. A suggestion only.

    >>> longest_column(b"id,content\\n1,the red key\\n", "a.csv")
    'content'
    """
    options = options or ReadOptions()
    lengths: Counter[str] = Counter()
    try:
        text = decode(content, options.encoding, file).text
        if (file_format := format_of(file, options)) == "csv":
            rows = table_head(text, _delimiter(file, options), file, HEAD)
        elif file_format == "jsonl":
            rows = [parsed(line) for line in text[:MOST_HEAD].split("\n")[:HEAD] if line.strip()]
        else:
            rows = []
    except ValueError:
        return None
    for row in rows:
        if isinstance(row, dict):
            lengths.update({name: len(value) for name, value in row.items() if isinstance(value, str)})
    return max(lengths, key=lambda name: lengths[name]) if lengths else None


def format_of(file: str, options: ReadOptions) -> str:
    """The format by the file's name, or the one asked for; ValueError when options do not fit it, or it is unknown."""
    endings = {ending: name for name, all_endings in FORMATS.items() for ending in all_endings}
    file_format = options.format or endings.get(PurePath(file).suffix.lower())
    if file_format is None:
        raise Refusal(
            "the name of {file} does not tell its format: it must end in {endings}, or the format must be "
            "chosen ({formats})",
            file=file,
            endings=", ".join(endings),
            formats=", ".join(FORMATS),
        )
    for option, value, fits in (
        ("continuous", options.continuous, ("txt",)),
        ("delimiter", options.delimiter, ("csv",)),
        ("column", options.column, ("csv", "jsonl", "json")),
    ):
        if value and file_format not in fits:
            raise Refusal(
                "{option} is for {formats} files, and {file} is read as {format}",
                option=option,
                formats=", ".join(fits),
                file=file,
                format=file_format,
            )
    return file_format


def no_records(file: str, content: bytes, blank: bool) -> Refusal:
    """Why a file without records has none."""
    if not content:
        return Refusal("{file} has no usable records: it is empty (0 bytes)", file=file)
    if blank:
        return Refusal("{file} has no usable records: it holds only white space", file=file)
    return Refusal("{file} has no usable records: it holds none at all", file=file)


def check_size(file: str, size: int) -> None:
    """Raises ValueError for a file of more bytes than the limit."""
    most = limit("MINIGPT_UPLOAD_BYTES")
    if size > most:
        raise Refusal(
            "{file} has {size:,} bytes, at most {most:,} are read (MINIGPT_UPLOAD_BYTES)",
            file=file,
            size=size,
            most=most,
        )


@dataclass(frozen=True)
class _Parts:
    """What one format gives."""

    format: str
    gathered: Gathered
    validation: Gathered | None = None
    line_ends: LineEnds | None = None
    columns: tuple[str, ...] = ()
    name: str = ""


def _read_text(text: str, file: str, options: ReadOptions) -> _Parts:
    if options.continuous:
        whole = Gathered(file, TEXT)
        if text:
            whole.take(1, text)
        return _Parts("txt", whole, line_ends=line_ends(text))
    gathered = Gathered(file, LINE)
    gathered.expect(line_count(text))
    lines, ends = split_lines(text)
    for number, line in enumerate(lines, start=1):
        gathered.take(number, line)
    return _Parts("txt", gathered, line_ends=ends)


def _read_table(text: str, file: str, options: ReadOptions) -> _Parts:
    gathered = Gathered(file, LINE)
    columns = read_table(text, gathered, options.column or COLUMN, _delimiter(file, options))
    return _Parts("csv", gathered, line_ends=line_ends(text), columns=columns)


def _read_lines(text: str, file: str, options: ReadOptions) -> _Parts:
    gathered = Gathered(file, LINE)
    return _Parts("jsonl", gathered, line_ends=read_lines(text, gathered, options.column or COLUMN))


def _read_json(text: str, file: str, options: ReadOptions) -> _Parts:
    if not text.strip():
        return _Parts("json", Gathered(file, RECORD))
    document = read_document(text, file, options.column or COLUMN)
    own_format = "json" if document.validation is None else "corpus"
    return _Parts(own_format, document.gathered, document.validation, name=document.version or "")


_READERS = {"txt": _read_text, "csv": _read_table, "jsonl": _read_lines, "json": _read_json}


def _delimiter(file: str, options: ReadOptions) -> str:
    by_name = "tab" if file.lower().endswith(".tsv") else "comma"
    return DELIMITERS[options.delimiter or by_name]
