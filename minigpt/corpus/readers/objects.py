"""Records from JSON: one value a line, an array of them, or the project's own corpus format.

A record is a text, or an object with a field that holds one and perhaps an `id`. A field named
twice, of which JSON readers keep the last and lose the first, is a fault.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from minigpt.corpus.corpus import Corpus, Record, unpaired_surrogate
from minigpt.corpus.readers.lines import LineEnds, line_count, split_lines
from minigpt.corpus.readers.read_result import RECORD, TRAIN_RECORD, VALIDATION_RECORD, ColumnMissing, Gathered
from minigpt.sentences import Refusal, Sentence, say

TEXT_FIELD = "text"  # the field of a record that holds its text, when no other is named
_NAMED = 20  # fields that an error lists
_SPLITS = {"train": TRAIN_RECORD, "validation": VALIDATION_RECORD}


@dataclass(frozen=True)
class Document:
    """What a JSON file holds: records, or the two splits of the project's own format under the `version` of it."""

    gathered: Gathered
    validation: Gathered | None = None
    version: str | None = None


def load_corpus(path: str | Path) -> Corpus:
    """Read the project's own corpus format: an object with `train` and, if there is one, `validation`.

    A record is a string or an object with `text` and, if wanted, `id`. The name is the `version` of the
    file, or its stem. The first fault is a ValueError with the file, the split and the record number.
    """
    path = Path(path)
    try:
        value = parsed(path.read_bytes().decode("utf-8-sig"), find_repeated=False)
    except FileNotFoundError as error:
        raise Refusal("there is no corpus file {path}", path=path) from error
    except OSError as error:
        raise Refusal("{path} cannot be read: {reason}", path=path, reason=error.strerror) from error
    except UnicodeDecodeError as error:
        byte = f"0x{error.object[error.start]:02X}"
        raise Refusal(
            "{path} is not UTF-8: byte {byte} at {offset}", path=path, byte=byte, offset=error.start
        ) from error
    except MemoryError as error:
        raise Refusal("{path} is too large for the memory that is free", path=path) from error
    except Refusal as error:
        raise Refusal("{path}: {reason}", path=path, reason=error.sentence) from error
    document = _read_splits(value, str(path), TEXT_FIELD, _Strict)
    splits = (() if part is None else part.records() for part in (document.gathered, document.validation))
    try:
        return Corpus(path.stem if document.version is None else document.version, *splits)
    except Refusal as error:
        raise Refusal("{path}: {reason}", path=path, reason=error.sentence) from error


def read_lines(text: str, gathered: Gathered, column: str) -> LineEnds:
    """Gather one record a line (JSON Lines); a line that is not a record is a fault, an empty one is empty.

    Raises ColumnMissing, a ValueError, when no object has the field `column`, and ValueError for an array
    that goes over many lines.
    """
    gathered.expect(line_count(text))
    lines, ends = split_lines(text)
    if lines and lines[0].strip() == "[":
        raise Refusal("{file} begins with a line '[': one array of all records is the format json", file=gathered.file)
    missing: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            gathered.take(number, "")
            continue
        try:
            row = parsed(line)
        except Refusal as error:
            gathered.fault(number, error.sentence)
            continue
        _take(gathered, number, row, column, missing)
    _check_column(gathered, column, missing)
    return ends


def read_document(text: str, file: str, column: str) -> Document:
    """An array of records, or an object with `train` and perhaps `validation` and `version`.

    Raises ColumnMissing, a ValueError, when no object has the field `column`, and ValueError for other JSON.
    """
    try:
        value = parsed(text)
    except Refusal as error:
        raise Refusal("{file}: {reason}", file=file, reason=error.sentence) from error
    if isinstance(value, list):
        gathered = Gathered(file, RECORD)
        _read_rows(value, gathered, column)
        return Document(gathered)
    return _read_splits(value, file, column, Gathered)


def parsed(text: str, find_repeated: bool = True) -> Any:
    """The value that `text` writes in JSON; ValueError that says what is wrong and where.

    With `find_repeated`, objects are `_Object`s, which know the names that are in them twice.
    """
    try:
        return _DECODER.decode(text) if find_repeated else json.loads(text)
    except RecursionError as error:
        raise Refusal("this JSON cannot be used: its lists and objects are nested too deeply") from error
    except json.JSONDecodeError as error:
        where = {"message": error.msg, "line": error.lineno, "column": error.colno}
        if error.msg == "Extra data" and "\n" in text:
            raise Refusal(
                "this is not JSON: {message} (line {line}, column {column}); one value a line is the format jsonl",
                **where,
            ) from error
        if "\n" in text:
            raise Refusal("this is not JSON: {message} (line {line}, column {column})", **where) from error
        raise Refusal("this is not JSON: {message} (column {column})", message=error.msg, column=error.colno) from error
    except ValueError as error:  # a number of more than 4,300 digits
        raise Refusal("this JSON cannot be used: it holds a number with too many digits") from error


