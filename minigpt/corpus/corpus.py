"""A corpus: named training and validation records, split by whole records, with a content hash."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from minigpt.sentences import Refusal
from minigpt.storage.paths import DATA

BUNDLED_CORPUS = DATA / "mini-gpt" / "corpus.json"
_PIECE = 4096  # records that are checked and hashed at once


@dataclass(frozen=True, slots=True)
class Record:
    """One text with its id. A record is never cut and never joined with another."""

    id: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Training and validation records.

    Raises ValueError when there is no training record, an id is used twice, or a text is empty, is no
    str or holds half a character (a lone surrogate), which no encoding can write.
    """

    name: str
    train: tuple[Record, ...]
    validation: tuple[Record, ...] = ()

    def __post_init__(self) -> None:
        if not self.train:
            raise Refusal("corpus {name!r} has no usable records to train on", name=self.name)
        ids = [record.id for record in self.train + self.validation]
        if len(set(ids)) < len(ids):
            id, times = Counter(ids).most_common(1)[0]
            raise Refusal(
                "corpus {name!r} uses the record id {id!r} {times} times; ids must differ",
                name=self.name,
                id=id,
                times=times,
            )
        _check_whole("the name of a corpus", self.name)
        for name, split in (("train", self.train), ("validation", self.validation)):
            for start in range(0, len(split), _PIECE):
                if not _sound(split[start : start + _PIECE]):
                    for number, record in enumerate(split[start : start + _PIECE], start=start + 1):
                        self._check(record, f"{name} record {number}")

    def _check(self, record: Record, where: str) -> None:
        for kind, text in (("", record.text), ("the id of ", record.id)):
            if not isinstance(text, str):
                raise Refusal(
                    "corpus {name!r}: {kind}{where} must be a text, got {text!r:.60}",
                    name=self.name,
                    kind=kind,
                    where=where,
                    text=text,
                )
        if not record.text:
            raise Refusal("corpus {name!r} has an empty record: {id}", name=self.name, id=record.id)
        for kind, text in (("", record.text), ("the id of ", record.id)):
            if reason := half_character(text):
                raise Refusal(
                    "corpus {name!r}: {kind}{where} {reason}", name=self.name, kind=kind, where=where, reason=reason
                )

    @cached_property
    def hash(self) -> str:
        """16 hex digits of the SHA-256 over both splits, ids and texts in order; the name does not count.

        Reckoned once, over the JSON of the splits with every other character than ASCII escaped.
        """
        digest = hashlib.sha256()
        for piece in _json_pieces(self):
            digest.update(piece.encode())
        return digest.hexdigest()[:16]

    @cached_property
    def leaked(self) -> tuple[Record, ...]:
        """Validation records whose text also stands in the training split."""
        seen = {record.text for record in self.train}
        return tuple(record for record in self.validation if record.text in seen)

    def to_json(self) -> str:
        """The corpus in the project's own format, as `json.dumps` with an indent of 2 writes it, only faster."""
        splits = (f',\n  "{split}": {_indented(getattr(self, split))}' for split in ("train", "validation"))
        return f'{{\n  "version": {_quoted(self.name)}{"".join(splits)}\n}}\n'


def load_corpus(path: str | Path) -> Corpus:
    """Read the project's own corpus format: an object with `train` and, if there is one, `validation`.

    A record is a string or an object with `text` and, if wanted, `id`. The name is the `version` of
    the file, or its stem. Every fault is one ValueError with the file, the split and the record number.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise Refusal("there is no corpus file {path}", path=path) from error
    except OSError as error:
        raise Refusal("{path} cannot be read: {strerror}", path=path, strerror=error.strerror) from error
    except UnicodeDecodeError as error:
        raise Refusal(
            "{path} is not UTF-8: byte 0x{object:02X} at {start}",
            path=path,
            object=error.object[error.start],
            start=error.start,
        ) from error
    except MemoryError as error:
        raise Refusal("{path} is too large for the memory that is free", path=path) from error
    except RecursionError as error:
        raise Refusal("{path} is not a corpus: its lists and objects are nested too deeply", path=path) from error
    except json.JSONDecodeError as error:
        raise Refusal(
            "{path} is not JSON: {msg} in line {lineno}", path=path, msg=error.msg, lineno=error.lineno
        ) from error
    if not isinstance(content, dict) or "train" not in content:
        raise Refusal(
            "{path} must hold an object with 'train' and 'validation', got {kind_of}",
            path=path,
            kind_of=kind_of(content),
        )
    name = str(content.get("version", path.stem))
    _check_whole(f"{path}: version", name)
    splits = {split: _records(path, split, content.get(split, [])) for split in ("train", "validation")}
    try:
        return Corpus(name=name, **splits)
    except ValueError as error:
        raise Refusal("{path}: {error}", path=path, error=error) from error


def half_character(text: str) -> str:
    """What is wrong with a text that UTF-8 cannot write, "" for any other.

    >>> half_character("a\\ud83d")
    'holds half a character, U+D83D at index 1'
    """
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"holds half a character, U+{ord(text[error.start]):04X} at index {error.start}"
    return ""


def bundled_corpus() -> Corpus:
    """The 24 + 8 records that the first text uses and the shipped run is trained on."""
    return load_corpus(BUNDLED_CORPUS)


def _records(path: Path, split: str, rows) -> tuple[Record, ...]:
    if not isinstance(rows, list):
        raise Refusal(
            "{path}: '{split}' must be a list of records, got {kind_of}", path=path, split=split, kind_of=kind_of(rows)
        )
    return tuple(_record(f"{path}: {split} record {i}", split, i, row) for i, row in enumerate(rows, start=1))


def _record(where: str, split: str, number: int, row) -> Record:
    text = row.get("text") if isinstance(row, dict) else row
    if not isinstance(text, str):
        raise Refusal(
            "{where} must be a text or an object with 'text', got {kind_of}", where=where, kind_of=kind_of(row)
        )
    id = str(row["id"]) if isinstance(row, dict) and "id" in row else f"{split}-{number:02d}"
    _check_whole(where, text)
    _check_whole(f"the id of {where}", id)
    return Record(id, text)


def _sound(records: tuple[Record, ...]) -> bool:
    """Whether `Corpus._check` has nothing to say against any of these records; many are looked at in one go."""
    texts = [record.text for record in records]
    try:
        return all(texts) and not half_character("".join(texts + [record.id for record in records]))
    except TypeError:  # no text
        return False


def _check_whole(where: str, text: str) -> None:
    if reason := half_character(text):
        raise Refusal("{where} {reason}", where=where, reason=reason)


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


def kind_of(value) -> str:
    """What a JSON value is, in words."""
    kinds = ((dict, "an object"), (list, "a list"), (str, "a text"), (type(None), "nothing"))
    return next((words for kind, words in kinds if isinstance(value, kind)), f"{value!r:.60}")
