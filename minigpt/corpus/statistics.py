"""How large a corpus is, in records, characters, bytes and tokens, and how much of a vocabulary it uses."""

from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from minigpt.corpus.corpus import Corpus, Record
from minigpt.sentences import Refusal, reason_of
from minigpt.tokenizers.base import Tokenizer
from minigpt.validation import check_int

SPLITS = ("train", "validation")
_AT_ONCE = 10_000  # records whose ids are counted together


@dataclass(frozen=True)
class SplitStatistics:
    """One split under one tokenizer. `lengths` (records,) int64: tokens of each record, BOS and EOS not counted."""

    records: int
    characters: int  # Unicode code points
    bytes: int  # in UTF-8
    tokens: int
    lengths: np.ndarray
    counts: np.ndarray  # (V,) int64: how often each id occurs

    @property
    def bytes_per_token(self) -> float | None:
        """How far the tokenizer compresses; None without tokens."""
        return self.bytes / self.tokens if self.tokens else None


@dataclass(frozen=True)
class Statistics:
    """Both splits. An id is covered when a training text has it; the specials do not count."""

    train: SplitStatistics
    validation: SplitStatistics
    vocab_size: int
    specials: int  # ids that no text can have
    covered: int  # ids in the training texts
    validation_only: int  # ids that only validation texts have: never learned

    @property
    def coverage(self) -> float:
        """Share of the vocabulary, without specials, that occurs in the training texts, 0 to 1."""
        return self.covered / (self.vocab_size - self.specials)


def statistics(corpus: Corpus, tokenizer: Tokenizer) -> Statistics:
    """Count both splits in one pass over the texts.

    Raises ValueError that names the record when a text has no ids, as with an unknown character.

    Example: MG-1's corpus and 32 merges: 24 records, 680 characters, 454 tokens, 105 of 288 ids occur.
    """
    train, validation = (
        split_statistics(split, tokenizer, name)
        for name, split in (("training", corpus.train), ("validation", corpus.validation))
    )
    used, other = train.counts > 0, validation.counts > 0
    return Statistics(
        train,
        validation,
        vocab_size=tokenizer.vocab_size,
        specials=len(tokenizer.specials),
        covered=int(used.sum()),
        validation_only=int((other & ~used).sum()),
    )


def split_statistics(records: tuple[Record, ...], tokenizer: Tokenizer, name: str = "split") -> SplitStatistics:
    """Count one split; `name` is what an error calls it."""
    lengths: list[int] = []
    counts = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    texts = [record.text for record in records]
    arrays = tokenizer.encode_arrays(texts)
    try:
        while part := list(islice(arrays, _AT_ONCE)):
            lengths += map(len, part)
            counts += np.bincount(np.concatenate(part), minlength=tokenizer.vocab_size)
    except ValueError:
        for record in records[len(lengths) :]:  # the batch does not say which one
            _check_encodes(record, tokenizer, name)
        raise
    return SplitStatistics(
        records=len(records),
        characters=sum(map(len, texts)),
        bytes=sum(len(text.encode()) for text in texts),
        tokens=sum(lengths),
        lengths=np.array(lengths, dtype=np.int64),
        counts=counts,
    )


def histogram(lengths: np.ndarray, bars: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """How many records have how many tokens: `counts` (n,) and the whole-number `edges` (n + 1,), n at most `bars`.

    Bar i counts edges[i] <= length < edges[i + 1]; all have one width. Raises ValueError for `bars` below 1.

    >>> histogram(np.array([3, 3, 5]))
    (array([2, 0, 1]), array([3, 4, 5, 6]))
    """
    check_int("bars", bars, least=1)
    if not len(lengths):
        return np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    least, most = int(lengths.min()), int(lengths.max())
    width = -(-(most - least + 1) // bars)  # rounded up
    edges = np.arange(least, most + width + 1, width)
    return np.bincount((lengths - least) // width, minlength=len(edges) - 1), edges


def write_statistics(path: Path, known: Statistics) -> None:
    """Write them as arrays of numbers (npz), so that what a job has counted is not counted again."""
    values = {name: value for name, value in vars(known).items() if name not in SPLITS}
    for split in SPLITS:
        values |= {f"{split}_{name}": value for name, value in vars(getattr(known, split)).items()}
    with path.open("wb") as file:
        np.savez(file, **values)


def read_statistics(path: Path) -> Statistics:
    """What `write_statistics` wrote; ValueError for a damaged file. Nothing in it is ever executed."""
    try:
        with np.load(path, allow_pickle=False) as found:
            values: dict[str, Any] = {name: array if array.ndim else int(array) for name, array in found.items()}
        for split in SPLITS:
            parts = {field.name: values.pop(f"{split}_{field.name}") for field in fields(SplitStatistics)}
            values[split] = SplitStatistics(**parts)
        return Statistics(**values)
    except (OSError, ValueError, TypeError, KeyError, EOFError) as error:
        raise Refusal("{path} is damaged: {reason}", path=path, reason=reason_of(error)) from error


def _check_encodes(record: Record, tokenizer: Tokenizer, name: str) -> None:
    try:
        tokenizer.encode(record.text)
    except ValueError as error:
        raise Refusal(
            "{split} record {record_id}: {reason}", split=name, record_id=record.id, reason=reason_of(error)
        ) from error
