"""Where the lines of a file end: at LF and CR LF, nowhere else.

U+2028, U+0085, a form feed and what else some programs take for a line end are text. A carriage return
that is followed by no LF is text too, except in a file without a single LF, as very old Macs wrote
them: there each CR ends a line.
"""

from minigpt.corpus.readers.read_result import LineEnds


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
    """How often each kind of line end stands in `text`."""
    feeds, returns = text.count("\n"), text.count("\r")
    if not feeds:
        return LineEnds(cr=returns)
    crlf = text.count("\r\n") if returns else 0
    return LineEnds(lf=feeds - crlf, crlf=crlf, inner=returns - crlf)
