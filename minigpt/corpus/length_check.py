"""Which records are longer than a context, and what can be done about it. None is ever cut."""

from dataclasses import dataclass

import numpy as np

from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.statistics import Statistics, statistics
from minigpt.sentences import Sentence, say
from minigpt.tokenizers.base import Tokenizer
from minigpt.validation import check_int


@dataclass(frozen=True)
class LongRecord:
    """A record that does not fit. It needs `tokens` + 1 positions: BOS is before them, EOS is only a target."""

    split: str  # "train" or "validation"
    number: int  # in its split, from 1
    record: Record
    tokens: int

    @property
    def needed(self) -> int:
        """The context length that it fits into."""
        return self.tokens + 1


@dataclass(frozen=True)
class TooLong:
    """The records beyond `context_length`, the longest first (ties in the order of the corpus).

    There are two ways on: a context of `needed` positions, or windows, which take texts of any length.
    """

    context_length: int
    needed: int  # positions that the longest record of all needs
    records: tuple[LongRecord, ...]

    @property
    def fault(self) -> Sentence | None:
        """The longest record, how many are too long, and what can be done; None when every record fits."""
        if not self.records:
            return None
        return say(
            "record {record_id} needs {needed} positions (BOS and {tokens} tokens), the context length is {context} "
            "(records that are too long: {count:,}); set context_length={needed} or mode=windows",
            record_id=self.records[0].record.id,
            needed=self.needed,
            tokens=self.records[0].tokens,
            context=self.context_length,
            count=len(self.records),
        )


def too_long(corpus: Corpus, tokenizer: Tokenizer, context_length: int, known: Statistics | None = None) -> TooLong:
    """The records that do not fit into `context_length` positions; `known` saves counting again.

    Raises ValueError for a context below 1, and as `statistics` does.

    Example: none of MG-1's corpus at 64 positions; `needed` is 28, for the longest record's 27 tokens and BOS.
    """
    check_int("context_length", context_length, least=1)
    known = known or statistics(corpus, tokenizer)
    found = []
    for split, records, lengths in (
        ("train", corpus.train, known.train.lengths),
        ("validation", corpus.validation, known.validation.lengths),
    ):
        places = np.flatnonzero(lengths + 1 > context_length)
        found += [LongRecord(split, int(i) + 1, records[i], int(lengths[i])) for i in places]
    longest = max(int(part.lengths.max(initial=0)) for part in (known.train, known.validation))
    return TooLong(context_length, longest + 1, tuple(sorted(found, key=lambda long: -long.tokens)))
