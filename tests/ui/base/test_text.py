"""Foreign text in places that read Markdown: nothing in it is a mark, a link or a picture, and nothing is lost."""

import random
import re

import pytest

from minigpt.ui.base.text import plain

SEAM = ":color[]"
# What remark-gfm, remark-emoji and Streamlit look for in one stretch of text, when its escapes have been read.
FOUND_LATER = [
    re.compile(r"(https?://|www(?=\.))([-.\w]+)([^ \t\r\n]*)", re.IGNORECASE),
    re.compile(r"[-.\w+]+@[-\w]+(?:\.[-\w]+)+"),
    re.compile(r":(material_)?[\w+-]+:"),
    re.compile(r"(^|\s)(<->|->|<-|--|>=|<=|~=)(\s|$)"),
]
HOSTILE = [
    "http://x.example",
    "HTTPS://x.example/a?b=c",
    "https://https://x.example",
    "www.x.example",
    "(wWw.x.example)",
    "wwww.www.x.example",
    "a@b.co",
    "a.b+c_d-e@b-c.co a@b@c.co",
    "mailto:a@b.co",
    "xmpp:a@b.co/r",
    "<http://x.example>",
    "[a](http://x.example)",
    "![i](http://x.example/i.png)",
    "<img src=x onerror=alert(1)>",
    ":smile: :+1: ::streamlit:: :material_face: :material/face: :red[a] :-1:",
    "a -> b <- c <-> d -- e >= f <= g ~= h",
    "--- -> <-- >== ~== ->- ---->",
    "    code",
    "\ttab",
    "# h",
    "1. one",
    "a\\b `c` $d$ ~~e~~ [^f] &amp; {g} | h",
    "",
]


def stretches(markdown: str) -> list[str]:
    """The text between the seams, as a reader of Markdown has it: escapes undone."""
    return [re.sub(r"\\([!-/:-@[-`{-~])", r"\1", part) for part in markdown.split(SEAM)]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_stays_as_it_is_and_holds_nothing_to_find(text):
    parts = stretches(plain(text))
    assert "".join(parts) == text
    assert [kind.pattern for kind in FOUND_LATER for part in parts if kind.search(part)] == []


def test_every_mark_is_escaped():
    marks = "\\`*_{}[]()<>#+.!|$:~&^@/="
    for mark in marks:
        assert plain(f"a {mark} b") == f"a \\{mark} b"


def test_texts_thrown_together_hold_nothing_to_find():
    dice = random.Random(7)
    parts = ["http", "https", "www", "material_", "a", "b.co", *":/.@-<>=~+ \\[]()"]
    for _ in range(5000):
        text = "".join(dice.choices(parts, k=dice.randint(1, 12)))
        found = stretches(plain(text))
        assert "".join(found) == text
        assert not any(kind.search(part) for kind in FOUND_LATER for part in found), text


def test_a_line_end_is_a_space():
    assert plain("a\nb\r\nc\rd") == "a b  c d"


def test_common_sentences_hold_no_seam():
    assert SEAM not in plain("Not read yet: line 3 of a.csv has 2 cells, 3 expected (see above); 1/2, 0.5, x = y.")
