"""Byte-level BPE: every text has ids, every id has bytes.

Ids 0-255 are the bytes, then BOS 256, EOS 257, PAD 258, then one id a merge from 259 on. There is no
normalization and no pre-tokenization; merges never cross the border between two texts. Text is only
ever text: the typed characters `<|eos|>` are seven bytes, never the special id.

Source: R. Sennrich, B. Haddow, A. Birch (2016), Neural Machine Translation of Rare Words with Subword
Units, section 3.2, on bytes.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import EncodeStep, Tokenizer, checked_pair, utf8
from minigpt.tokenizers.bpe_trainer import FIRST_MERGE, Merge, train_merges
from minigpt.tokenizers.replay import Replay
from minigpt.tokenizers.token_array import BORDER, TokenArray
from minigpt.tokenizers.word_merge import merged

BOS, EOS, PAD = 256, 257, 258
SPECIALS = {BOS: "BOS", EOS: "EOS", PAD: "PAD"}
SHORT = 2000  # bytes up to which one text is merged pair by pair, which is quicker there than a replay in arrays


class ByteBPE(Tokenizer):
    """A tokenizer given by its merges, in rank order.

    >>> tokenizer = ByteBPE.train(["red red"], merges=2)
    >>> tokenizer.merges, tokenizer.encode("red")
    (((101, 100), (114, 259)), [260])
    """

    kind = "byte_bpe"
    file_format = "minigpt-byte-bpe-1"
    bos, eos, pad = BOS, EOS, PAD
    specials = SPECIALS

    def __init__(self, merges: Iterable[Sequence[int]] = ()):
        """Raises ValueError that names the merge number for a pair that cannot exist at its rank."""
        self._ranks = _checked_merges(merges)
        self.merges = tuple(self._ranks)
        pieces = [bytes([byte]) for byte in range(256)] + [b""] * len(SPECIALS)
        for left, right in self.merges:
            pieces.append(pieces[left] + pieces[right])
        self._pieces, self._made = pieces, range(FIRST_MERGE, len(pieces))
        self._replay = Replay(self.merges, FIRST_MERGE)

    @classmethod
    def train(cls, texts: Iterable[str], merges: int) -> Self:
        """Learn up to `merges` merges; fewer when no pair is left. See `train_merges` for the rule."""
        return cls((step.left, step.right) for step in cls.train_steps(texts, merges))

    @staticmethod
    def train_steps(texts: Iterable[str], merges: int) -> Iterator[Merge]:
        """Yield each merge as it is learned, so that a caller can show progress or stop.

        Raises ValueError for a negative or fractional `merges`, or an unpaired surrogate in a text.
        """
        if isinstance(texts, str):
            raise Refusal("texts must be a collection of texts, got one text; put it into a list")
        yield from train_merges(map(utf8, texts), merges)

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises ValueError for an unpaired surrogate, with its index."""
        piece = utf8(text)
        if len(piece) <= SHORT:
            return merged([*piece], self._ranks, self._made)
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text; one replay of the merges serves all of them."""
        array, borders = self._replayed(texts)
        borders, ids = borders.tolist(), array.tolist()
        return [ids[start + 1 : end] for start, end in pairwise(borders)]

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """The text after each merge that touches it, in rank order; empty when none does."""
        array = TokenArray([utf8(text)], self.vocab_size)
        return [
            EncodeStep(rank, *self.merges[rank], self._made[rank], tuple(array.ids()[1:-1].tolist()))
            for rank in self._replay.steps(array)
        ]

    def _part_arrays(self, texts: list[str]) -> list[np.ndarray]:
        """Arrays that share one memory."""
        ids, borders = self._replayed(texts)
        return [ids[start + 1 : end] for start, end in pairwise(borders)]

    def _replayed(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The ids of all texts with a BORDER around each, and where the borders are."""
        array = TokenArray([utf8(text) for text in texts], self.vocab_size)
        self._replay.apply(array)
        ids = array.ids()
        return ids, np.flatnonzero(ids == BORDER)

    def _identity(self) -> list[Any]:
        return [self.file_format, sorted(SPECIALS.items()), self.merges]

    def _content(self) -> dict[str, Any]:
        return {"specials": {name: token for token, name in SPECIALS.items()}, "merges": self.merges}

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> Self:
        specials, merges = content.get("specials"), content.get("merges")
        if specials != {name: token for token, name in SPECIALS.items()}:
            raise Refusal("its specials must be BOS 256, EOS 257, PAD 258, got {specials!r:.60}", specials=specials)
        if not isinstance(merges, list):
            raise Refusal("its merges must be a list, got {merges!r:.60}", merges=merges)
        return cls(merges)


def _checked_merges(merges: Iterable[Sequence[int]]) -> dict[tuple[int, int], int]:
    """The rank of each pair."""
    ranks: dict[tuple[int, int], int] = {}
    for rank, pair in enumerate(merges):
        limit, joined = FIRST_MERGE + rank, checked_pair(rank, pair, ranks)
        if joined is None or any(token < 0 or token >= limit or token in SPECIALS for token in joined):
            raise Refusal(
                "merge {rank} must join two earlier ids below {limit} that are not special, got {pair!r}",
                rank=rank,
                limit=limit,
                pair=pair,
            )
        ranks[joined] = rank
    return ranks
