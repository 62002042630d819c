"""Records from JSON: one value a line, an array of them, or the project's own corpus format.

A record is a text, or an object with a field that holds one, and an `id` if it likes. A field named
twice, of which JSON readers keep the last and lose the first, is a fault.
"""

import json
from collections.abc import Iterable

from minigpt.corpus.corpus import kind_of
from minigpt.corpus.readers.lines import line_count, split_lines
from minigpt.corpus.readers.read_result import ColumnMissing, Gathered, LineEnds
from minigpt.sentences import Refusal

_NAMED = 20  # fields that an error lists


def read_lines(text: str, gathered: Gathered, column: str) -> LineEnds:
    """Gather one record a line (JSON Lines); a line that is no record is a fault, an empty one is empty.

    Raises ColumnMissing, a ValueError, when no object has the field `column`, and ValueError for an array
    that goes over many lines.
    """
    gathered.expect(line_count(text))
    lines, ends = split_lines(text)
    if lines and lines[0].strip() == "[":
        raise Refusal("{file} begins with a line '[': one array of all records is the format json", file=gathered.file)
    missing: set[str] = set()
    for number, line in enumerate(lines, start=1):
        place = f"line {number}"
        if not line.strip():
            gathered.take(place, "")
            continue
        try:
            row = parsed(line)
        except ValueError as error:
            gathered.fault(place, str(error))
            continue
        _take(gathered, place, row, column, missing)
    _check_column(gathered, column, missing)
    return ends


def read_array(rows: list, gathered: Gathered, column: str, what: str = "record", ids: str = "") -> None:
    """Gather the records of an array; `ids` is what their ids begin with where they state none.

    Raises ColumnMissing, a ValueError, when no object has the field `column`.
    """
    missing: set[str] = set()
    gathered.expect(len(rows))
    for number, row in enumerate(rows, start=1):
        _take(gathered, f"{what} {number}", row, column, missing, f"{ids}-{number:02d}" if ids else None)
    _check_column(gathered, column, missing)


def parsed(text: str):
    """The value that `text` writes in JSON; ValueError that says what is wrong and where.

    Objects are `_Object`s, which know the names that stood in them twice.
    """
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise Refusal("is not usable JSON: its lists and objects are nested too deeply") from error
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in text else ""
        hint = "; one value a line is the format jsonl" if error.msg == "Extra data" and "\n" in text else ""
        raise Refusal(
            "is not JSON: {msg} at {line}column {colno}{hint}", msg=error.msg, line=line, colno=error.colno, hint=hint
        ) from error
    except ValueError as error:  # a number of more than 4,300 digits
        raise Refusal("is not usable JSON: it holds a number with too many digits") from error


def names_of(fields: Iterable[str]) -> str:
    """The first names of many, sorted, for a sentence; unprintable characters escaped."""
    names = sorted(fields) or ["none"]
    return ", ".join(repr(name)[1:-1][:40] for name in names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


class _Object(dict):
    repeated: frozenset[str] = frozenset()


def _object(pairs: list[tuple]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        found.repeated = frozenset(name for name in names if names.count(name) > 1)
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _take(gathered: Gathered, place: str, row, column: str, missing: set[str], id: str | None = None) -> None:
    if isinstance(row, str):
        gathered.take(place, row, id)
    elif not isinstance(row, dict):
        gathered.fault(place, f"must be a text or an object with {column!r}, got {kind_of(row)}")
    elif row.repeated and (twice := {column, "id"} & row.repeated):
        gathered.fault(place, f"names the field {sorted(twice)[0]!r} more than once")
    elif column not in row:
        missing.update(row)
        gathered.fault(place, f"has no field {column!r}; fields: {names_of(row)}")
    elif not isinstance(row[column], str):
        gathered.fault(place, f"field {column!r} must be a text, got {kind_of(row[column])}")
    else:
        gathered.take(place, row[column], str(row["id"]) if row.get("id") is not None else id)


def _check_column(gathered: Gathered, column: str, missing: set[str]) -> None:
    """When objects lack the field and nothing else was found, it is the name that is wrong."""
    if missing and not gathered.texts and not gathered.empty:
        sentence = f"{gathered.file}: field {column!r} not found; fields: {names_of(missing)}"
        raise ColumnMissing(sentence, tuple(sorted(missing)))
