"""One id a character: the simplest tokenizer, for a text whose alphabet is known beforehand.

Ids 0 .. n-1 are the n characters (Unicode code points) in ascending order, then BOS, EOS and PAD. A
character outside the alphabet has no id, and there is none that stands for all unknown ones: encoding
such a text is an error that names each of them with its place.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import EncodeStep
from minigpt.tokenizers.labels import special_label, visible_label

FORMAT = "minigpt-chars-1"
NAMED = 8  # unknown characters that an error lists; it counts the others


class Chars:
    """A tokenizer given by its alphabet.

    >>> tokenizer = Chars("hello world")
    >>> tokenizer.vocab_size, tokenizer.encode("low")
    (11, [4, 5, 7])
    """

    kind = "chars"
    merges: tuple[tuple[int, int], ...] = ()

    def __init__(self, alphabet: Iterable[str]):
        """`alphabet` may repeat characters, as a text does. Raises ValueError for none, or half a character."""
        self.alphabet = "".join(sorted(set().union(*alphabet)))
        if not self.alphabet:
            raise Refusal("a character tokenizer needs at least one character, got none")
        for character in self.alphabet:
            if "\ud800" <= character <= "\udfff":
                raise Refusal("the alphabet holds half a character, U+{ord:04X}", ord=ord(character))
        self._ids = {character: id for id, character in enumerate(self.alphabet)}
        self.bos, self.eos, self.pad = (len(self.alphabet) + i for i in range(3))
        self.specials = {self.bos: "BOS", self.eos: "EOS", self.pad: "PAD"}

    @property
    def vocab_size(self) -> int:
        """Number of ids: the characters and 3 specials."""
        return len(self.alphabet) + len(self.specials)

    @property
    def fingerprint(self) -> str:
        """16 hex digits of the SHA-256 over format and alphabet: equal ids exactly when equal."""
        return hashlib.sha256(json.dumps([FORMAT, self.alphabet]).encode()).hexdigest()[:16]

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises ValueError that lists the unknown characters with their index."""
        try:
            return [self._ids[character] for character in text]
        except KeyError:
            unknown = [(i, character) for i, character in enumerate(text) if character not in self._ids]
            raise ValueError(_unknown(unknown, len(self.alphabet))) from None

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text; ValueError as `encode` raises it."""
        return [self.encode(text) for text in texts]

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """Nothing: there are no merges."""
        self.encode(text)
        return []

    def decode(self, ids: Iterable[int]) -> str:
        """The text behind `ids`; specials have none."""
        return self.decode_bytes(ids).decode("utf-8")

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The UTF-8 bytes behind `ids`. Raises ValueError for an id outside the vocabulary."""
        return b"".join(self.piece_bytes(id) for id in ids)

    def piece_bytes(self, id: int) -> bytes:
        """The UTF-8 bytes of one id, none for a special. Raises ValueError for an unknown id."""
        if id in self.specials:
            return b""
        if not 0 <= id < len(self.alphabet):
            raise Refusal("id must be in 0..{vocab_size}, got {id!r}", vocab_size=self.vocab_size - 1, id=id)
        return self.alphabet[id].encode()

    def piece_label(self, id: int) -> str:
        """How one id is written on screen: visible, and different for different characters."""
        piece = self.piece_bytes(id)
        return special_label(self.specials[id]) if id in self.specials else visible_label(piece)

    def merge_rank(self, id: int) -> None:
        """None: no id is made by a merge."""

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as readable JSON."""
        content = {"format": FORMAT, "alphabet": self.alphabet, "fingerprint": self.fingerprint}
        Path(path).write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def from_content(cls, path: str | Path, content: dict) -> "Chars":
        """What `save` wrote, already parsed; ValueError that names the fault, nothing is loaded in part."""
        alphabet = content.get("alphabet")
        if not isinstance(alphabet, str) or "".join(sorted(set(alphabet))) != alphabet:
            raise Refusal("{path} is damaged: its alphabet must be a text of different characters in order", path=path)
        try:
            tokenizer = cls(alphabet)
        except ValueError as error:
            raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
        if tokenizer.fingerprint != content.get("fingerprint"):
            raise Refusal(
                "{path} is damaged: its {count} characters have fingerprint {fingerprint}, the file says {get}",
                path=path,
                count=len(alphabet),
                fingerprint=tokenizer.fingerprint,
                get=content.get("fingerprint"),
            )
        return tokenizer


def _unknown(unknown: list[tuple[int, str]], known: int) -> str:
    named = [f"{_quoted(character)} at {index}" for index, character in unknown[:NAMED]]
    more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
    listed = f"{', '.join(named)}{more}" if more or len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return f"not among the {known} characters of this tokenizer: {listed}"


def _quoted(character: str) -> str:
    code = ord(character)
    return f"U+{code:04X}" if 0xD800 <= code <= 0xDFFF else f"'{visible_label(character.encode())}'"
