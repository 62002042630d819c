"""A corpus: named training and validation records, split by whole records, with a content hash."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

BUNDLED_CORPUS = Path(__file__).parents[2] / "data" / "mini-gpt" / "corpus.json"


@dataclass(frozen=True)
class Record:
    """One text with its id. A record is never cut and never joined with another."""

    id: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Training and validation records.

    Raises ValueError when there is no training record, an id is used twice, or a text is empty.
    """

    name: str
    train: tuple[Record, ...]
    validation: tuple[Record, ...] = ()

    def __post_init__(self) -> None:
        if not self.train:
            raise ValueError(f"corpus {self.name!r} has no usable records to train on")
        for id, times in Counter(record.id for record in self.train + self.validation).items():
            if times > 1:
                raise ValueError(f"corpus {self.name!r} uses the record id {id!r} {times} times; ids must differ")
        for record in self.train + self.validation:
            if not record.text:
                raise ValueError(f"corpus {self.name!r} has an empty record: {record.id}")

    @property
    def hash(self) -> str:
        """16 hex digits of the SHA-256 over both splits, ids and texts in order; the name does not count."""
        return hashlib.sha256(json.dumps(_splits(self)).encode()).hexdigest()[:16]

    @property
    def leaked(self) -> tuple[Record, ...]:
        """Validation records whose text also stands in the training split."""
        seen = {record.text for record in self.train}
        return tuple(record for record in self.validation if record.text in seen)

    def to_json(self) -> str:
        """The corpus in the project's own format."""
        return json.dumps({"version": self.name} | _splits(self), ensure_ascii=False, indent=2) + "\n"


def load_corpus(path: str | Path) -> Corpus:
    """Read the project's own corpus format: an object with `train` and, if there is one, `validation`.

    A record is a string or an object with `text` and, if wanted, `id`. The name is the `version` of
    the file, or its stem. Every fault is one ValueError with the file, the split and the record number.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise ValueError(f"there is no corpus file {path}") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: byte 0x{error.object[error.start]:02X} at {error.start}") from error
    except RecursionError as error:
        raise ValueError(f"{path} is not a corpus: its lists and objects are nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON: {error.msg} in line {error.lineno}") from error
    if not isinstance(content, dict) or "train" not in content:
        raise ValueError(f"{path} must hold an object with 'train' and 'validation', got {_kind(content)}")
    name = str(content.get("version", path.stem))
    _check_whole(f"{path}: version", name)
    splits = {split: _records(path, split, content.get(split, [])) for split in ("train", "validation")}
    return Corpus(name=name, **splits)


def bundled_corpus() -> Corpus:
    """The 24 + 8 records that the first text uses and the shipped run is trained on."""
    return load_corpus(BUNDLED_CORPUS)


def _records(path: Path, split: str, rows) -> tuple[Record, ...]:
    if not isinstance(rows, list):
        raise ValueError(f"{path}: '{split}' must be a list of records, got {_kind(rows)}")
    return tuple(_record(f"{path}: {split} record {i}", split, i, row) for i, row in enumerate(rows, start=1))


def _record(where: str, split: str, number: int, row) -> Record:
    text = row.get("text") if isinstance(row, dict) else row
    if not isinstance(text, str):
        raise ValueError(f"{where} must be a text or an object with 'text', got {_kind(row)}")
    id = str(row["id"]) if isinstance(row, dict) and "id" in row else f"{split}-{number:02d}"
    _check_whole(where, text)
    _check_whole(f"the id of {where}", id)
    return Record(id, text)


def _check_whole(where: str, text: str) -> None:
    for index, character in enumerate(text):
        if 0xD800 <= ord(character) <= 0xDFFF:
            raise ValueError(f"{where} holds half a character, U+{ord(character):04X} at index {index}")


def _splits(corpus: Corpus) -> dict:
    return {
        split: [{"id": record.id, "text": record.text} for record in getattr(corpus, split)]
        for split in ("train", "validation")
    }


def _kind(value) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "nothing"}.get(type(value), repr(value))
