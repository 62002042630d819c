"""How a byte is written in GPT-2's files: one printable letter each, so that a vocabulary is readable text.

The 188 bytes that Latin-1 prints are written as themselves; the other 68 take the letters from U+0100 on,
in order. A space is `Ġ`, a newline `Ċ`.

Source: A. Radford et al. (2019), Language Models are Unsupervised Multitask Learners, section 2.2, and
the published code (`bytes_to_unicode`).
"""

from minigpt.sentences import Refusal


def to_letters(piece: bytes) -> str:
    """One letter a byte.

    >>> to_letters(" é\\n".encode())
    'ĠÃ©Ċ'
    """
    return piece.decode("latin-1").translate(_LETTERS)


def from_letters(letters: str) -> bytes:
    """The bytes behind `letters`. Raises ValueError that names a character that no byte is written as.

    >>> from_letters("Ġthe")
    b' the'
    """
    try:
        return bytes(map(_BYTES.__getitem__, letters))
    except KeyError as error:
        raise Refusal("no byte is written as the letter {letter!r}", letter=error.args[0]) from None


def letter_order() -> list[int]:
    """The 256 bytes in the order of their letters, which is the order of GPT-2's ids: `!` is 0, NUL is 188.

    >>> letter_order()[:3], letter_order()[188]
    ([33, 34, 35], 0)
    """
    return sorted(range(256), key=_LETTERS.__getitem__)


_PRINTED = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_HIDDEN = sorted({*range(256)} - {*_PRINTED})
_LETTERS = {byte: byte for byte in _PRINTED} | {byte: 0x100 + place for place, byte in enumerate(_HIDDEN)}
_BYTES = {chr(letter): byte for byte, letter in _LETTERS.items()}
