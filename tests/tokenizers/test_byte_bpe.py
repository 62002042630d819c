"""Byte-level BPE: exact round trips, the merge rule against an obvious trainer, files, and the edges of text."""

import json
import re
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.tokenizers import reference
from minigpt.tokenizers.bpe_trainer import FIRST_MERGE, Merge
from minigpt.tokenizers.byte_bpe import BOS, EOS, PAD, SPECIALS, ByteBPE
from minigpt.tokenizers.files import load_tokenizer

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SMALL = st.one_of(*(st.text(alphabet, max_size=24) for alphabet in ("a", "ab", "abc", "aé\n ", "法国")))
TRAINED = ByteBPE.train(["the cat sat on the mat", "法国的首都叫巴黎", "aaaa\n\n\t\t  bb", "😀😀"], merges=40)


@given(TEXT)
def test_decode_undoes_encode(text: str):
    for tokenizer in (TRAINED, ByteBPE()):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert not SPECIALS.keys() & set(ids)
        assert all(0 <= id < tokenizer.vocab_size for id in ids)


@given(st.lists(SMALL, max_size=6), st.integers(0, 12))
def test_training_equals_the_reference(texts: list[str], merges: int):
    found = [(step.left, step.right, step.count) for step in ByteBPE.train_steps(texts, merges)]
    assert found == reference.train(texts, merges)


RUNS = st.lists(st.tuples(st.sampled_from("aab"), st.integers(1, 40)), max_size=12)
TIES = st.one_of(
    RUNS.map(lambda runs: "".join(letter * length for letter, length in runs)),
    st.tuples(st.text("abc", max_size=8), st.integers(0, 30)).map(lambda pair: pair[0] * pair[1]),
    st.permutations("abcdefghijkl").map("".join),
    st.text("ab", max_size=200),
)


@given(st.lists(TIES, max_size=4))
def test_many_ties_and_runs_until_no_pair_is_left(texts: list[str]):
    found = [(step.left, step.right, step.count) for step in ByteBPE.train_steps(texts, 500)]
    assert found == reference.train(texts, 500)
    tokenizer = ByteBPE((left, right) for left, right, _ in found)
    assert tokenizer.encode_batch(texts) == [reference.encode(text, tokenizer.merges) for text in texts]
    assert all(len(ids) <= 1 for ids in tokenizer.encode_batch(texts))


@given(st.lists(SMALL, max_size=6), st.integers(0, 12))
def test_each_merge_says_how_many_ids_are_left(texts: list[str], merges: int):
    steps = list(ByteBPE.train_steps(texts, merges))
    for done, step in enumerate(steps, 1):
        tokenizer = ByteBPE((step.left, step.right) for step in steps[:done])
        assert step.tokens == sum(map(len, tokenizer.encode_batch(texts)))


@given(st.lists(SMALL, max_size=6), SMALL)
def test_encoding_equals_a_slow_replay(texts: list[str], text: str):
    tokenizer = ByteBPE.train(texts, merges=10)
    assert tokenizer.encode(text) == reference.encode(text, tokenizer.merges)


@given(st.lists(SMALL, max_size=6))
def test_batch_and_steps_agree_with_encode(texts: list[str]):
    tokenizer = ByteBPE.train(["abab\naaa", "法国é"], merges=8)
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]
    for text in texts:
        steps = tokenizer.encode_steps(text)
        states = [list(text.encode()), *(list(step.ids) for step in steps)]
        assert states[-1] == tokenizer.encode(text)
        assert [step.rank for step in steps] == sorted({step.rank for step in steps})
        for step, (before, after) in zip(steps, pairwise(states), strict=True):
            assert tokenizer.merges[step.rank] == (step.left, step.right)
            assert step.id == FIRST_MERGE + step.rank
            assert after == reference.merge(before, (step.left, step.right), step.id) != before


def test_ties_go_to_the_smallest_pair():
    assert ByteBPE.train(["cd ab"], 1).merges == ((ord(" "), ord("a")),)
    assert ByteBPE.train(["cdab", "xcd", "yab"], 1).merges == ((ord("a"), ord("b")),)
    assert ByteBPE.train(["aab", "caa"], 1).merges == ((ord("a"), ord("a")),)
    left_decides_before_right = ByteBPE.train(["bx", "bx", "az", "az"], 1)
    assert left_decides_before_right.merges == ((ord("a"), ord("z")),)


def test_ties_with_merged_ids():
    """After (r, e) is 259, the pairs (d, space) and (259, d) stand twice each: d = 100 is smaller than 259."""
    assert ByteBPE.train(["red", "red", "d ", "d ", "re"], 2).merges == ((114, 101), (100, 32))


