"""Records from csv: one column of a table whose first row names the columns.

Every cell is text, kept exactly: `NA`, `007` and spaces too, and line ends within quotes. A row with
more or fewer cells than the header, or with a quote where none can be, is a fault of that row.

Source: RFC 4180, with a choice of the delimiter.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from minigpt.corpus.readers.lines import line_ends
from minigpt.corpus.readers.read_result import LINE, ColumnMissing, Gathered
from minigpt.sentences import Refusal, Sentence, say, say_count

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_NAMED = 20  # columns that an error lists


def read_table(text: str, gathered: Gathered, column: str, delimiter: str) -> tuple[str, ...]:
    """Gather the texts of `column`; the names of all columns.

    Raises ColumnMissing, a ValueError, when no column has exactly this name, and ValueError for no
    header, two columns of one name, or a quote that is never closed.
    """
    rows = _rows(text, gathered, delimiter)
    columns = tuple(next(rows, (1, []))[1])
    place = _checked_header(columns, gathered.file, column)
    for line, row in rows:
        if not row:
            gathered.take(line, "")
        elif len(row) == len(columns):
            gathered.take(line, row[place])
        else:
            gathered.fault(line, _wrong_width(len(row), len(columns)))
    return columns


def table_head(text: str, delimiter: str, file: str, most: int) -> list[dict[str, str]]:
    """The first `most` whole rows by column; ValueError as `read_table` raises it."""
    rows = _rows(text, Gathered(file, LINE), delimiter)
    columns = tuple(next(rows, (1, []))[1])
    return [dict(zip(columns, row, strict=True)) for _, row in islice(rows, most) if len(row) == len(columns)]


def _rows(text: str, gathered: Gathered, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line it begins in; rows that are not csv become faults."""
    if csv.field_size_limit() < len(text):
        csv.field_size_limit(len(text))  # of the whole process; it may only grow
    reader = csv.reader(_lines(text), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise Refusal(
                    "{file}, line {line}: a quote that opens in this row is never closed", file=gathered.file, line=line
                ) from error
            gathered.fault(line, _reason(error))


def _lines(text: str) -> Iterator[str]:
    """The lines with their ends, as `split_lines` finds them."""
    end = "\r" if line_ends(text).cr else "\n"
    start = 0
    while start < len(text):
        stop = text.find(end, start) + 1 or len(text)
        yield text[start:stop]
        start = stop


def _wrong_width(cells: int, header: int) -> Sentence:
    return say_count(
        "it has {count} cell, the header has {header}",
        "it has {count} cells, the header has {header}",
        count=cells,
        header=header,
    )


def _reason(error: csv.Error) -> Sentence:
    if "expected after" in str(error):
        return say("a quoted cell goes on after its closing quote; a quote within quotes is written twice")
    if "new-line" in str(error):
        return say("it holds a carriage return outside quotes")
    return say("it is not csv: {message}", message=str(error))


def _checked_header(columns: tuple[str, ...], file: str, column: str) -> int:
    _check_names(columns, file)
    if column not in columns:
        names = ", ".join(map(_shown, columns[:_NAMED])) + (", ..." if len(columns) > _NAMED else "")
        sentence = say("{file}: column {column!r} not found; columns: {names}", file=file, column=column, names=names)
        raise ColumnMissing(sentence, columns)
    return columns.index(column)


def _check_names(columns: tuple[str, ...], file: str) -> None:
    if not any(columns):
        raise Refusal("{file} has no usable records: its first line must name the columns, and it is empty", file=file)
    for name, times in Counter(filter(None, columns)).items():
        if times > 1:
            raise Refusal(
                "{file} has {times} columns named {name!r:.60}; names must differ", file=file, times=times, name=name
            )


def _shown(name: str) -> str:
    """A column's name, in quotes where it would be misread."""
    plain = name.isprintable() and name == name.strip() and name and "," not in name
    return name[:40] if plain else repr(name[:40])
