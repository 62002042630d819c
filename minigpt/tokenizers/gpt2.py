"""GPT-2's tokenizer: byte-level BPE inside words, with the ids of a published vocabulary.

A text is cut into words (`words.py`); in each word, which begins as its bytes, the pair with the lowest
rank is merged, the leftmost first, until no pair is in the table. Text is only ever text: the typed
characters `<|endoftext|>` are thirteen bytes in four words, never the special id, which begins and ends
every record and fills unused slots.

Source: A. Radford et al. (2019), Language Models are Unsupervised Multitask Learners, section 2.2; ids
equal those of Hugging Face's `tokenizers` but for characters that Unicode assigned after Python's tables
were made (see `words.py`).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import EncodeStep
from minigpt.tokenizers.bytes_to_unicode import from_letters, to_letters
from minigpt.tokenizers.labels import special_label, visible_label
from minigpt.tokenizers.pretokenize import split_words
from minigpt.tokenizers.word_merge import merged, merging

FORMAT = "minigpt-gpt2-1"
END = "<|endoftext|>"
REPLAYED = 10_000_000  # ids in all steps of one `encode_steps` at most
_CACHED_WORDS = 50_000
_CACHED_CHARACTERS = 50  # of one word at most


class GPT2Tokenizer:
    """A tokenizer given by its pieces, merges and special ids.

    >>> pieces = [bytes([i]) for i in range(256)] + [b"", b"lo", b"low"]
    >>> tokenizer = GPT2Tokenizer(pieces, [(108, 111), (257, 119)], {256: END})
    >>> tokenizer.encode("low slow"), tokenizer.eos
    ([258, 32, 115, 258], 256)
    """

    kind = "gpt2"

    def __init__(self, pieces: Sequence[bytes], merges: Iterable[Sequence[int]], specials: Mapping[int, str]):
        """`pieces[id]` are the bytes of an id, none for the ids of `specials`, of which one is `<|endoftext|>`.

        Raises ValueError that names the id or the merge number: for a byte without an id, a piece that
        is there twice, and a merge of other than two known ids into a known piece.
        """
        self._pieces = tuple(pieces)
        self.specials = dict(sorted(specials.items()))
        ids = _checked_ids(self._pieces, self.specials)
        self.merges, self._made = _checked_merges(merges, self._pieces, ids)
        self._ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self._byte_ids = [ids[bytes([byte])] for byte in range(256)]
        self.bos = self.eos = self.pad = next(id for id, name in self.specials.items() if name == END)
        self._known: dict[str, list[int]] = {}  # words met before, and their ids

    @property
    def vocab_size(self) -> int:
        """Number of ids: bytes, merged pieces and specials; 50,257 in GPT-2."""
        return len(self._pieces)

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits of the SHA-256 over format, pieces, merges and specials: equal ids exactly when equal."""
        content = [FORMAT, [piece.hex() for piece in self._pieces], self.merges, list(self.specials.items())]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises ValueError for half a character, with its index."""
        _check_whole(text)
        ids, known = [], self._known
        for word in split_words(text):
            ids += known.get(word) or self._word(word)
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        return [self.encode(text) for text in texts]

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """The text after each merge, word by word as the algorithm goes; one step for equal merges in a row.

        Raises ValueError for a text so long that the steps would hold more than 10,000,000 ids.
        """
        _check_whole(text)
        flat = [self._byte_ids[byte] for byte in text.encode()]
        done, end, steps, held = [], 0, [], 0  # merged words, the end of the word at hand in `flat`
        for word in split_words(text):
            start, end, first = end, end + len(word.encode()), len(steps)
            ids = flat[start:end]
            for rank in merging(ids, self._ranks, self._made):
                if len(steps) > first and steps[-1].rank == rank:
                    held -= len(steps.pop().ids)
                left, right = self.merges[rank]
                steps.append(EncodeStep(rank, left, right, self._made[rank], (*done, *ids, *flat[end:])))
                held += len(steps[-1].ids)
                if held > REPLAYED:
                    raise Refusal(
                        "the merges of {count:,} characters are too many to show; shorten the text", count=len(text)
                    )
            done += ids
        return steps

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes behind `ids`; specials have none. Raises ValueError for an id outside the vocabulary."""
        return b"".join(self.piece_bytes(id) for id in ids)

    def decode(self, ids: Iterable[int]) -> str:
        """The text behind `ids`. Bytes that are not valid UTF-8, as half a character, become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def piece_bytes(self, id: int) -> bytes:
        """The bytes of one id, none for a special. Raises ValueError for an unknown id."""
        if not isinstance(id, int) or not 0 <= id < len(self._pieces):
            raise Refusal("id must be in 0..{vocab_size}, got {id!r}", vocab_size=self.vocab_size - 1, id=id)
        return self._pieces[id]

    def piece_label(self, id: int) -> str:
        """How one id is written on screen: visible, and different for different pieces."""
        piece = self.piece_bytes(id)
        return special_label(visible_label(self.specials[id].encode())) if id in self.specials else visible_label(piece)

    def merge_rank(self, id: int) -> int | None:
        """The first merge that makes the id; None for a byte, a special and a piece that no merge makes."""
        self.piece_bytes(id)
        return self._first_ranks.get(id)

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as readable JSON: pieces in byte letters by id, null for a special."""
        pieces = [None if id in self.specials else to_letters(piece) for id, piece in enumerate(self._pieces)]
        content = {"format": FORMAT, "pieces": pieces, "merges": self.merges}
        content |= {"specials": {name: id for id, name in self.specials.items()}, "fingerprint": self.fingerprint}
        Path(path).write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def from_content(cls, path: str | Path, content: dict) -> "GPT2Tokenizer":
        """What `save` wrote, already parsed; ValueError that names the fault, nothing is loaded in part."""
        pieces, merges, specials = (content.get(name) for name in ("pieces", "merges", "specials"))
        if not isinstance(pieces, list) or not all(isinstance(piece, str | None) for piece in pieces):
            raise Refusal("{path} is damaged: its pieces must be a list of texts, and null for a special", path=path)
        if not isinstance(merges, list) or not isinstance(specials, dict):
            raise Refusal("{path} is damaged: its merges must be a list and its specials an object", path=path)
        try:
            tokenizer = cls([from_letters(piece or "") for piece in pieces], merges, _by_id(specials))
        except ValueError as error:
            raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
        if tokenizer.fingerprint != content.get("fingerprint"):
            raise Refusal(
                "{path} is damaged: its {count:,} pieces and {count2:,} merges have fingerprint "
                "{fingerprint}, the file says {get}",
                path=path,
                count=len(pieces),
                count2=len(merges),
                fingerprint=tokenizer.fingerprint,
                get=content.get("fingerprint"),
            )
        return tokenizer

    @cached_property
    def _first_ranks(self) -> dict[int, int]:
        return {id: rank for rank, id in reversed([*enumerate(self._made)])}

    def _word(self, word: str) -> list[int]:
        """The ids of one word, kept for the next time."""
        ids = merged([self._byte_ids[byte] for byte in word.encode()], self._ranks, self._made)
        if len(word) <= _CACHED_CHARACTERS:
            if len(self._known) >= _CACHED_WORDS:
                self._known.clear()
            self._known[word] = ids
        return ids


