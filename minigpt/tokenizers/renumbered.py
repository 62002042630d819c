"""Byte BPE whose ids carry other numbers, as another program gave them to the same pieces."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import EncodeStep
from minigpt.tokenizers.byte_bpe import BOS, EOS, PAD, SPECIALS, ByteBPE

FORMAT = "minigpt-renumbered-bpe-1"


class RenumberedBPE:
    """A ByteBPE and the number of each of its ids. Everything a caller gives or gets is in these numbers.

    >>> plain = ByteBPE([(101, 100)])
    >>> tokenizer = RenumberedBPE(plain, [*range(1, plain.vocab_size), 0])
    >>> plain.encode("red"), tokenizer.encode("red"), tokenizer.merges
    ([114, 259], [115, 0], ((102, 101),))
    """

    kind = "byte_bpe"

    def __init__(self, plain: ByteBPE, numbers: Sequence[int]):
        """`numbers[id]` for each id of `plain`. Raises ValueError unless they are 0 .. vocab_size - 1, each once."""
        if not all(type(number) is int for number in numbers) or sorted(numbers) != [*range(plain.vocab_size)]:
            raise Refusal(
                "its {count:,} pieces must have the ids 0 to {vocab_size}, each once",
                count=len(numbers),
                vocab_size=plain.vocab_size - 1,
            )
        self._plain, self._numbers = plain, tuple(numbers)
        self._ids = {number: id for id, number in enumerate(numbers)}
        self.bos, self.eos, self.pad = (numbers[id] for id in (BOS, EOS, PAD))
        self.specials = {numbers[id]: name for id, name in SPECIALS.items()}
        self.merges = tuple((numbers[left], numbers[right]) for left, right in plain.merges)

    @property
    def vocab_size(self) -> int:
        """Number of ids: 256 bytes, 3 specials and the merges."""
        return self._plain.vocab_size

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits of the SHA-256 over format, merges and numbers: equal ids exactly when equal."""
        content = json.dumps([FORMAT, self._plain.merges, self._numbers])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises ValueError for a lone surrogate, with its index."""
        return self._numbered(self._plain.encode(text))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        return [self._numbered(ids) for ids in self._plain.encode_batch(texts)]

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """The text after each merge that touches it, in rank order."""
        return [
            EncodeStep(step.rank, *self._numbered([step.left, step.right, step.id]), tuple(self._numbered(step.ids)))
            for step in self._plain.encode_steps(text)
        ]

    def decode(self, ids: Iterable[int]) -> str:
        """The text behind `ids`. Bytes that are not valid UTF-8, as half a character, become U+FFFD."""
        return self._plain.decode(map(self._id, ids))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes behind `ids`; specials have none. Raises ValueError for an id outside the vocabulary."""
        return self._plain.decode_bytes(map(self._id, ids))

    def piece_bytes(self, id: int) -> bytes:
        """The bytes of one id, empty for specials. Raises ValueError for an unknown id."""
        return self._plain.piece_bytes(self._id(id))

    def piece_label(self, id: int) -> str:
        """How one id is written on screen: visible, and different for different pieces."""
        return self._plain.piece_label(self._id(id))

    def merge_rank(self, id: int) -> int | None:
        """Which merge made the id; None for bytes and specials. Raises ValueError for an unknown id."""
        return self._plain.merge_rank(self._id(id))

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as readable JSON."""
        content = {"format": FORMAT, "merges": self._plain.merges, "numbers": self._numbers}
        content |= {"fingerprint": self.fingerprint}
        Path(path).write_text(json.dumps(content) + "\n", encoding="utf-8")

    @classmethod
    def from_content(cls, path: str | Path, content: dict) -> "RenumberedBPE":
        """What `save` wrote, already parsed; ValueError that names the fault, nothing is loaded in part."""
        merges, numbers = content.get("merges"), content.get("numbers")
        if not isinstance(merges, list) or not isinstance(numbers, list):
            raise Refusal("{path} is damaged: its merges and its numbers must be lists", path=path)
        try:
            tokenizer = cls(ByteBPE(merges), numbers)
        except ValueError as error:
            raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
        if tokenizer.fingerprint != content.get("fingerprint"):
            raise Refusal(
                "{path} is damaged: its {count:,} merges and {count2:,} numbers have fingerprint "
                "{fingerprint}, the file says {get}",
                path=path,
                count=len(merges),
                count2=len(numbers),
                fingerprint=tokenizer.fingerprint,
                get=content.get("fingerprint"),
            )
        return tokenizer

    def _numbered(self, ids: Iterable[int]) -> list[int]:
        return [self._numbers[id] for id in ids]

    def _id(self, number: int) -> int:
        if number not in self._ids:
            raise Refusal(
                "id must be in 0..{vocab_size}, got {number!r}", vocab_size=self.vocab_size - 1, number=number
            )
        return self._ids[number]
