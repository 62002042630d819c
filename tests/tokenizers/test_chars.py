"""The character tokenizer: ids, round-trips, and unknown characters named with their places."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.config import TokenizerConfig
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import ASCII, Chars, common_characters
from minigpt.tokenizers.files import load_tokenizer, train_tokenizer

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_ids_by_hand():
    tokenizer = Chars("hello world")
    assert tokenizer.alphabet == " dehlorw"
    assert (tokenizer.bos, tokenizer.eos, tokenizer.pad, tokenizer.vocab_size) == (8, 9, 10, 11)
    assert tokenizer.encode("low") == [4, 5, 7]
    assert tokenizer.encode_batch(["he", ""]) == [[3, 2], []]
    assert tokenizer.encode_steps("hello") == []
    assert [tokenizer.piece_label(id) for id in (0, 1, 8, 9, 10)] == ["·", "d", "‹BOS›", "‹EOS›", "‹PAD›"]
    assert [tokenizer.merge_rank(id) for id in range(11)] == [None] * 11


@given(TEXT.filter(bool))
def test_every_text_comes_back(text):
    tokenizer = Chars([text])
    ids = tokenizer.encode(text)
    assert len(ids) == len(text)
    assert not set(ids) & set(tokenizer.specials)
    assert tokenizer.decode(ids) == text


@given(TEXT.filter(bool), TEXT.filter(bool))
def test_a_text_of_other_characters_is_refused_with_their_places(known, text):
    tokenizer, missing = Chars(known), [i for i, character in enumerate(text) if character not in known]
    if not missing:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        return
    with pytest.raises(ValueError) as fault:
        tokenizer.encode(text)
    assert f": {missing[0]} " in str(fault.value)


def test_unknown_characters_are_listed():
    tokenizer = Chars("hello world")
    with pytest.raises(ValueError, match=r"^not among the 8 characters of this tokenizer, by index: 0 'H', 5 '\?'$"):
        tokenizer.encode("Hello?")
    with pytest.raises(ValueError, match=r": 5 '‹LF›'$"):
        tokenizer.encode("hello\n")
    with pytest.raises(ValueError, match=r": 0 U\+D83D$"):
        tokenizer.encode("\ud83d")
    with pytest.raises(ValueError, match=r"7 'k' and 2 more$"):
        tokenizer.encode("abcfgijkmn")


def test_alphabets_that_cannot_be():
    for alphabet, sentence in (([], "at least one"), (["\ud800"], r"U\+D800")):
        with pytest.raises(ValueError, match=sentence):
            Chars(alphabet)
    with pytest.raises(ValueError, match=r"0\.\.10, got 11"):
        Chars("hello world").piece_bytes(11)


@given(TEXT.filter(bool))
def test_saved_and_loaded(tmp_path_factory, text):
    path, tokenizer = tmp_path_factory.mktemp("chars") / "tokenizer.json", Chars(text)
    tokenizer.save(path)
    loaded = load_tokenizer(path)
    assert (loaded.kind, loaded.alphabet, loaded.fingerprint) == ("chars", tokenizer.alphabet, tokenizer.fingerprint)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"alphabet": "ba"}, "in order"),
        ({"alphabet": ["a"]}, "in order"),
        ({"alphabet": "abc"}, "fingerprint"),
        ({"format": "minigpt-words-1"}, "its format must be one of"),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, sentence):
    path = tmp_path / "tokenizer.json"
    Chars("ab").save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=sentence):
        load_tokenizer(path)


def test_trained_by_config():
    alphabet = train_tokenizer(TokenizerConfig("chars"), ["春江", "江月"], ["夜"])
    assert alphabet.alphabet == "".join(sorted("春江月夜"))
    assert train_tokenizer(TokenizerConfig("byte_bpe", 1), ["red red"]).merges == ((101, 100),)


def test_byte_bpe_files_are_told_apart(tmp_path):
    ByteBPE([(101, 100)]).save(tmp_path / "t.json")
    assert load_tokenizer(tmp_path / "t.json").merges == ((101, 100),)
    with pytest.raises(ValueError, match="not a tokenizer file"):
        load_tokenizer(tmp_path / "missing.json")


@pytest.mark.parametrize("size", [1, 96, 97, 6286, 7047])
def test_so_many_different_characters(size: int):
    characters = common_characters(size)
    assert len(characters) == len(set(characters)) == size
    assert common_characters(7047).startswith(characters)


def test_ascii_comes_first_then_what_a_line_of_verse_needs():
    assert common_characters(96) == ASCII
    assert ASCII[0] == "\n" and ASCII[1:] == "".join(chr(code) for code in range(128) if chr(code).isprintable())
    assert set("春眠不觉晓，处处闻啼鸟。「」？！：；床前明月光") <= set(common_characters(6286))


@pytest.mark.parametrize("size", [0, 7048])
def test_sizes_beyond_it_are_refused(size: int):
    with pytest.raises(ValueError, match=f"size must be 1 to 7,047 characters, got {size}"):
        common_characters(size)
