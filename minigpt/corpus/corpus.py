"""A corpus: named training and validation records, split by whole records, with a content hash."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from minigpt.sentences import Refusal, Sentence, say

_PIECE = 4096  # records that are checked and hashed at once


@dataclass(frozen=True, slots=True)
class Record:
    """One text with its id. A record is never cut and never joined with another."""

    id: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Training and validation records.

    Raises ValueError when there is no training record, an id is used twice, or a text is empty, is not a
    str or has an unpaired surrogate, which no encoding can write.
    """

    name: str
    train: tuple[Record, ...]
    validation: tuple[Record, ...] = ()

    def __post_init__(self) -> None:
        if not self.train:
            raise Refusal("corpus {name!r} has no usable records to train on", name=self.name)
        ids = [record.id for record in self.train + self.validation]
        if len(set(ids)) < len(ids):
            repeated, times = Counter(ids).most_common(1)[0]
            raise Refusal(
                "corpus {name!r} uses the record id {record_id!r} {times} times; ids must differ",
                name=self.name,
                record_id=repeated,
                times=times,
            )
        if reason := unpaired_surrogate(self.name):
            raise Refusal("the name of a corpus cannot be used: {reason}", reason=reason)
        for name, split in (("train", self.train), ("validation", self.validation)):
            for start in range(0, len(split), _PIECE):
                if not _sound(split[start : start + _PIECE]):
                    for number, record in enumerate(split[start : start + _PIECE], start=start + 1):
                        self._check(record, name, number)

    def _check(self, record: Record, split: str, number: int) -> None:
        where = {"name": self.name, "split": split, "number": number}
        if not isinstance(record.text, str):
            raise Refusal(
                "corpus {name!r}: the text of {split} record {number} must be a string, got {text!r:.60}",
                text=record.text,
                **where,
            )
        if not isinstance(record.id, str):
            raise Refusal(
                "corpus {name!r}: the id of {split} record {number} must be a string, got {record_id!r:.60}",
                record_id=record.id,
                **where,
            )
        if not record.text:
            raise Refusal("corpus {name!r} has an empty record: {record_id}", name=self.name, record_id=record.id)
        if reason := unpaired_surrogate(record.text):
            raise Refusal("corpus {name!r}, text of {split} record {number}: {reason}", reason=reason, **where)
        if reason := unpaired_surrogate(record.id):
            raise Refusal("corpus {name!r}, id of {split} record {number}: {reason}", reason=reason, **where)

    @cached_property
    def hash(self) -> str:
        """16 hex digits of the SHA-256 over both splits, ids and texts in order; the name does not count.

        Computed once, over the JSON of the splits with every other character than ASCII escaped.
        """
        digest = hashlib.sha256()
        for piece in _json_pieces(self):
            digest.update(piece.encode())
        return digest.hexdigest()[:16]

    @cached_property
    def leaked(self) -> tuple[Record, ...]:
        """Validation records whose text is also in the training split."""
        seen = {record.text for record in self.train}
        return tuple(record for record in self.validation if record.text in seen)

    @property
    def is_one_text(self) -> bool:
        """Whether it is one continuous text, read as one or of several lines, rather than records."""
        first, *others = self.train
        return not others and (first.id in ("text", "text-train") or "\n" in first.text)

    def to_json(self) -> str:
        """The corpus in the project's own format, as `json.dumps` with an indent of 2 writes it, only faster."""
        splits = (f',\n  "{split}": {_indented(getattr(self, split))}' for split in ("train", "validation"))
        return f'{{\n  "version": {_quoted(self.name)}{"".join(splits)}\n}}\n'


def unpaired_surrogate(text: str) -> Sentence | None:
    """What is wrong with a text that UTF-8 cannot write, None for any other.

    >>> unpaired_surrogate("a\\ud83d")
    'it has an unpaired surrogate, U+D83D at index 1'
    """
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        return say("it has an unpaired surrogate, {code} at index {index}", code=code, index=error.start)
    return None


def _sound(records: tuple[Record, ...]) -> bool:
    """Whether `Corpus._check` finds nothing wrong with these records; many are checked at once."""
    texts = [record.text for record in records]
    try:
        return all(texts) and not unpaired_surrogate("".join(texts + [record.id for record in records]))
    except TypeError:  # not a str
        return False


_quoted = json.JSONEncoder(ensure_ascii=False).encode


def _indented(records: tuple[Record, ...]) -> str:
    rows = (f'    {{\n      "id": {_quoted(r.id)},\n      "text": {_quoted(r.text)}\n    }}' for r in records)
    return "[\n" + ",\n".join(rows) + "\n  ]" if records else "[]"


def _json_pieces(corpus: Corpus) -> Iterator[str]:
    """The JSON of both splits, `{"train": [{"id": ..., "text": ...}, ...], "validation": [...]}`, in pieces."""
    for before, split in (('{"train": [', corpus.train), (', "validation": [', corpus.validation)):
        yield before
        for start in range(0, len(split), _PIECE):
            rows = [{"id": record.id, "text": record.text} for record in split[start : start + _PIECE]]
            yield (", " if start else "") + json.dumps(rows)[1:-1]
        yield "]"
    yield "}"
