"""What every tokenizer can do, written once. Models, records, pages and run folders know no more about it than this."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from minigpt.sentences import Refusal
from minigpt.tokenizers.labels import special_label, visible_label

CHARACTERS_AT_ONCE = 4_000_000  # that `encode_arrays` encodes together; a longer text is encoded alone


@dataclass(frozen=True)
class EncodeStep:
    """The ids of a text after one merge that touched it."""

    rank: int
    left: int
    right: int
    id: int
    ids: tuple[int, ...]


class Tokenizer(ABC):
    """Text to ids and back. `encode` never gives a special id, whatever is typed: only the record builder sets those.

    `bos`, `eos` and `pad` are ids, and may be one and the same, as in GPT-2; `specials` names them. A kind of
    tokenizer adds how it encodes, and what its file holds.
    """

    kind: ClassVar[str]  # "byte_bpe", "chars" or "gpt2"
    file_format: ClassVar[str]
    bos: int  # begins a record
    eos: int  # ends it
    pad: int  # fills a slot that no record uses
    specials: dict[int, str]
    merges: tuple[tuple[int, int], ...] = ()  # by rank; none for characters
    _made: Sequence[int] = ()  # the id that each merge makes
    _pieces: Sequence[bytes]  # by id, empty for specials

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials; ValueError that names what has no id, with its index."""

    @abstractmethod
    def encode_steps(self, text: str) -> list[EncodeStep]:
        """The text after each merge that touches it, in the order in which they apply."""

    @abstractmethod
    def _identity(self) -> Any:
        """What decides the ids of every text, as JSON values: the fingerprint is a hash of it."""

    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """What the file holds besides its format and fingerprint."""

    @classmethod
    @abstractmethod
    def _from_content(cls, content: dict[str, Any]) -> Self:
        """The tokenizer of a file's content; ValueError that names the fault."""

    @property
    def vocab_size(self) -> int:
        """Number of ids, which are 0 .. vocab_size - 1."""
        return len(self._pieces)

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits of a SHA-256; equal exactly when every text has equal ids."""
        return hashlib.sha256(json.dumps(self._identity()).encode()).hexdigest()[:16]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        return [self.encode(text) for text in texts]

    def encode_arrays(self, texts: Sequence[str]) -> Iterator[np.ndarray]:
        """The ids of each text as int32 arrays: lists of Python numbers take ten times their memory.

        The ids and the errors are those of `encode`.
        """
        for part in _parts(texts):
            yield from self._part_arrays(part)

    def _part_arrays(self, texts: list[str]) -> Iterable[np.ndarray]:
        return (np.array(ids, dtype=np.int32) for ids in self.encode_batch(texts))

    def decode(self, ids: Iterable[int]) -> str:
        """The text behind `ids`; bytes that are not valid UTF-8, such as part of a character, become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes behind `ids`; specials have none. ValueError for an unknown id."""
        return b"".join(map(self.piece_bytes, ids))

    def piece_bytes(self, token: int) -> bytes:
        """The bytes of one id, none for a special. ValueError for an unknown id."""
        try:
            if token >= 0:
                return self._pieces[token]
        except (IndexError, TypeError):
            pass
        raise Refusal("id must be in 0..{last}, got {token!r}", last=len(self._pieces) - 1, token=token)

    def piece_label(self, token: int) -> str:
        """How one id is written on screen: visible, and different for different pieces."""
        piece, name = self.piece_bytes(token), self.specials.get(token)
        return visible_label(piece) if name is None else special_label(visible_label(name.encode()))

    def merge_rank(self, token: int) -> int | None:
        """The first merge that makes the id; None where no merge does. ValueError for an unknown id."""
        self.piece_bytes(token)
        return self._rank_of_made.get(token)

    @cached_property
    def _rank_of_made(self) -> dict[int, int]:
        return {token: rank for rank, token in reversed([*enumerate(self._made)])}

    def save(self, path: str | Path) -> None:
        """Write it as readable JSON, which `minigpt.tokenizers.files.load_tokenizer` reads."""
        content = {"format": self.file_format, **self._content(), "fingerprint": self.fingerprint}
        Path(path).write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def from_content(cls, path: str | Path, content: dict[str, Any]) -> Self:
        """What `save` wrote, already parsed; ValueError that names the file and the fault."""
        try:
            tokenizer = cls._from_content(content)
        except ValueError as error:
            raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
        if tokenizer.fingerprint != content.get("fingerprint"):
            raise Refusal(
                "{path} is damaged: its {ids:,} ids and {merges:,} merges have fingerprint {fingerprint}, "
                "the file says {said!s:.40}",
                path=path,
                ids=tokenizer.vocab_size,
                merges=len(tokenizer.merges),
                fingerprint=tokenizer.fingerprint,
                said=content.get("fingerprint"),
            )
        return tokenizer


def utf8(text: str) -> bytes:
    """The bytes of `text`. Raises ValueError for an unpaired surrogate, with its index."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refusal(
            "the text has an unpaired surrogate, U+{code:04X} at index {index}; UTF-8 has no bytes for it",
            code=ord(text[error.start]),
            index=error.start,
        ) from error


def checked_pair(rank: int, pair: object, seen: Mapping[tuple[int, int], int]) -> tuple[int, int] | None:
    """The merge `rank` as a pair; None when it is not two ints. ValueError for a pair that an earlier merge joins."""
    if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(type(token) is int for token in pair):
        return None
    left, right = pair
    if (left, right) in seen:
        raise Refusal("merge {rank} repeats the pair {pair!r}", rank=rank, pair=pair)
    return left, right


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        if part and size + len(text) > CHARACTERS_AT_ONCE:
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part
