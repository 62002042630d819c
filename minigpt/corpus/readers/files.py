"""From the bytes of a file to a `Reading`: txt, csv, JSON Lines, JSON and the project's own corpus format.

The format is told by the file's name or by the caller, the encoding by the caller (UTF-8 by default):
neither is guessed from the content. An option that means nothing to a format is refused.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePath

from minigpt.corpus.corpus import half_character, kind_of
from minigpt.corpus.readers.encodings import decode
from minigpt.corpus.readers.lines import line_count, line_ends, split_lines
from minigpt.corpus.readers.objects import names_of, parsed, read_array, read_lines
from minigpt.corpus.readers.read_result import Gathered, LineEnds, Reading
from minigpt.corpus.readers.tables import DELIMITERS, read_table, table_columns, table_head
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
MOST_HEAD = 1_000_000  # characters of a file that are looked at for it
COLUMN = "text"  # the column or field that is read when none is named


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


def read_file(path: str | Path, options: ReadOptions | None = None) -> Reading:
    """Read a file from disk; `read_corpus` says what is raised, and ValueError for a file that cannot be opened."""
    path = Path(path)
    try:
        check_size(path.name, path.stat().st_size)
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise Refusal("there is no corpus file {path}", path=path) from error
    except OSError as error:
        raise Refusal("{path} cannot be read: {strerror}", path=path, strerror=error.strerror) from error
    return read_corpus(content, path.name, options)


def read_corpus(content: bytes, file: str, options: ReadOptions | None = None) -> Reading:
    """All records of a file named `file`, with all that is empty or at fault in it.

    Raises ValueError, in one sentence with the file's name, for a file beyond the limits, an unknown
    format, an option that the format has no use for, bytes that are not text in the encoding
    (EncodingFault), a missing column or field (ColumnMissing), content that is not of the format as a
    whole, and for no usable record. Faults of single records are listed in the result.

    Example: `read_corpus(b"one\\n\\ntwo\\n", "a.txt")` has the records `line-1` and `line-3`, and `line 2` is empty.
    """
    options = options or ReadOptions()
    check_size(file, len(content))
    format = format_of(file, options)
    decoded = decode(content, options.encoding, file)
    parts = _READERS[format](decoded.text, file, options)
    gathered, validation = parts.gathered, parts.validation
    both = [gathered, validation] if validation else [gathered]
    empty = tuple(place for part in both for place in part.empty)
    faults = tuple(fault for part in both for fault in part.faults)
    if not faults and not any(part.texts for part in both):
        raise Refusal("{file} has no usable records: {emptiness}", file=file, emptiness=_emptiness(content, len(empty)))
    return Reading(
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
        column=None if format == "txt" else options.column or COLUMN,
        columns=parts.columns,
        notes=tuple(note for part in both for note in part.notes()),
    )


def columns_of(content: bytes, file: str, options: ReadOptions | None = None) -> tuple[str, ...]:
    """The columns of a csv file, to choose from; ValueError as `read_corpus` raises it, and for any other format."""
    options = options or ReadOptions()
    if format_of(file, options) != "csv":
        raise Refusal("{file} is no csv file: it has no columns", file=file)
    check_size(file, len(content))
    return table_columns(decode(content, options.encoding, file).text, _delimiter(file, options), file)


def longest_column(content: bytes, file: str, options: ReadOptions | None = None) -> str | None:
    """The column of a csv, or field of objects, with the longest texts in the mean of the first 200 rows.

    Of equals the first one; None when no text is found. A suggestion: nothing is read by it.

    >>> longest_column(b"id,content\\n1,the red key\\n", "a.csv")
    'content'
    """
    options = options or ReadOptions()
    lengths: Counter[str] = Counter()
    try:
        text = decode(content, options.encoding, file).text
        if (format := format_of(file, options)) == "csv":
            rows = table_head(text, _delimiter(file, options), file, HEAD)
        elif format == "jsonl":
            rows = [parsed(line) for line in text[:MOST_HEAD].split("\n")[:HEAD] if line.strip()]
        else:
            rows = []
    except ValueError:
        return None
    for row in rows:
        if isinstance(row, dict):
            lengths.update({name: len(value) for name, value in row.items() if isinstance(value, str)})
    return max(lengths, key=lengths.get) if lengths else None


def format_of(file: str, options: ReadOptions) -> str:
    """The format by the file's name, or the one asked for; ValueError when options do not fit it, or it is unknown."""
    endings = {ending: format for format, all_endings in FORMATS.items() for ending in all_endings}
    format = options.format or endings.get(PurePath(file).suffix.lower())
    if format is None:
        raise Refusal(
            "the name of {file} does not tell its format: it must end in {endings}, or the "
            "format be chosen ({formats})",
            file=file,
            endings=", ".join(endings),
            formats=", ".join(FORMATS),
        )
    for name, value, fits in (
        ("continuous", options.continuous, ("txt",)),
        ("delimiter", options.delimiter, ("csv",)),
        ("column", options.column, ("csv", "jsonl", "json")),
    ):
        if value and format not in fits:
            raise Refusal(
                "{name} is for {fits} files, and {file} is read as {format}",
                name=name,
                fits=", ".join(fits),
                file=file,
                format=format,
            )
    return format


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
    gathered = Gathered(file)
    if options.continuous:
        if text:
            gathered.take("text", text)
        return _Parts("txt", gathered, line_ends=line_ends(text))
    gathered.expect(line_count(text))
    lines, ends = split_lines(text)
    for number, line in enumerate(lines, start=1):
        gathered.take(f"line {number}", line)
    return _Parts("txt", gathered, line_ends=ends)


