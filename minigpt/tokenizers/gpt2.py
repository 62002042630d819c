"""GPT-2's tokenizer: byte-level BPE inside words, with the ids of a published vocabulary.

A text is cut into words (`pretokenize.py`); in each word, which begins as its bytes, the pair with the lowest
rank is merged, the leftmost first, until no pair is in the table. Text is only ever text: the typed
characters `<|endoftext|>` are thirteen bytes in four words, never the special id, which begins and ends
every record and fills unused slots.

Source: A. Radford et al. (2019), Language Models are Unsupervised Multitask Learners, section 2.2; ids
equal those of Hugging Face's `tokenizers` but for characters that Unicode assigned after Python's tables
were made (see `pretokenize.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import EncodeStep, Tokenizer, checked_pair, utf8
from minigpt.tokenizers.bytes_to_unicode import from_letters, to_letters
from minigpt.tokenizers.pretokenize import split_words
from minigpt.tokenizers.word_merge import merge_steps, merged

END = "<|endoftext|>"
REPLAYED = 10_000_000  # ids in all steps of one `encode_steps` at most
_CACHED_WORDS = 50_000
_CACHED_CHARACTERS = 50  # of one word at most


class GPT2Tokenizer(Tokenizer):
    """A tokenizer given by its pieces, merges and special ids.

    >>> pieces = [bytes([i]) for i in range(256)] + [b"", b"lo", b"low"]
    >>> tokenizer = GPT2Tokenizer(pieces, [(108, 111), (257, 119)], {256: END})
    >>> tokenizer.encode("low slow"), tokenizer.eos
    ([258, 32, 115, 258], 256)
    """

    kind = "gpt2"
    file_format = "minigpt-gpt2-1"

    def __init__(self, pieces: Sequence[bytes], merges: Iterable[Sequence[int]], specials: Mapping[int, str]):
        """`pieces[id]` are the bytes of an id, none for the ids of `specials`, of which one is `<|endoftext|>`.

        Raises ValueError that names the id or the merge number: for a byte without an id, a piece that
        is there twice, and a merge of other than two known ids into a known piece.
        """
        self._pieces = pieces = tuple(pieces)
        self.specials = dict(sorted(specials.items()))
        ids = _checked_ids(pieces, self.specials)
        self._ranks, self._made = _checked_merges(merges, pieces, ids)
        self.merges = tuple(self._ranks)
        self._byte_ids = [ids[bytes([byte])] for byte in range(256)]
        self.bos = self.eos = self.pad = next(token for token, name in self.specials.items() if name == END)
        self._known: dict[str, list[int]] = {}  # words met before, and their ids

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises ValueError for an unpaired surrogate, with its index."""
        utf8(text)
        known = self._known
        ids: list[int] = []
        for word in split_words(text):
            ids += known.get(word) or self._word(word)
        return ids

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """The text after each merge, word by word as the algorithm goes; one step for equal merges in a row.

        Raises ValueError for a text so long that the steps would hold more than 10,000,000 ids.
        """
        flat = [self._byte_ids[byte] for byte in utf8(text)]
        end, held = 0, 0  # the end of the current word in `flat`; ids in all steps
        done: list[int] = []  # ids of the words before
        steps: list[EncodeStep] = []
        for word in split_words(text):
            start, end, first = end, end + len(word.encode()), len(steps)
            ids = flat[start:end]
            for rank in merge_steps(ids, self._ranks, self._made):
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

    def _identity(self) -> list[Any]:
        return [self.file_format, [piece.hex() for piece in self._pieces], self.merges, list(self.specials.items())]

    def _content(self) -> dict[str, Any]:
        """The pieces by id in byte letters, null for a special."""
        pieces = [None if token in self.specials else to_letters(piece) for token, piece in enumerate(self._pieces)]
        return {"pieces": pieces, "merges": self.merges, "specials": {name: i for i, name in self.specials.items()}}

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> Self:
        pieces, merges, specials = (content.get(name) for name in ("pieces", "merges", "specials"))
        if not isinstance(pieces, list) or not all(isinstance(piece, str | None) for piece in pieces):
            raise Refusal("its pieces must be a list of texts, and null for a special")
        if not isinstance(merges, list) or not isinstance(specials, dict):
            raise Refusal("its merges must be a list and its specials an object")
        return cls([from_letters(piece or "") for piece in pieces], merges, _by_id(specials))

    def _word(self, word: str) -> list[int]:
        """The ids of one word, kept for the next time."""
        ids = merged([self._byte_ids[byte] for byte in word.encode()], self._ranks, self._made)
        if len(word) <= _CACHED_CHARACTERS:
            if len(self._known) >= _CACHED_WORDS:
                self._known.clear()
            self._known[word] = ids
        return ids


def _by_id(specials: Mapping[str, int]) -> dict[int, str]:
    if not all(type(token) is int for token in specials.values()):
        raise Refusal("the id of a special must be a whole number, got {specials!r:.80}", specials=specials)
    return {token: name for name, token in specials.items()}


def _checked_ids(pieces: tuple[bytes, ...], specials: dict[int, str]) -> dict[bytes, int]:
    """The id of each piece that is not a special."""
    names = [*specials.values()]
    if names.count(END) != 1:
        raise Refusal("exactly one special id must be called {end}, got {names}", end=END, names=names)
    for token, name in specials.items():
        if not 0 <= token < len(pieces) or pieces[token]:
            raise Refusal(
                "the special {name!r:.40} must have an id below {count} that no piece has, got {token}",
                name=name,
                count=len(pieces),
                token=token,
            )
    ids: dict[bytes, int] = {}
    for token, piece in enumerate(pieces):
        if token in specials:
            continue
        if not piece or piece in ids:
            raise Refusal(
                "id {token} must have bytes that no other id has, got {letters!r:.40}",
                token=token,
                letters=to_letters(piece),
            )
        ids[piece] = token
    for byte in range(256):
        if bytes([byte]) not in ids:
            raise Refusal("the byte {byte:02X} has no id: texts that contain it could not be encoded", byte=byte)
    return ids


def _checked_merges(
    merges: Iterable[Sequence[int]], pieces: tuple[bytes, ...], ids: dict[bytes, int]
) -> tuple[dict[tuple[int, int], int], list[int]]:
    """The rank of each pair, and the id that each merge makes."""
    ranks: dict[tuple[int, int], int] = {}
    made = []
    for rank, pair in enumerate(merges):
        joined = checked_pair(rank, pair, ranks)
        if joined is None or not all(0 <= token < len(pieces) and pieces[token] for token in joined):
            raise Refusal(
                "merge {rank} must join two ids below {count} that are not special, got {pair!r:.60}",
                rank=rank,
                count=len(pieces),
                pair=pair,
            )
        piece = pieces[joined[0]] + pieces[joined[1]]
        if piece not in ids:
            raise Refusal("merge {rank} makes {piece!r:.60}, which has no id", rank=rank, piece=to_letters(piece))
        ranks[joined] = rank
        made.append(ids[piece])
    return ranks, made