def _check_whole(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise Refusal(
            "text holds half a character, U+{code:04X} at index {start}; UTF-8 has no bytes for it",
            code=code,
            start=error.start,
        ) from error


def _by_id(specials: Mapping[str, int]) -> dict[int, str]:
    if not all(type(id) is int for id in specials.values()):
        raise Refusal("the id of a special must be a whole number, got {specials!r:.80}", specials=specials)
    return {id: name for name, id in specials.items()}


def _checked_ids(pieces: tuple[bytes, ...], specials: dict[int, str]) -> dict[bytes, int]:
    """The id of each piece that is no special."""
    if [*specials.values()].count(END) != 1:
        raise Refusal(
            "one special id must be called {end}, got {value}",
            end=END,
            value=", ".join(specials.values()) or "no special",
        )
    for id, name in specials.items():
        if not 0 <= id < len(pieces) or pieces[id]:
            raise Refusal(
                "the special {name!r:.40} must have an id of its own below {count}, got {id}",
                name=name,
                count=len(pieces),
                id=id,
            )
    ids: dict[bytes, int] = {}
    for id, piece in enumerate(pieces):
        if id in specials:
            continue
        if not piece or piece in ids:
            raise Refusal(
                "id {id} must have bytes of its own, got {to_letters!r:.40}", id=id, to_letters=to_letters(piece)
            )
        ids[piece] = id
    for byte in range(256):
        if bytes([byte]) not in ids:
            raise Refusal("the byte {byte:02X} has no id: texts that hold it could not be encoded", byte=byte)
    return ids


def _checked_merges(
    merges: Iterable[Sequence[int]], pieces: tuple[bytes, ...], ids: dict[bytes, int]
) -> tuple[tuple[tuple[int, int], ...], list[int]]:
    """The merges as pairs, and the id each makes."""
    pairs, made = {}, []
    for rank, pair in enumerate(merges):
        whole = isinstance(pair, (list, tuple)) and len(pair) == 2 and all(type(id) is int for id in pair)
        if not whole or not all(0 <= id < len(pieces) and pieces[id] for id in pair):
            raise Refusal(
                "merge {rank} must join two ids below {count} and no special id, got {pair!r:.60}",
                rank=rank,
                count=len(pieces),
                pair=pair,
            )
        joined = pieces[pair[0]] + pieces[pair[1]]
        if joined not in ids:
            raise Refusal(
                "merge {rank} makes {to_letters!r:.60}, which has no id", rank=rank, to_letters=to_letters(joined)
            )
        if tuple(pair) in pairs:
            raise Refusal("merge {rank} repeats the pair {pair!r}", rank=rank, pair=pair)
        pairs[tuple(pair)] = rank
        made.append(ids[joined])
    return tuple(pairs), made
