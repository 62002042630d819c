"""Alphabets of a given size, for a character model that has no corpus yet."""

from minigpt.sentences import Refusal

ASCII = "\n" + "".join(map(chr, range(32, 127)))
MARKS = (0xA1, 0xA3)  # rows of GB 2312: symbols and punctuation, then the wide forms such as ，
HANZI = range(0xB0, 0xF8)  # its 6,763 hanzi, the 3,755 most common before the others
MOST_CHARACTERS = 7047


def common_characters(size: int) -> str:
    """`size` characters: newline, printable ASCII, Chinese punctuation, then hanzi in the order of GB 2312.

    Raises ValueError for more than MOST_CHARACTERS.

    >>> len(common_characters(6286)), common_characters(100)[96:], "床" in common_characters(6286)
    (6286, '\\u3000、。・', True)
    """
    characters = ASCII + "".join(map(_row, (*MARKS, *HANZI)))
    assert len(characters) == MOST_CHARACTERS, "GB 2312 does not change"
    if not 1 <= size <= MOST_CHARACTERS:
        raise Refusal(
            "size must be 1 to {most_characters:,} characters, got {size!r}", most_characters=MOST_CHARACTERS, size=size
        )
    return characters[:size]


def _row(first: int) -> str:
    """The up to 94 characters whose first GB 2312 byte is `first`."""
    return "".join(bytes([first, second]).decode("gb2312", errors="ignore") for second in range(0xA1, 0xFF))