def test_overlaps_are_counted_and_replaced_from_the_left():
    assert list(ByteBPE.train_steps(["aaaa"], 3)) == [Merge(0, 97, 97, 259, 3, 2), Merge(1, 259, 259, 260, 1, 1)]
    assert list(ByteBPE.train_steps(["aaaaa"], 9)) == [
        Merge(0, 97, 97, 259, 4, 3),
        Merge(1, 259, 97, 260, 1, 2),
        Merge(2, 259, 260, 261, 1, 1),
    ]
    assert ByteBPE(((97, 97),)).encode("aaaaa") == [259, 259, 97]
    assert ByteBPE(((97, 97),)).encode("aabaaa") == [259, 98, 259, 97]


def test_pairs_never_cross_the_border_of_two_texts():
    assert ByteBPE.train(["a", "b"] * 50, 5).merges == ()
    assert ByteBPE.train(["ab", "", "", "ca"], 9).merges == ((97, 98), (99, 97))
    assert ByteBPE(((97, 98),)).encode_batch(["a", "b", "ab", ""]) == [[97], [98], [259], []]


def test_fewer_merges_when_no_pair_is_left():
    tokenizer = ByteBPE.train(["abc"], merges=32)
    assert len(tokenizer.merges) == 2
    assert tokenizer.vocab_size == 261
    assert ByteBPE.train([], 5).merges == ByteBPE.train(["", ""], 5).merges == ()


def test_no_text_and_the_empty_text():
    assert ByteBPE().encode("") == []
    assert ByteBPE().encode_batch([]) == []
    assert TRAINED.encode_steps("") == []
    assert TRAINED.encode_steps("q") == []
    assert ByteBPE().decode([]) == ""


@pytest.mark.parametrize("merges", [-1, 1.5, True, "3", None])
def test_refused_numbers_of_merges(merges):
    with pytest.raises(ValueError, match=f"merges must be a whole number of at least 0, got {re.escape(repr(merges))}"):
        ByteBPE.train(["abc"], merges)


@pytest.mark.parametrize("text", ["Press <|eos|> to stop", "a<|eos|>b", "<|eos|", "‹EOS›", "<|bos|><|pad|>", "⟨EOS⟩"])
def test_typed_specials_are_text(text: str):
    for tokenizer in (TRAINED, ByteBPE.train([text] * 3, 30)):
        ids = tokenizer.encode(text)
        assert not {BOS, EOS, PAD} & set(ids)
        assert tokenizer.decode(ids) == text


def test_specials_have_no_bytes():
    assert TRAINED.decode([BOS, *TRAINED.encode("cat"), EOS, PAD]) == "cat"
    assert [TRAINED.piece_bytes(id) for id in (BOS, EOS, PAD)] == [b""] * 3


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("γ is ?", 7),
        ("\u00e9", 2),
        ("e\u0301", 3),
        ("👩\u200d👩\u200d👧", 18),
        ("a\r\nb", 4),
        ("a\0b", 3),
        ("a\ufeffb", 5),
        ("end   ", 6),
        ("ﬁ①", 6),
    ],
)
def test_nothing_is_normalised(text: str, length: int):
    ids = ByteBPE().encode(text)
    assert ids == list(text.encode("utf-8")) and len(ids) == length
    assert TRAINED.decode(TRAINED.encode(text)) == text


def test_the_emoji_pair_is_four_bytes():
    text = json.loads('"\\ud83d\\ude00"')
    assert bytes(ByteBPE().encode(text)).hex(" ") == "f0 9f 98 80"


@pytest.mark.parametrize("call", ["encode", "encode_batch", "encode_steps", "train"])
def test_an_unpaired_surrogate_is_refused_everywhere(call: str):
    text = json.loads('"ab\\ud83d"')
    calls = {
        "encode": TRAINED.encode,
        "encode_batch": lambda text: TRAINED.encode_batch(["fine", text]),
        "encode_steps": TRAINED.encode_steps,
        "train": lambda text: ByteBPE.train([text], 1),
    }
    with pytest.raises(ValueError, match=r"unpaired surrogate, U\+D83D at index 2"):
        calls[call](text)


def test_bytes_that_are_not_utf8_decode_to_a_mark():
    assert ByteBPE().decode([0xE6, 0xB3]) == "\ufffd"
    assert ByteBPE().decode_bytes([0xE6, 0xB3]) == b"\xe6\xb3"


@pytest.mark.parametrize("id", [-1, 299, 10**9, "a", None])
def test_unknown_ids_are_refused(id):
    assert TRAINED.vocab_size == 299
    for call in (TRAINED.piece_bytes, TRAINED.piece_label, lambda id: TRAINED.decode([65, id])):
        with pytest.raises(ValueError, match=f"id must be in 0..298, got {id!r}"):
            call(id)


