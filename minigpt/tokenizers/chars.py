"""One id a character: the simplest tokenizer, for a text whose alphabet is known beforehand.

Ids 0 .. n-1 are the n characters (Unicode code points) in ascending order, then BOS, EOS and PAD. A
character outside the alphabet has no id, and no id means "unknown": encoding such a text is an error that
names each of these characters with its place.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from minigpt.sentences import Refusal
from minigpt.tokenizers.base import EncodeStep, Tokenizer
from minigpt.tokenizers.labels import visible_label

NAMED = 8  # unknown characters that an error lists; it counts the others
ASCII = "\n" + "".join(map(chr, range(32, 127)))
MARKS = (0xA1, 0xA3)  # rows of GB 2312: symbols and punctuation, then the wide forms such as ，
HANZI = range(0xB0, 0xF8)  # its 6,763 hanzi, the 3,755 most common before the others
MOST_CHARACTERS = 7047


class Chars(Tokenizer):
    """A tokenizer given by its alphabet.

    >>> tokenizer = Chars("hello world")
    >>> tokenizer.vocab_size, tokenizer.encode("low")
    (11, [4, 5, 7])
    """

    kind = "chars"
    file_format = "minigpt-chars-1"

    def __init__(self, alphabet: Iterable[str]):
        """`alphabet` may repeat characters, as a text does. Raises ValueError for none, or an unpaired surrogate."""
        self.alphabet = "".join(sorted(set().union(*alphabet)))
        if not self.alphabet:
            raise Refusal("a character tokenizer needs at least one character, got none")
        for character in self.alphabet:
            if "\ud800" <= character <= "\udfff":
                raise Refusal("the alphabet has an unpaired surrogate, U+{code:04X}", code=ord(character))
        self._ids = {character: token for token, character in enumerate(self.alphabet)}
        self.bos, self.eos, self.pad = (len(self.alphabet) + i for i in range(3))
        self.specials = {self.bos: "BOS", self.eos: "EOS", self.pad: "PAD"}
        self._pieces = [*map(str.encode, self.alphabet), b"", b"", b""]

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without specials. Raises ValueError that lists the unknown characters with their index."""
        try:
            return [self._ids[character] for character in text]
        except KeyError:
            unknown = [(i, character) for i, character in enumerate(text) if character not in self._ids]
            raise _unknown(unknown, len(self.alphabet)) from None

    def encode_steps(self, text: str) -> list[EncodeStep]:
        """Nothing: there are no merges."""
        self.encode(text)
        return []

    def _part_arrays(self, texts: list[str]) -> Iterator[np.ndarray]:
        alphabet = _codes(self.alphabet)
        for text in texts:
            codes = _codes(text)
            ids = np.searchsorted(alphabet, codes).astype(np.int32)
            if (alphabet[np.minimum(ids, len(alphabet) - 1)] != codes).any():
                self.encode(text)  # raises the error that names the unknown characters
            yield ids

    def _identity(self) -> list[Any]:
        return [self.file_format, self.alphabet]

    def _content(self) -> dict[str, Any]:
        return {"alphabet": self.alphabet}

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> Self:
        alphabet = content.get("alphabet")
        if not isinstance(alphabet, str) or "".join(sorted(set(alphabet))) != alphabet:
            raise Refusal("its alphabet must be a text of different characters in order")
        return cls(alphabet)


def common_characters(size: int) -> str:
    """`size` characters: newline, printable ASCII, Chinese punctuation, then hanzi in the order of GB 2312.

    They are the alphabet of a character model that has no corpus yet. Raises ValueError for more than
    MOST_CHARACTERS.

    >>> len(common_characters(6286)), common_characters(100)[96:], "床" in common_characters(6286)
    (6286, '\\u3000、。・', True)
    """
    characters = ASCII + "".join(map(_row, (*MARKS, *HANZI)))
    assert len(characters) == MOST_CHARACTERS, "GB 2312 does not change"
    if not 1 <= size <= MOST_CHARACTERS:
        raise Refusal("size must be 1 to {most:,} characters, got {size!r}", most=MOST_CHARACTERS, size=size)
    return characters[:size]


def _row(first: int) -> str:
    """The up to 94 characters whose first GB 2312 byte is `first`."""
    return "".join(bytes([first, second]).decode("gb2312", errors="ignore") for second in range(0xA1, 0xFF))


def _codes(text: str) -> np.ndarray:
    """The code points of a text, uint32."""
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype=np.uint32)


def _unknown(unknown: list[tuple[int, str]], known: int) -> Refusal:
    listed = ", ".join(f"{index} {_quoted(character)}" for index, character in unknown[:NAMED])
    if len(unknown) > NAMED:
        return Refusal(
            "not among the {known} characters of this tokenizer, by index: {listed} and {more} more",
            known=known,
            listed=listed,
            more=len(unknown) - NAMED,
        )
    return Refusal("not among the {known} characters of this tokenizer, by index: {listed}", known=known, listed=listed)


def _quoted(character: str) -> str:
    code = ord(character)
    return f"U+{code:04X}" if 0xD800 <= code <= 0xDFFF else f"'{visible_label(character.encode())}'"
