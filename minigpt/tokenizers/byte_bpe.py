"""Byte-level BPE: every text has ids, every id has bytes.

Ids 0-255 are the bytes, then BOS 256, EOS 257, PAD 258, then one id a merge from 259 on. There is no
normalisation and no pre-tokenisation; merges never cross the border between two texts. Text is only
ever text: the typed characters `<|eos|>` are seven bytes, never the special id.

Source: R. Sennrich, B. Haddow, A. Birch (2016), Neural Machine Translation of Rare Words with Subword
Units, section 3.2, on bytes.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import EncodeStep
from minigpt.tokenizers.bpe_trainer import PairQueue
from minigpt.tokenizers.labels import special_label, visible_label
from minigpt.tokenizers.replay import Replay
from minigpt.tokenizers.token_array import BORDER, Slots, without_overlap
from minigpt.tokenizers.word_merge import merged

BOS, EOS, PAD = 256, 257, 258
SPECIALS = {BOS: "BOS", EOS: "EOS", PAD: "PAD"}
FIRST_MERGE = 259
FORMAT = "minigpt-byte-bpe-1"
SHORT = 2000  # bytes up to which one text is merged pair by pair, which is quicker there than a replay in arrays


@dataclass(frozen=True)
class Merge:
    """One learned merge: the pair (left, right) becomes `id`; `count` is how often the pair stood there.

    `tokens` is how many ids all texts have then.
    """

    rank: int
    left: int
    right: int
    id: int
    count: int
    tokens: int


class ByteBPE:
    """A tokenizer given by its merges, in rank order.

    >>> tokenizer = ByteBPE.train(["red red"], merges=2)
    >>> tokenizer.merges, tokenizer.encode("red")
    (((101, 100), (114, 259)), [260])
    """

    kind = "byte_bpe"
    bos, eos, pad = BOS, EOS, PAD
    specials = SPECIALS

    def __init__(self, merges: Iterable[Sequence[int]] = ()):
        """Raises ValueError that names the merge number for a pair that cannot exist at its rank."""
        self.merges = tuple(_checked_merges(merges))
        self._bytes = {i: bytes([i]) for i in range(256)} | dict.fromkeys(SPECIALS, b"")
        for rank, (left, right) in enumerate(self.merges):
            self._bytes[FIRST_MERGE + rank] = self._bytes[left] + self._bytes[right]
        self._replay = Replay(self.merges, FIRST_MERGE)
        self._ranks = {pair: rank for rank, pair in enumerate(self.merges)}

    @property
    def vocab_size(self) -> int:
        """Number of ids: 256 bytes, 3 specials and the merges."""
        return FIRST_MERGE + len(self.merges)

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits of the SHA-256 over format, specials and merges: equal ids exactly when equal."""
        content = json.dumps([FORMAT, sorted(SPECIALS.items()), self.merges])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @classmethod
    def train(cls, texts: Iterable[str], merges: int) -> "ByteBPE":
        """Learn up to `merges` merges; fewer when no pair is left. See `train_steps` for the rule."""
        return cls((step.left, step.right) for step in cls.train_steps(texts, merges))

    @staticmethod
    def train_steps(texts: Iterable[str], merges: int) -> Iterator[Merge]:
        """Yield each merge as it is learned, so that a caller can show progress or stop.

        Rule: the pair with the highest count wins, ties go to the smallest (left, right); it is
        replaced from left to right without overlap. Counts are of neighbouring places, so `aaa` holds
        the pair (a, a) twice.

        Raises ValueError for a negative or fractional `merges`, or a lone surrogate in a text.
        """
        if isinstance(merges, bool) or not isinstance(merges, int) or merges < 0:
            raise Refusal("merges must be a whole number of at least 0, got {merges!r}", merges=merges)
        if isinstance(texts, str):
            raise Refusal("texts must be a collection of texts, got one text; put it into a list")
        pieces = [_utf8(text) for text in texts]
        tokens = sum(map(len, pieces))
        id_limit = FIRST_MERGE + min(merges, tokens)  # each merge leaves at least one id less
        slots = Slots(pieces, id_limit)
        queue = PairQueue(slots, id_limit)
        for rank in range(merges):
            highest = queue.take_highest()
            if highest is None:
                return
            left, right, places = highest
            count, new_id = len(places), FIRST_MERGE + rank
            if left == right:
                places = without_overlap(places, slots.lengths[left])
            slots.replace(places, left, right, new_id)
            queue.add_neighbours(places, new_id)
            tokens -= len(places)
            yield Merge(rank, left, right, new_id, count, tokens)

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises ValueError for a lone surrogate, with its index."""
        piece = _utf8(text)
        if len(piece) <= SHORT:
            return merged([*piece], self._ranks, range(FIRST_MERGE, self.vocab_size))
        return self._replayed([piece])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text; one replay of the merges serves all of them."""
        return self._replayed([_utf8(text) for text in texts])

    def encode_arrays(self, texts: Sequence[str]) -> list[np.ndarray]:
        """The ids of each text as int32 arrays, which share one memory: for large texts."""
        slots = Slots([_utf8(text) for text in texts], self.vocab_size)
        self._replay.apply(slots)
        ids = slots.ids()
        return [ids[start + 1 : end] for start, end in pairwise(np.flatnonzero(ids == BORDER))]

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """The text after each merge that touches it, in rank order; empty when none does."""
        slots = Slots([_utf8(text)], self.vocab_size)
        return [
            EncodeStep(rank, *self.merges[rank], FIRST_MERGE + rank, tuple(slots.ids()[1:-1].tolist()))
            for rank in self._replay.steps(slots)
        ]

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes behind `ids`; specials have none. Raises ValueError for an id outside the vocabulary."""
        return b"".join(self.piece_bytes(i) for i in ids)

    def decode(self, ids: Iterable[int]) -> str:
        """The text behind `ids`. Bytes that are not valid UTF-8, as half a character, become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def piece_bytes(self, id: int) -> bytes:
        """The bytes of one id, empty for specials. Raises ValueError for an unknown id."""
        if id not in self._bytes:
            raise Refusal("id must be in 0..{vocab_size}, got {id!r}", vocab_size=self.vocab_size - 1, id=id)
        return self._bytes[id]

    def piece_label(self, id: int) -> str:
        """How one id is written on screen: visible, and different for different pieces."""
        piece = self.piece_bytes(id)
        return special_label(SPECIALS[id]) if id in SPECIALS else visible_label(piece)

    def merge_rank(self, id: int) -> int | None:
        """Which merge made the id; None for a byte or a special."""
        return id - FIRST_MERGE if id >= FIRST_MERGE else None

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as readable JSON."""
        content = {"format": FORMAT, "specials": {name: i for i, name in SPECIALS.items()}}
        content |= {"merges": self.merges, "fingerprint": self.fingerprint}
        Path(path).write_text(json.dumps(content) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "ByteBPE":
        """Read what `save` wrote; ValueError that names the fault, nothing is loaded in part."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Refusal("{path} is not a tokenizer file: {error}", path=path, error=error) from error
        return cls.from_content(path, content)

    @classmethod
    def from_content(cls, path: str | Path, content: dict) -> "ByteBPE":
        """What `save` wrote, already parsed; ValueError that names the fault and the file."""
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise Refusal("{path} is not a tokenizer file of format {format}", path=path, format=FORMAT)
        if content.get("specials") != {name: i for i, name in SPECIALS.items()}:
            raise Refusal(
                "{path} has the specials {get!r:.60}, not BOS 256, EOS 257, PAD 258",
                path=path,
                get=content.get("specials"),
            )
        if not isinstance(content.get("merges"), list):
            raise Refusal(
                "{path} is damaged: its merges must be a list, got {get!r:.60}", path=path, get=content.get("merges")
            )
        try:
            tokenizer = cls(content["merges"])
        except ValueError as error:
            raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
        if tokenizer.fingerprint != content.get("fingerprint"):
            raise Refusal(
                "{path} is damaged: its {count} merges have fingerprint {fingerprint}, the file says {get}",
                path=path,
                count=len(tokenizer.merges),
                fingerprint=tokenizer.fingerprint,
                get=content.get("fingerprint"),
            )
        return tokenizer

    def _replayed(self, pieces: list[bytes]) -> list[list[int]]:
        slots = Slots(pieces, self.vocab_size)
        self._replay.apply(slots)
        ids = slots.ids()
        borders, ids = np.flatnonzero(ids == BORDER).tolist(), ids.tolist()
        return [ids[start + 1 : end] for start, end in pairwise(borders)]


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise Refusal(
            "text holds half a character, U+{code:04X} at index {start}; UTF-8 has no bytes for it",
            code=code,
            start=error.start,
        ) from error


def _checked_merges(merges: Iterable[Sequence[int]]) -> Iterator[tuple[int, int]]:
    seen = set()
    for rank, pair in enumerate(merges):
        limit = FIRST_MERGE + rank
        whole = isinstance(pair, (list, tuple)) and len(pair) == 2 and all(type(i) is int for i in pair)
        if not whole or any(i < 0 or i >= limit or i in SPECIALS for i in pair):
            raise Refusal(
                "merge {rank} must join two earlier ids below {limit} and no special id, got {pair!r}",
                rank=rank,
                limit=limit,
                pair=pair,
            )
        if tuple(pair) in seen:
            raise Refusal("merge {rank} repeats the pair {pair!r}", rank=rank, pair=pair)
        seen.add(tuple(pair))
        yield tuple(pair)
