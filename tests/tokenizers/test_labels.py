"""Labels: nothing invisible, no two pieces alike, specials out of reach of typed text."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minigpt.tokenizers.byte_bpe import SPECIALS, ByteBPE
from minigpt.tokenizers.labels import special_label, visible_label

# Pieces that labels could confuse: raw bytes, and text that looks like a label.
PIECES = st.one_of(
    st.binary(max_size=6),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6).map(str.encode),
    st.text("·‹›⟨⟩␠⏎⇥LFU+E6 \n\r\t\0\x1f\ufffd", max_size=8).map(str.encode),
)
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}
BLANK = "\u115f\u1160\u2800\u3164\uffa0\U0001d159"  # visible by category, yet empty in every font


@given(PIECES, PIECES)
@example("·".encode(), b" ")
@example("‹LF›".encode(), b"\n")
@example("‹E6›".encode(), b"\xe6")
@example("\ufffd".encode(), b"\xff")
@example("‹U+200D›".encode(), "\u200d".encode())
@example(b"\x1f", "‹1F›".encode())
@example(b"\xed\xa0\xbd", b"\xed\xa0\xbe")
def test_different_pieces_have_different_labels(one: bytes, other: bytes):
    assert (visible_label(one) == visible_label(other)) == (one == other)


def test_every_byte_has_its_own_label():
    labels = {visible_label(bytes([byte])) for byte in range(256)}
    assert len(labels) == 256


@given(PIECES)
@example(" \t\r\n\x7f\x85".encode())
@example(BLANK.encode())
@example("e\u0301\u200b\u00ad\u2028\ufeff\ufe0f".encode())
def test_nothing_is_invisible(piece: bytes):
    label = visible_label(piece)
    assert bool(label) == bool(piece)
    for character in label:
        assert unicodedata.category(character) not in INVISIBLE
        assert character not in BLANK and not unicodedata.combining(character)


@given(PIECES)
def test_no_text_looks_like_a_special(piece: bytes):
    assert visible_label(piece) not in {special_label(name) for name in SPECIALS.values()}


@pytest.mark.parametrize("name", ["BOS", "EOS", "PAD"])
def test_a_typed_special_is_drawn_differently(name: str):
    assert visible_label(special_label(name).encode()) != special_label(name)


def test_labels_of_a_vocabulary_are_different():
    tokenizer = ByteBPE.train(["a b\n\nc\t\t", "法国法国", "‹EOS› · ·"], merges=20)
    labels = [tokenizer.piece_label(id) for id in range(tokenizer.vocab_size)]
    assert len(set(labels)) == tokenizer.vocab_size


@pytest.mark.parametrize("text", ["cat", "法国", "é", "😀", "$5_x_**b**`<b>"])
def test_ordinary_characters_are_themselves(text: str):
    assert visible_label(text.encode()) == text


def test_part_of_a_character_shows_its_bytes():
    first, rest = "法".encode()[:2], "法".encode()[2:]
    assert "E6" in visible_label(first) and "B3" in visible_label(first) and "95" in visible_label(rest)