def names_of(fields: Iterable[str]) -> str:
    """The first names of many, sorted, for a sentence; unprintable characters escaped."""
    names = sorted(fields) or ["-"]
    return ", ".join(repr(name)[1:-1][:40] for name in names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


class _Object(dict[str, Any]):
    repeated: frozenset[str] = frozenset()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        found.repeated = frozenset(name for name in names if names.count(name) > 1)
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


class _Strict(Gathered):
    """Takes every text as it is, for `Corpus` to check, and raises ValueError at the first fault."""

    def expect(self, records: int) -> None:
        pass

    def take(self, number: int, text: str, record_id: str | None = None) -> None:
        self.texts.append(text)
        self.ids.append(record_id)

    def records(self) -> tuple[Record, ...]:
        return tuple(Record(record_id or "", text) for record_id, text in zip(self.ids, self.texts, strict=True))

    def fault(self, number: int, reason: Sentence) -> NoReturn:
        raise Refusal("{file}, {place}: {reason}", file=self.file, place=self.kind.place(number), reason=reason)


def _read_splits(value: Any, file: str, column: str, gatherer: type[Gathered]) -> Document:
    if not isinstance(value, dict):
        raise Refusal(
            "{file} must hold a list of records, or an object with 'train', got {value}", file=file, value=shown(value)
        )
    if "train" not in value:
        raise Refusal(
            "{file} must hold a list of records, or an object with 'train', got an object with the fields: {fields}",
            file=file,
            fields=names_of(value),
        )
    if repeated := _repeated(value):
        raise Refusal("{file} names {field!r:.60} more than once", file=file, field=sorted(repeated)[0])
    splits = {split: gatherer(file, kind) for split, kind in _SPLITS.items()}
    for split, gathered in splits.items():
        rows = value.get(split, [])
        if not isinstance(rows, list):
            raise Refusal(
                "{file}: '{split}' must be a list of records, got {value}", file=file, split=split, value=shown(rows)
            )
        _read_rows(rows, gathered, column, split)
    version = str(value["version"]) if "version" in value else None
    if version and (reason := unpaired_surrogate(version)):
        raise Refusal("{file}, version: {reason}", file=file, reason=reason)
    names = [name for part in splits.values() for name in part.ids]
    if len(set(names)) < len(names):
        record_id, times = Counter(names).most_common(1)[0]
        raise Refusal(
            "{file} uses the record id {record_id!r:.60} {times} times; ids must differ",
            file=file,
            record_id=record_id,
            times=times,
        )
    return Document(splits["train"], splits["validation"], version)


def _read_rows(rows: list[Any], gathered: Gathered, column: str, ids: str = "") -> None:
    """Gather the records of an array; `ids` is what their ids begin with where they state none."""
    missing: set[str] = set()
    gathered.expect(len(rows))
    for number, row in enumerate(rows, start=1):
        _take(gathered, number, row, column, missing, ids)
    _check_column(gathered, column, missing)


def _take(gathered: Gathered, number: int, row: Any, column: str, missing: set[str], ids: str = "") -> None:
    if isinstance(row, str):
        gathered.take(number, row, f"{ids}-{number:02d}" if ids else None)
    elif not isinstance(row, dict):
        gathered.fault(
            number, say("it must be a text or an object with {column!r}, got {value}", column=column, value=shown(row))
        )
    elif (repeated := _repeated(row)) and (twice := {column, "id"} & repeated):
        gathered.fault(number, say("it names the field {field!r} more than once", field=sorted(twice)[0]))
    elif column not in row:
        missing.update(row)
        gathered.fault(number, say("it has no field {column!r}; fields: {fields}", column=column, fields=names_of(row)))
    elif not isinstance(row[column], str):
        gathered.fault(
            number, say("its field {column!r} must be a text, got {value}", column=column, value=shown(row[column]))
        )
    elif (own := row.get("id")) is not None:
        gathered.take(number, row[column], str(own))
    else:
        gathered.take(number, row[column], f"{ids}-{number:02d}" if ids else None)


def _repeated(value: dict[str, Any]) -> frozenset[str]:
    return value.repeated if isinstance(value, _Object) else frozenset()


def _check_column(gathered: Gathered, column: str, missing: set[str]) -> None:
    """When objects lack the field and nothing else was found, the name is wrong."""
    if missing and not gathered.texts and not gathered.empty:
        sentence = say(
            "{file}: field {column!r} not found; fields: {fields}",
            file=gathered.file,
            column=column,
            fields=names_of(missing),
        )
        raise ColumnMissing(sentence, tuple(sorted(missing)))


def shown(value: Any) -> str:
    """The beginning of a JSON value, as JSON writes it.

    >>> shown({"a": [1, 2]})
    '{"a": [1, 2]}'
    """
    return f"{json.dumps(value, ensure_ascii=False):.60}"
