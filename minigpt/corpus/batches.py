"""From records to tensors: BOS + ids + EOS, shifted once, padded to equal length."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from minigpt.model.loss import IGNORE
from minigpt.sentences import Refusal, Sentence, say_count
from minigpt.tokenizers.base import Tokenizer

WHOLE = 128  # slots: contexts up to this length are shown as a whole


@dataclass(frozen=True)
class Batch:
    """Aligned inputs and targets of B records in T slots.

    `ids` (B, T) long, PAD in unused slots; `valid` (B, T) bool, False there; `targets` (B, T) long,
    the id that follows, IGNORE in unused slots.
    """

    ids: torch.Tensor
    valid: torch.Tensor
    targets: torch.Tensor

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def target_count(self) -> int:
        """Number of positions whose prediction counts in the loss."""
        return int((self.targets != IGNORE).sum())

    @property
    def pass_rows(self) -> torch.Tensor:
        """The rows that together score every position once: all of them."""
        return torch.arange(len(self))

    def select(self, rows: torch.Tensor, trimmed: bool = False) -> "Batch":
        """The records in `rows`; `trimmed` drops the slots that none of them uses, which changes no loss."""
        valid = self.valid[rows]
        slots = int(valid.sum(-1).max()) if trimmed else valid.shape[1]
        return Batch(self.ids[rows, :slots], valid[:, :slots], self.targets[rows, :slots])


class RecordTooLong(Refusal):
    """A text that needs `needed` positions of a context that has `context`."""

    def __init__(self, sentence: Sentence, needed: int, context: int):
        super().__init__(sentence)
        self.needed, self.context = needed, context


def batch_records(texts: Sequence[str], tokenizer: Tokenizer, context_length: int, slots: int | None = None) -> Batch:
    """A batch of whole records in `slots` slots (the context length by default).

    Inputs drop the last id and targets the first: shifted once, EOS is scored, BOS is never a target.
    It is never cut: raises ValueError for no record, an empty one, one that needs more than `context_length` inputs
    (RecordTooLong, with its number and length), or `slots` too few for the longest.

    Example: the record of 14 ids in MG-1 fills 15 slots and leaves 49.
    """
    if not texts:
        raise Refusal("a batch needs at least one record, got none")
    encoded = _encoded(texts, tokenizer, context_length)
    longest, slots = max(map(len, encoded)) + 1, context_length if slots is None else slots
    if not longest <= slots <= context_length:
        raise Refusal(
            "slots must be {longest} to {context_length} for these records, got {slots}",
            longest=longest,
            context_length=context_length,
            slots=slots,
        )
    return _padded(encoded, tokenizer, slots)


def inspection_batch(text: str, tokenizer: Tokenizer, context_length: int) -> Batch:
    """One record as pages and reports show it: in `slots_of` slots. Raises ValueError as `batch_records` does."""
    encoded = _encoded([text], tokenizer, context_length)
    return _padded(encoded, tokenizer, slots_of(len(encoded[0]) + 1, context_length))


def _encoded(texts: Sequence[str], tokenizer: Tokenizer, context_length: int) -> list[np.ndarray]:
    """The ids of each text, when every text has some and fits."""
    encoded = list(tokenizer.encode_arrays(texts))
    lengths = np.array([len(ids) for ids in encoded])
    for row in np.flatnonzero((lengths == 0) | (lengths >= context_length))[:1]:
        _check_framed(texts[row], int(lengths[row]), context_length, number=int(row) + 1)
    return encoded


def _padded(encoded: list[np.ndarray], tokenizer: Tokenizer, slots: int) -> Batch:
    lengths = np.array([len(ids) for ids in encoded])
    ids, targets = (np.full((len(encoded), slots), fill) for fill in (tokenizer.pad, IGNORE))
    rows = np.repeat(np.arange(len(encoded)), lengths)
    places = np.arange(len(rows)) - np.repeat(lengths.cumsum() - lengths, lengths)  # within its text
    ids[:, 0] = tokenizer.bos
    ids[rows, places + 1] = targets[rows, places] = np.concatenate(encoded)
    targets[np.arange(len(encoded)), lengths] = tokenizer.eos
    shifted = torch.from_numpy(targets)
    return Batch(torch.from_numpy(ids), shifted != IGNORE, shifted)


def slots_of(length: int, context_length: int) -> int:
    """How many slots a record of `length` positions is shown in: all of a context of up to 128.

    Of a longer one the record's own, some padding, at least one slot while there is room, up to a multiple of 16:
    padding is computed like the record and changes none of its numbers, so that more of it would only cost time.

    >>> slots_of(15, 64), slots_of(15, 1024), slots_of(128, 1024), slots_of(1024, 1024)
    (64, 16, 144, 1024)
    """
    if context_length <= WHOLE:
        return context_length
    return min(context_length, (length // 16 + 1) * 16)


def _check_framed(text: str, tokens: int, context_length: int, number: int) -> None:
    if not text:
        raise Refusal("record {number} is empty; type at least one character", number=number)
    if tokens + 1 > context_length:
        sentence = say_count(
            "record {number} needs {needed} positions (BOS and {count} token), the context length is {context}",
            "record {number} needs {needed} positions (BOS and {count} tokens), the context length is {context}",
            count=tokens,
            number=number,
            needed=tokens + 1,
            context=context_length,
        )
        raise RecordTooLong(sentence, tokens + 1, context_length)
