"""GPT-2's cut into words, against the splitter of Hugging Face's tokenizers at every assigned character."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.pre_tokenizers import ByteLevel

from minigpt.tokenizers.bytes_to_unicode import from_letters, letter_order, to_letters
from minigpt.tokenizers.pretokenize import split_words

PEER = ByteLevel(add_prefix_space=False)
PIECES = ["'s", "'ll", "'LL", " '", "don't", " ", "  ", "\n", "\r\n", "\t", "\x1c", "\x85", "\xa0", "\u3000"]
PIECES += ["7", "²", "Ⅷ", "春", "é", "e\u0301", "🙂", "👩\u200d👧", "\0", "…", "_", "<|end|>", "𠀀", "𝟘"]
SPOKEN = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cn"])), st.lists(st.sampled_from(PIECES)).map("".join)
)


def peer_words(text: str) -> list[str]:
    return [from_letters(word).decode() for word, _ in PEER.pre_tokenize_str(text)]


def test_words_by_hand():
    assert split_words("") == []
    assert split_words("it's 12th, they'll") == ["it", "'s", " 12", "th", ",", " they", "'ll"]
    assert split_words("a   b\n\n") == ["a", "  ", " b", "\n\n"]
    assert split_words("I'M IT'S") == ["I", "'", "M", " IT", "'", "S"]  # contractions are small letters only
    assert split_words("春眠不觉晓，处处") == ["春眠不觉晓", "，", "处处"]
    assert split_words("x\x1c y\x85z") == ["x", "\x1c", " y", "\x85", "z"]


@given(SPOKEN)
def test_words_are_those_of_the_peer(text: str):
    assert split_words(text) == peer_words(text)
    assert "".join(split_words(text)) == text


@pytest.mark.parametrize("last", [0x7F, 0xFFFF, sys.maxunicode])
def test_every_assigned_character_is_cut_as_by_the_peer(last: int):
    """But for private ones, and for the ideographs and syllables after the first of a run, which are alike."""
    kinds = [unicodedata.category(chr(code)) for code in range(last + 1)]
    runs = [code for code in range(last + 1) if kinds[code] != "Lo" or kinds[code - 1] != "Lo" or code % 50 == 0]
    known = [chr(code) for code in runs if kinds[code] not in ("Cs", "Cn", "Co")]
    for start in range(0, len(known), 400):
        text = "\n".join(f"a{one}1{one}.{one} {one}" for one in known[start : start + 400])
        assert split_words(text) == peer_words(text)


def test_white_space_is_unicodes_and_not_pythons():
    pythons = {chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()}
    ours = {one for one in map(chr, range(0x4000)) if split_words(f"{one}{one}!")[0] == one}
    assert pythons - ours == {"\x1c", "\x1d", "\x1e", "\x1f"}
    assert ours - pythons == set()


def test_letters_of_bytes():
    assert to_letters(bytes(range(256))) == published_letters()
    assert from_letters(to_letters(bytes(range(256)))) == bytes(range(256))
    assert letter_order()[:2] == [33, 34] and sorted(letter_order()) == [*range(256)]
    assert set(to_letters(bytes(range(256)))) == set(ByteLevel.alphabet())
    with pytest.raises(ValueError, match="no byte is written as the letter ' '"):
        from_letters("a b")


def published_letters() -> str:
    """One after the other: a byte that Latin-1 prints is itself, any other takes the next letter from 256 on."""
    letters, extra = "", 0
    for byte in range(256):
        printed = "!" <= chr(byte) <= "~" or "¡" <= chr(byte) <= "¬" or "®" <= chr(byte) <= "ÿ"
        letters += chr(byte if printed else 256 + extra)
        extra += not printed
    return letters
