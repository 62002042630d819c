"""How bytes are written on screen: nothing invisible, and no two pieces with the same label.

A space is `·`, a newline `‹LF›`, a carriage return `‹CR›`, a tab `‹TAB›`, any other control character or
a byte that is not part of valid UTF-8 its hex `‹E6›`, and any other character that draws nothing its
code point `‹U+200D›`. A typed `·` or `‹` is written by its code point too, so that labels are as
different as the pieces. The marks are in every font that the app brings with it.
"""

import unicodedata

_MARKS = {" ": "·", "\n": "‹LF›", "\r": "‹CR›", "\t": "‹TAB›", "\0": "‹NUL›"}
_TAKEN = {"·", "‹", "›", "\ufffd"}
_BLANK = set("\u115f\u1160\u2800\u3164\uffa0\U0001d159")  # letters and signs that draw nothing: fillers, empty Braille
_INVISIBLE = {"Cc", "Cf", "Co", "Cn", "Zs", "Zl", "Zp", "Mn", "Me"}  # Unicode general categories


def visible_label(piece: bytes) -> str:
    """A printable label of `piece`; different pieces have different labels.

    >>> visible_label(b"he "), visible_label("法".encode()[:2]), visible_label("é\\x00".encode())
    ('he·', '‹E6›‹B3›', 'é‹NUL›')
    """
    return "".join(_mark(character) for character in piece.decode("utf-8", errors="surrogateescape"))


def special_label(name: str) -> str:
    """The label of a special id, which no typed text can have: `‹BOS›`."""
    return f"‹{name}›"


def _mark(character: str) -> str:
    code = ord(character)
    if character in _MARKS:
        return _MARKS[character]
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: a byte outside valid UTF-8
        return f"‹{code - 0xDC00:02X}›"
    if code < 0x20 or code == 0x7F:
        return f"‹{code:02X}›"
    if character in _TAKEN or character in _BLANK or unicodedata.category(character) in _INVISIBLE:
        return f"‹U+{code:04X}›"
    return character
