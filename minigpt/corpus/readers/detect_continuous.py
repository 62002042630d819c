"""Whether a text file looks like one continuous text or like one record a line: a suggestion, with its reason."""

from dataclasses import dataclass
from statistics import median

from minigpt.corpus.readers.lines import split_lines

LOOKED_AT = 200_000  # characters from the beginning
LONG_LINE = 300  # characters of the median line
WRAPPED = (45, 100)  # characters: prose that was broken into lines has a median within
PARAGRAPH = 100  # characters of the median line, where blank lines stand between most of them
FEW_LINES = 4
_ENDS = tuple(".!?…\"'”’»:;)。！？」』；：")


@dataclass(frozen=True)
class Continuity:
    """`reason` is one of few-lines, long-lines, paragraphs, wrapped (for a continuous text), or lines."""

    continuous: bool
    reason: str


def continuity(text: str) -> Continuity:
    """What the lines of `text` look like.

    Prose broken at a width has blank lines between its paragraphs, lines of like length, and most of its
    lines end within a sentence.

    >>> continuity("The key is red.\\nThe box is blue.\\nA cat sat by the door.\\n" * 2)
    Continuity(continuous=False, reason='lines')
    """
    lines, _ = split_lines(text[:LOOKED_AT])
    full = [line for line in lines if line.strip()]
    if not full:
        return Continuity(False, "lines")
    middle = median(map(len, full))
    if middle > LONG_LINE:
        return Continuity(True, "long-lines")
    if len(full) <= FEW_LINES and len(text) > LONG_LINE * 2:
        return Continuity(True, "few-lines")
    if middle > PARAGRAPH and len(lines) - len(full) > 0.4 * len(full):
        return Continuity(True, "paragraphs")
    ended = sum(line.rstrip().endswith(_ENDS) for line in full) / len(full)
    if len(full) < len(lines) and WRAPPED[0] <= middle <= WRAPPED[1] and ended < 0.5:
        return Continuity(True, "wrapped")
    return Continuity(False, "lines")
