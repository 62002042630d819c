"""Lines end at LF and CR LF; a file without LF ends them at CR; nothing else is a line end."""

import pytest

from minigpt.corpus.readers.lines import line_count, split_lines
from minigpt.corpus.readers.read_result import LineEnds


@pytest.mark.parametrize(
    ("text", "lines", "ends"),
    [
        ("", [], LineEnds()),
        ("a", ["a"], LineEnds()),
        ("a\n", ["a"], LineEnds(lf=1)),
        ("\n", [""], LineEnds(lf=1)),
        ("a\n\nb", ["a", "", "b"], LineEnds(lf=2)),
        ("a\r\nb\r\n", ["a", "b"], LineEnds(crlf=2)),
        ("a\r\nb\nc\r", ["a", "b", "c\r"], LineEnds(lf=1, crlf=1, inner=1)),
        ("a\r\r\nb", ["a\r", "b"], LineEnds(crlf=1, inner=1)),
        ("a\rb\n", ["a\rb"], LineEnds(lf=1, inner=1)),
        ("a\rb\r\rc", ["a", "b", "", "c"], LineEnds(cr=3)),
        ("a\u2028b\u2029c\x85d\fe\vf\x1cg\n", ["a\u2028b\u2029c\x85d\fe\vf\x1cg"], LineEnds(lf=1)),
        (" a  \n\tb", [" a  ", "\tb"], LineEnds(lf=1)),
    ],
)
def test_lines(text: str, lines: list[str], ends: LineEnds):
    assert split_lines(text) == (lines, ends)
    assert line_count(text) == len(lines)
