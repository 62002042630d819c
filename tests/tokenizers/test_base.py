"""What every tokenizer promises, on any text: round trips, files, specials out of reach."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minigpt.tokenizers import base
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import Chars
from minigpt.tokenizers.files import load_tokenizer
from minigpt.tokenizers.gpt2 import END, GPT2Tokenizer
from minigpt.tokenizers.renumbered import RenumberedBPE

EDGES = [
    "",
    "Press <|eos|> to stop",
    "a<|eos|>b",
    "<|eos|",
    "<|bos|>",
    "<|pad|>",
    "‹EOS›",
    END,
    f"a{END}b",
    "γ is ?",
    "e\u0301\u00e9",
    "👩\u200d👩\u200d👧",
    "a\r\nb",
    "a\0b",
    "a\ufeffb",
    "end   ",
    "   ",
    "\n\n\t\t",
    "ﬁ①",
    "😀",
]
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.sampled_from(EDGES), max_size=6).map("".join)
)
ENTRIES = st.sampled_from(["format", "merges", "alphabet", "numbers", "pieces", "specials"])
VALUES = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=3)
PLAIN = ByteBPE.train(["the cat sat on the mat", "法国的首都叫巴黎", "a\n\nb\n\n\t\t  \t\t  ", *EDGES], merges=80)
MERGED = {(100 + i, 101 + i): bytes([100 + i, 101 + i]) for i in range(10)}
TOKENIZERS = {
    "byte_bpe": PLAIN,
    "bytes": ByteBPE(),
    "renumbered": RenumberedBPE(PLAIN, [*reversed(range(PLAIN.vocab_size))]),
    "gpt2": GPT2Tokenizer([*(bytes([i]) for i in range(256)), b"", *MERGED.values()], MERGED, {256: END}),
}


def fitting(name: str, text: str) -> Tokenizer:
    """The tokenizer of that name; characters are those of the text itself."""
    return Chars([text, "a"]) if name == "chars" else TOKENIZERS[name]


def for_each_kind(test):
    """The test for every kind of tokenizer, on any text and on the edges of text."""
    for text in EDGES:
        test = example(text=text)(test)
    return pytest.mark.parametrize("name", ["chars", *TOKENIZERS])(given(text=TEXT)(test))


@for_each_kind
def test_decode_undoes_encode_and_no_text_has_a_special(name: str, text: str):
    tokenizer = fitting(name, text)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not set(ids) & set(tokenizer.specials)
    assert all(type(id) is int and 0 <= id < tokenizer.vocab_size for id in ids)
    assert b"".join(map(tokenizer.piece_bytes, ids)) == tokenizer.decode_bytes(ids) == text.encode()
    assert tokenizer.decode([tokenizer.bos, *ids, tokenizer.eos, tokenizer.pad]) == text
    assert tokenizer.encode_batch([text, "a", text]) == [ids, tokenizer.encode("a"), ids]


@for_each_kind
def test_steps_lead_to_the_ids(name: str, text: str):
    tokenizer = fitting(name, text)
    steps = tokenizer.encode_steps(text)
    for step in steps:
        assert tokenizer.merges[step.rank] == (step.left, step.right)
        assert tokenizer.decode(step.ids) == text
    assert all(len(one.ids) > len(other.ids) for one, other in pairwise(steps))
    assert [*steps[-1].ids] == tokenizer.encode(text) if steps else len(tokenizer.encode(text)) <= len(text.encode())


@for_each_kind
def test_saved_and_loaded(tmp_path_factory: pytest.TempPathFactory, name: str, text: str):
    tokenizer = fitting(name, text)
    path = tmp_path_factory.getbasetemp() / f"{name}.json"
    if name == "chars" or not path.exists():
        tokenizer.save(path)
    loaded = load_tokenizer(path)
    for part in ("kind", "bos", "eos", "pad", "specials", "merges", "vocab_size", "fingerprint"):
        assert getattr(loaded, part) == getattr(tokenizer, part)
    assert loaded.encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize("name", ["chars", *TOKENIZERS])
def test_pieces_are_told_apart(name: str):
    tokenizer = fitting(name, "‹EOS›·‹ \n\t\0\u200b")
    labels = [tokenizer.piece_label(id) for id in range(tokenizer.vocab_size)]
    assert len(set(labels)) == tokenizer.vocab_size and all(labels)
    assert {tokenizer.piece_bytes(id) for id in tokenizer.specials} == {b""}
    for id in (-1, tokenizer.vocab_size, 10**9):
        for call in (tokenizer.piece_bytes, tokenizer.piece_label, lambda id: tokenizer.decode([id])):
            with pytest.raises(ValueError, match=f"id must be in 0..{tokenizer.vocab_size - 1}, got {id}"):
                call(id)


@pytest.mark.parametrize("name", ["chars", *TOKENIZERS])
def test_an_unpaired_surrogate_is_refused(name: str):
    text = json.loads('"ab\\ud83d"')
    tokenizer = fitting(name, "ab")
    for call in (tokenizer.encode, tokenizer.encode_steps, lambda text: tokenizer.encode_batch(["a", text])):
        with pytest.raises(ValueError, match=r"U\+D83D at index 2|: 2 U\+D83D"):
            call(text)
    assert fitting(name, "😀").encode(json.loads('"\\ud83d\\ude00"')) == fitting(name, "😀").encode("😀")


@pytest.mark.parametrize("name", ["chars", *TOKENIZERS])
@given(change=st.dictionaries(ENTRIES, VALUES, min_size=1))
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path_factory: pytest.TempPathFactory, name: str, change: dict):
    path = tmp_path_factory.getbasetemp() / f"damaged-{name}.json"
    tokenizer = fitting(name, "ab")
    tokenizer.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | change))
    if all(content.get(entry) == value or entry not in content for entry, value in change.items()):
        assert load_tokenizer(path).fingerprint == tokenizer.fingerprint
        return
    with pytest.raises(ValueError) as fault:
        load_tokenizer(path)
    assert "\n" not in str(fault.value)


def test_a_thousand_texts_after_a_file(tmp_path: Path):
    """Merges that hold newlines, tabs and double spaces come back from the file."""
    PLAIN.save(tmp_path / "t.json")
    loaded = load_tokenizer(tmp_path / "t.json")
    assert {b"\n\n", b"\t\t", b"  "} <= {loaded.piece_bytes(id) for id in range(loaded.vocab_size)}
    texts = ["".join(chr((7 * i * j * j + i) % 300) for j in range(i % 60)) for i in range(1000)]
    assert loaded.encode_batch(texts) == PLAIN.encode_batch(texts)


BPE = ByteBPE.train(["abab cab éé", "dabb"], 8)
RENUMBERED = RenumberedBPE(BPE, [*reversed(range(BPE.vocab_size))])
CHARS = Chars("abcd é\0")


@given(st.lists(st.text("abcd é\0", min_size=1, max_size=12), max_size=6), st.integers(1, 20))
@pytest.mark.parametrize("tokenizer", [BPE, RENUMBERED, CHARS], ids=["byte_bpe", "renumbered", "chars"])
def test_arrays_are_the_ids_of_encode(tokenizer, texts, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "CHARACTERS_AT_ONCE", at_once)
        assert [ids.tolist() for ids in tokenizer.encode_arrays(texts)] == [tokenizer.encode(text) for text in texts]


@pytest.mark.parametrize("text", ["abX", "X", "zz", "一"])
def test_arrays_name_unknown_characters(text):
    with pytest.raises(ValueError, match="not among the 7 characters"):
        list(CHARS.encode_arrays(["ab", text]))


def test_arrays_refuse_an_unpaired_surrogate():
    with pytest.raises(ValueError, match="an unpaired surrogate"):
        list(BPE.encode_arrays(["a\ud800"]))
