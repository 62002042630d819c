"""Lines end at LF and CR LF; a file without LF ends them at CR; nothing else is a line end."""

import textwrap

import pytest

from minigpt.corpus.library import bundled, bundled_keys
from minigpt.corpus.readers.lines import (
    LONG_LINES,
    PARAGRAPHS,
    RECORDS,
    WRAPPED_LINES,
    LineEnds,
    detect_continuous,
    line_count,
    split_lines,
)


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


PROSE = "It was late, and nobody had thought of the lamp that stood by the window until the wind put it out. " * 6


def test_prose_broken_at_a_width_is_one_text():
    wrapped = "\n\n".join(textwrap.fill(PROSE, 72) for _ in range(5))
    assert detect_continuous(wrapped) == WRAPPED_LINES


def test_paragraphs_a_line_are_one_text():
    assert detect_continuous(f"{PROSE}\n\n{PROSE}\n\n" * 5) == LONG_LINES
    assert detect_continuous(f"Chapter\n\n{PROSE[:200]}\n\n{PROSE[:200]}\n\n" * 5) == PARAGRAPHS


def test_one_line_is_one_text_if_it_is_long():
    assert detect_continuous(PROSE * 3).continuous
    assert not detect_continuous("The key is red.").continuous


@pytest.mark.parametrize(
    "text", ["", "\n \n", "a\nb\n", "山中\n\n月下\n", "Short lines.\nWith ends.\n\nAnd a blank one.\n"]
)
def test_short_lines_are_records(text):
    assert detect_continuous(text) == RECORDS


def test_the_shipped_texts_are_told_as_they_are():
    for key in bundled_keys():
        found = bundled(key)
        if found.path.suffix == ".txt":
            assert detect_continuous(found.path.read_text(encoding="utf-8")).continuous == found.continuous, key
