"""Texts of a corpus in tables."""

import pytest

from minigpt.ui.corpus.records import readable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The key is red.", "The key is red."),
        (" two  spaces ", "·two··spaces·"),
        ("a\tb\nc", "a‹TAB›b‹LF›c"),
        ("typed · stays apart", "typed ‹U+00B7› stays apart"),
        ("<b>$x$</b> 春眠\u200d", "<b>$x$</b> 春眠‹U+200D›"),
        ("", ""),
    ],
)
def test_what_would_not_show_gets_a_mark(text, shown):
    assert readable(text) == shown


def test_a_long_text_is_shown_in_part():
    assert readable("ab" * 5, 4) == "abab …" and readable("abab", 4) == "abab"
