"""Windows of contiguous text, for corpora whose records are longer than the context or very many.

The records of a split are laid end to end, each framed: BOS ids EOS BOS ids EOS ... A window is T
neighbouring slots of that stream and may begin and end anywhere. The pairs to be learned are those
within a record, so EOS is scored and BOS is never a target, just as with whole records: both modes
score the same pairs of the same corpus. Attention reads across the border of two records.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from minigpt.corpus.batches import Batch
from minigpt.model.loss import IGNORE
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer


@dataclass(frozen=True)
class Windows:
    """A split as one stream: `ids` (N + T,) int32 with T slots of PAD at the end, `targets` alike with IGNORE.

    Row i is the window of `length` slots that begins at slot i; `len` counts the rows that lie whole
    within the N slots of text (one, padded, when the text is shorter).
    """

    ids: torch.Tensor
    targets: torch.Tensor
    length: int  # T

    def __len__(self) -> int:
        return max(1, self.slots - self.length + 1)

    @property
    def slots(self) -> int:
        """N, the slots that hold text."""
        return len(self.ids) - self.length

    @property
    def target_count(self) -> int:
        """Number of pairs, each of which one pass scores once."""
        return int((self.targets != IGNORE).sum())

    @property
    def pass_rows(self) -> torch.Tensor:
        """The windows that lie side by side: together they score every pair exactly once."""
        return torch.arange(0, self.slots, self.length)

    def select(self, rows: torch.Tensor, trimmed: bool = False) -> Batch:
        """The windows that begin at `rows`; `trimmed` drops the slots that none of them uses."""
        length = min(self.length, self.slots - int(rows.min())) if trimmed else self.length
        slots = rows[:, None] + torch.arange(length)  # (B, T)
        return Batch(self.ids[slots].long(), slots < self.slots, self.targets[slots].long())


def window_stream(texts: Sequence[str], tokenizer: Tokenizer, length: int) -> Windows:
    """All `texts` as a stream that is read in windows of `length` slots.

    Raises ValueError for no text or an empty one. Example: "ab" and "c" give BOS a b EOS BOS c EOS:
    7 slots, 5 pairs, as EOS -> BOS is not one.
    """
    if not texts or not all(texts):
        raise Refusal("windows need texts of at least one character, got {texts!r:.60}", texts=texts)
    records = list(tokenizer.encode_arrays(texts))
    ids = np.full(sum(len(record) + 2 for record in records) + length, tokenizer.pad, dtype=np.int32)
    targets, start = np.full_like(ids, IGNORE), 0
    for record in records:
        end = start + len(record) + 1  # the slot of EOS
        ids[start], ids[start + 1 : end], ids[end] = tokenizer.bos, record, tokenizer.eos
        targets[start:end] = ids[start + 1 : end + 1]
        start = end + 1
    return Windows(torch.from_numpy(ids), torch.from_numpy(targets), length)
