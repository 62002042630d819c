"""Where the lines of a file end (at LF and CR LF, nowhere else), and whether the lines look like records.

U+2028, U+0085, a form feed and whatever else some programs take for a line end are text. A carriage return
that is not followed by an LF is text too, except in a file without a single LF, as very old Macs wrote
them: there each CR ends a line.
"""

from dataclasses import dataclass
from statistics import median

from minigpt.sentences import Sentence, say

SAMPLE = 200_000  # characters from the beginning
LONG_LINE = 300  # characters of the median line
WRAPPED = (45, 100)  # characters: prose that was broken into lines has a median in this range
PARAGRAPH = 100  # characters of the median line, where most lines have a blank line between them
FEW_LINES = 4
_ENDS = tuple(".!?…\"'”’»:;)。！？」』；：")


@dataclass(frozen=True)
class LineEnds:
    """How the lines of a file end; `inner` counts carriage returns that end no line and stay in the texts."""

    lf: int = 0
    crlf: int = 0
    cr: int = 0
    inner: int = 0


@dataclass(frozen=True)
class Layout:
    """Whether a file looks like one continuous text; `reason` says so in a sentence."""

    continuous: bool
    reason: Sentence


RECORDS = Layout(False, say("It looks like one record a line: each line is complete."))
LONG_LINES = Layout(True, say("It looks like one continuous text: its lines are long."))
FEW_LONG_LINES = Layout(True, say("It looks like one continuous text: it has few lines, and they are long."))
PARAGRAPHS = Layout(
    True, say("It looks like one continuous text: its lines are paragraphs with blank lines between them.")
)
WRAPPED_LINES = Layout(
    True, say("It looks like one continuous text: its lines have similar lengths, and most end within a sentence.")
)


def split_lines(text: str) -> tuple[list[str], LineEnds]:
    """The lines without their ends, and how many ends of each kind there are; the last line may have none.

    >>> split_lines("a\\r\\nb\\u2028c\\n\\nd")
    (['a', 'b\\u2028c', '', 'd'], LineEnds(lf=2, crlf=1, cr=0, inner=0))
    """
    if not text:
        return [], LineEnds()
    ends = line_ends(text)
    lines = text.split("\r" if ends.cr else "\n")
    if ends.crlf:
        lines[:-1] = [line.removesuffix("\r") for line in lines[:-1]]
    return (lines if lines[-1] else lines[:-1]), ends


def line_count(text: str) -> int:
    """How many lines `split_lines` finds, without making them."""
    ends = line_ends(text)
    return ends.lf + ends.crlf + ends.cr + (bool(text) and text[-1] != ("\r" if ends.cr else "\n"))


def line_ends(text: str) -> LineEnds:
    """How often each kind of line end occurs in `text`."""
    feeds, returns = text.count("\n"), text.count("\r")
    if not feeds:
        return LineEnds(cr=returns)
    crlf = text.count("\r\n") if returns else 0
    return LineEnds(lf=feeds - crlf, crlf=crlf, inner=returns - crlf)


def detect_continuous(text: str) -> Layout:
    """Whether `text` looks like one continuous text or like one record a line: a suggestion, with its reason.

    Prose broken at a width has blank lines between its paragraphs, lines of similar length, and most of its
    lines end within a sentence.

    >>> detect_continuous("The key is red.\\nThe box is blue.\\nA cat sat by the door.\\n" * 2).continuous
    False
    """
    lines, _ = split_lines(text[:SAMPLE])
    full = [line for line in lines if line.strip()]
    if not full:
        return RECORDS
    middle = median(map(len, full))
    if middle > LONG_LINE:
        return LONG_LINES
    if len(full) <= FEW_LINES and len(text) > LONG_LINE * 2:
        return FEW_LONG_LINES
    if middle > PARAGRAPH and len(lines) - len(full) > 0.4 * len(full):
        return PARAGRAPHS
    ended = sum(line.rstrip().endswith(_ENDS) for line in full) / len(full)
    if len(full) < len(lines) and WRAPPED[0] <= middle <= WRAPPED[1] and ended < 0.5:
        return WRAPPED_LINES
    return RECORDS
