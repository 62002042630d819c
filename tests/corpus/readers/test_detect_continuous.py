"""Lines or one text: what is suggested for a txt file."""

import textwrap

import pytest

from minigpt.corpus.bundled import bundled, bundled_keys
from minigpt.corpus.readers.detect_continuous import Continuity, continuity

PROSE = "It was late, and nobody had thought of the lamp that stood by the window until the wind put it out. " * 6


def test_prose_broken_at_a_width_is_one_text():
    wrapped = "\n\n".join(textwrap.fill(PROSE, 72) for _ in range(5))
    assert continuity(wrapped) == Continuity(True, "wrapped")


def test_paragraphs_a_line_are_one_text():
    assert continuity(f"{PROSE}\n\n{PROSE}\n\n" * 5) == Continuity(True, "long-lines")
    assert continuity(f"Chapter\n\n{PROSE[:200]}\n\n{PROSE[:200]}\n\n" * 5) == Continuity(True, "paragraphs")


def test_one_line_is_one_text_if_it_is_long():
    assert continuity(PROSE * 3).continuous
    assert not continuity("The key is red.").continuous


@pytest.mark.parametrize(
    "text", ["", "\n \n", "a\nb\n", "山中\n\n月下\n", "Short lines.\nWith ends.\n\nAnd a blank one.\n"]
)
def test_short_lines_are_records(text):
    assert continuity(text) == Continuity(False, "lines")


def test_the_shipped_texts_are_told_as_they_are():
    for key in bundled_keys():
        found = bundled(key)
        if found.path.suffix == ".txt":
            assert continuity(found.path.read_text(encoding="utf-8")).continuous == found.continuous, key
