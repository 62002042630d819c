"""A corpus to take away: beside `Corpus.to_json`, which keeps the split, one split as JSON Lines or as plain lines."""

import json
from collections.abc import Iterable

from minigpt.corpus.corpus import Record
from minigpt.sentences import Refusal


def to_jsonl(records: Iterable[Record]) -> str:
    """One object a line with `id` and `text`; `read_corpus` gives the same records back.

    >>> to_jsonl([Record("a", "one\\nmore")])
    '{"id": "a", "text": "one\\\\nmore"}\\n'
    """
    return "".join(json.dumps({"id": record.id, "text": record.text}, ensure_ascii=False) + "\n" for record in records)


def to_txt(records: Iterable[Record]) -> str:
    """One text a line, without ids; `read_corpus` gives the same texts back.

    Raises ValueError for a text that would not come back as it is: with a line end in it, of white space
    alone, or first in the file with a byte order mark in front.
    """
    lines = []
    for record in records:
        if "\n" in record.text or "\r" in record.text:
            raise Refusal("record {id} holds a line end, so that it is no single line; choose JSON Lines", id=record.id)
        if record.text.isspace() or (not lines and record.text.startswith("\ufeff")):
            raise Refusal("record {id} would not be read as it is from plain lines; choose JSON Lines", id=record.id)
        lines.append(record.text + "\n")
    return "".join(lines)