def _read_table(text: str, file: str, options: ReadOptions) -> _Parts:
    gathered = Gathered(file)
    columns = read_table(text, gathered, options.column or COLUMN, _delimiter(file, options))
    return _Parts("csv", gathered, line_ends=line_ends(text), columns=columns)


def _read_lines(text: str, file: str, options: ReadOptions) -> _Parts:
    gathered = Gathered(file)
    return _Parts("jsonl", gathered, line_ends=read_lines(text, gathered, options.column or COLUMN))


def _read_json(text: str, file: str, options: ReadOptions) -> _Parts:
    """An array of records, or an object with `train` and perhaps `validation` and `version`."""
    if not text.strip():
        return _Parts("json", Gathered(file))
    try:
        value = parsed(text)
    except ValueError as error:
        raise Refusal("{file} {error}", file=file, error=error) from error
    column, gathered = options.column or COLUMN, Gathered(file)
    if isinstance(value, list):
        read_array(value, gathered, column)
        return _Parts("json", gathered)
    if not isinstance(value, dict) or "train" not in value:
        fields = f" with the fields: {names_of(value)}" if isinstance(value, dict) else ""
        raise Refusal(
            "{file} must hold a list of records, or an object with 'train', got {kind_of}{fields}",
            file=file,
            kind_of=kind_of(value),
            fields=fields,
        )
    if value.repeated:
        raise Refusal("{file} names {repeated!r:.60} more than once", file=file, repeated=sorted(value.repeated)[0])
    return _read_splits(value, file, column)


def _read_splits(value: dict, file: str, column: str) -> _Parts:
    splits = {split: Gathered(file) for split in ("train", "validation")}
    for split, gathered in splits.items():
        rows = value.get(split, [])
        if not isinstance(rows, list):
            raise Refusal(
                "{file}: '{split}' must be a list of records, got {kind_of}",
                file=file,
                split=split,
                kind_of=kind_of(rows),
            )
        read_array(rows, gathered, column, what=f"{split} record", ids=split)
    for id, times in Counter(id for gathered in splits.values() for id in gathered.ids).most_common(1):
        if times > 1:
            raise Refusal(
                "{file} uses the record id {id!r:.60} {times} times; ids must differ", file=file, id=id, times=times
            )
    name = str(value.get("version", ""))
    if reason := half_character(name):
        raise Refusal("{file}: version {reason}", file=file, reason=reason)
    return _Parts("corpus", splits["train"], splits["validation"], name=name)


_READERS = {"txt": _read_text, "csv": _read_table, "jsonl": _read_lines, "json": _read_json}


def _delimiter(file: str, options: ReadOptions) -> str:
    by_name = "tab" if file.lower().endswith(".tsv") else "comma"
    return DELIMITERS[options.delimiter or by_name]


def _emptiness(content: bytes, empty: int) -> str:
    if not content:
        return "it is empty (0 bytes)"
    return "there is nothing but white space in it" if empty else "there is nothing in it to read"
