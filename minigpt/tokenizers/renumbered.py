"""Byte BPE whose tokens have other ids, as another program numbered them."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import EncodeStep, Tokenizer
from minigpt.tokenizers.byte_bpe import BOS, EOS, PAD, SPECIALS, ByteBPE


class RenumberedBPE(Tokenizer):
    """A ByteBPE and the number of each of its ids. Everything a caller gives or gets is in these numbers.

    >>> plain = ByteBPE([(101, 100)])
    >>> tokenizer = RenumberedBPE(plain, [*range(1, plain.vocab_size), 0])
    >>> plain.encode("red"), tokenizer.encode("red"), tokenizer.merges
    ([114, 259], [115, 0], ((102, 101),))
    """

    kind = "byte_bpe"
    file_format = "minigpt-renumbered-bpe-1"

    def __init__(self, plain: ByteBPE, numbers: Sequence[int]):
        """`numbers[id]` for each id of `plain`. Raises ValueError unless they are 0 .. vocab_size - 1, each once."""
        if not all(type(number) is int for number in numbers) or sorted(numbers) != [*range(plain.vocab_size)]:
            raise Refusal(
                "its {count:,} pieces must have the ids 0 to {last}, each once",
                count=len(numbers),
                last=plain.vocab_size - 1,
            )
        self._plain, self._numbers = plain, tuple(numbers)
        self._pieces = [b""] * len(numbers)
        for token, number in enumerate(numbers):
            self._pieces[number] = plain.piece_bytes(token)
        self.bos, self.eos, self.pad = (numbers[token] for token in (BOS, EOS, PAD))
        self.specials = {numbers[token]: name for token, name in SPECIALS.items()}
        self.merges = tuple((numbers[left], numbers[right]) for left, right in plain.merges)
        self._made = numbers[len(numbers) - len(self.merges) :]

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises ValueError for an unpaired surrogate, with its index."""
        return [self._numbers[token] for token in self._plain.encode(text)]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text; one replay of the merges serves all of them."""
        return [[self._numbers[token] for token in ids] for ids in self._plain.encode_batch(texts)]

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """The text after each merge that touches it, in rank order."""
        return [
            EncodeStep(
                step.rank, *self.merges[step.rank], self._made[step.rank], tuple(self._numbers[i] for i in step.ids)
            )
            for step in self._plain.encode_steps(text)
        ]

    def _part_arrays(self, texts: list[str]) -> list[np.ndarray]:
        numbers = np.array(self._numbers, dtype=np.int32)
        return [numbers[ids] for ids in self._plain.encode_arrays(texts)]

    def _identity(self) -> list[Any]:
        return [self.file_format, self._plain.merges, self._numbers]

    def _content(self) -> dict[str, Any]:
        return {"merges": self._plain.merges, "numbers": self._numbers}

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> Self:
        merges, numbers = content.get("merges"), content.get("numbers")
        if not isinstance(merges, list) or not isinstance(numbers, list):
            raise Refusal("its merges and its numbers must be lists")
        return cls(ByteBPE(merges), numbers)