def test_two_hundred_thousand_letters():
    text = "a" * 200_000
    tokenizer = ByteBPE.train([text], 20)
    ids = tokenizer.encode(text)
    assert tokenizer.merges[:3] == ((97, 97), (259, 259), (260, 260))
    assert len(ids) < 20
    assert tokenizer.decode(ids) == text
    assert ByteBPE().decode(ByteBPE().encode(text)) == text


@pytest.mark.parametrize("separator", ["", " "])
def test_one_long_record(separator: str):
    """A megabyte without a newline, and without even a space, is learned and encoded as a whole."""
    draw = Random(1)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(1, 9))) for _ in range(4000)]
    text = separator.join(draw.choices(words, k=200_000))
    assert len(text) > 900_000
    tokenizer = ByteBPE.train([text], 64)
    assert len(tokenizer.merges) == 64
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_fingerprint_is_about_ids_only():
    assert ByteBPE(((97, 98),)).fingerprint == ByteBPE.train(["abab"], 1).fingerprint
    prints = {ByteBPE(merges).fingerprint for merges in ((), ((97, 98),), ((98, 97),), ((97, 98), (98, 97)))}
    assert len(prints) == 4
    assert all(re.fullmatch("[0-9a-f]{16}", fingerprint) for fingerprint in prints)


# Files.


@given(st.lists(st.binary(max_size=20), max_size=30))
def test_loaded_tokenizer_encodes_alike(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]):
    path = tmp_path_factory.getbasetemp() / "tokenizer.json"
    tokenizer = ByteBPE.train(["a\n\nb\n\n", "\t\t  \t\t  ", "法国\n\n法国"], merges=20)
    tokenizer.save(path)
    loaded = load_tokenizer(path)
    assert (loaded.merges, loaded.fingerprint) == (tokenizer.merges, tokenizer.fingerprint)
    assert any(set(tokenizer.piece_bytes(i)) & set(b"\n\t ") for i in range(259, tokenizer.vocab_size))
    for piece in pieces:
        text = piece.decode("latin-1")
        assert loaded.encode(text) == tokenizer.encode(text)


def write(path: Path, **changes) -> Path:
    """A tokenizer file with some entries replaced, or left out when None."""
    TRAINED.save(path)
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({name: value for name, value in content.items() if value is not None}))
    return path


@pytest.mark.parametrize(
    ("merges", "sentence"),
    [
        ([[97, 98], [97]], r"merge 1 must join two earlier ids below 260 .*got \[97\]"),
        ([[97, 98], [97, 260]], r"merge 1 must join two earlier ids below 260 .*got \[97, 260\]"),
        ([[97, 256]], r"merge 0 must join .* not special, got \[97, 256\]"),
        ([[97, -1]], "merge 0 must join"),
        ([[97, 98], [98, 97], [97, 98]], r"merge 2 repeats the pair \[97, 98\]"),
        ([[97, 98], None], "merge 1 must join"),
        ([["a", "b"]], "merge 0 must join"),
        ([[97.0, 98]], "merge 0 must join"),
        ([[True, 98]], "merge 0 must join"),
        (["ab"], "merge 0 must join"),
        ([[97, 98]], "is damaged: its 260 ids and 1 merges have fingerprint"),
        (5, "its merges must be a list, got 5"),
        ({"a": 1}, "its merges must be a list"),
        (None, "its merges must be a list, got None"),
    ],
)
def test_damaged_merges_name_the_merge(tmp_path: Path, merges, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        load_tokenizer(write(tmp_path / "t.json", merges=merges))


def test_other_specials_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="its specials must be BOS 256, EOS 257, PAD 258, got"):
        load_tokenizer(write(tmp_path / "t.json", specials={"BOS": 256, "EOS": 258, "PAD": 257}))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"format": "other"}'])
def test_files_that_are_not_a_tokenizer(tmp_path: Path, content: bytes):
    path = tmp_path / "t.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is not a tokenizer file"):
        load_tokenizer(path)


def test_missing_file(tmp_path: Path):
    with pytest.raises(ValueError, match="none.json is not a tokenizer file"):
        load_tokenizer(tmp_path / "none.json")


def test_worked_example():
    tokenizer = ByteBPE.train(["red red"], merges=2)
    assert tokenizer.merges == ((101, 100), (114, 259))
    assert tokenizer.encode("red") == [260]
    assert tokenizer.piece_bytes(260) == b"red"


def test_one_text_in_place_of_a_collection_is_refused():
    with pytest.raises(ValueError, match="got one text"):
        ByteBPE.train("aaaa", 3)
