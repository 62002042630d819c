"""GPT-2's tokenizer against Hugging Face's, with a vocabulary trained here; its files, its own format, its errors."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer, Tokenizer
from transformers import AutoTokenizer, GPT2Tokenizer

from minigpt.corpus.library import bundled_corpus
from minigpt.huggingface.tokenizer_gpt2 import read_gpt2_tokenizer, write_gpt2_tokenizer
from minigpt.tokenizers.bytes_to_unicode import letter_order
from minigpt.tokenizers.files import load_tokenizer
from minigpt.tokenizers.gpt2 import END
from minigpt.tokenizers.gpt2 import GPT2Tokenizer as Ours

LINES = [
    "it's what they'll say, isn't it? I'm sure we've 12 of 1999 ... they're HERE'S",
    "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。",
    "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
    "def f(x):\n    return x + 1\n\n\n    # aaaa bbbb aaaa",
    "🙂🙂 👩‍👩‍👧 naïve café — “quoted” … ½ ² Ⅷ",
]
ODD = ["", "?", " ", "   ", "\n\n \t\r\n", "a\x00b\x1c\x85c\xa0d", "e\u0301\ufeff", "'s's'S 't"]
ODD += ["x" * 1000, "🙂" * 90, "法" * 400]  # words so long that a heap merges them
SPOKEN = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cn"])),
    st.lists(st.sampled_from([*" '\n\tsltdmrve019.é春眠🙂", "aaaa", " the", "they", "'re", "  ", "\x1c"])).map("".join),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """tokenizer.json, vocab.json and merges.txt as Hugging Face's trainer writes them, the special id first."""
    folder = tmp_path_factory.mktemp("gpt2")
    trainer = ByteLevelBPETokenizer()
    texts = [*LINES, *(record.text for record in bundled_corpus().train)] * 3
    trainer.train_from_iterator(texts, vocab_size=700, special_tokens=[END], show_progress=False)
    trainer.save_model(str(folder))
    trainer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def peer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.fixture(scope="module")
def ours(folder: Path) -> Ours:
    return read_gpt2_tokenizer(folder)


def peer_ids(peer: Tokenizer, text: str) -> list[int]:
    return peer.encode(text, add_special_tokens=False).ids


def by_hand() -> Ours:
    """The 256 bytes in the order of their letters, three merges, and the special id last, as in GPT-2."""
    order = letter_order()
    pieces = [bytes([byte]) for byte in order] + [b"lo", b" lo", b"low", b""]
    letters = {byte: order.index(byte) for byte in range(256)}
    merges = [(letters[ord("l")], letters[ord("o")]), (letters[ord(" ")], 256), (256, letters[ord("w")])]
    return Ours(pieces, merges, {259: END})


def test_by_hand():
    tokenizer = by_hand()
    assert (tokenizer.vocab_size, tokenizer.bos, tokenizer.eos, tokenizer.pad) == (260, 259, 259, 259)
    assert tokenizer.encode("low slow low") == [258, 220, 82, 258, 257, 86]  # in " low", " lo" has the lower rank
    assert tokenizer.encode_batch(["lo", "", "!"]) == [[256], [], [0]]
    assert [tokenizer.merge_rank(id) for id in (0, 256, 257, 258, 259)] == [None, 0, 1, 2, None]
    labels = [tokenizer.piece_label(id) for id in (0, 220, 257, 259)]
    assert labels == ["!", "·", "·lo", "‹<|endoftext|>›"]
    assert len({tokenizer.piece_label(id) for id in range(260)}) == 260
    assert (tokenizer.piece_bytes(259), tokenizer.decode([258, 259, 0])) == (b"", "low!")
    for call in (tokenizer.piece_bytes, tokenizer.piece_label, tokenizer.merge_rank, lambda id: tokenizer.decode([id])):
        for id in (-1, 260, "0"):
            with pytest.raises(ValueError, match="id must be in 0..259, got"):
                call(id)


def test_steps_are_the_merges_in_their_order():
    steps = by_hand().encode_steps("lolow low")
    el, o, w, space = (letter_order().index(ord(letter)) for letter in "low ")
    assert [(step.rank, step.left, step.right, step.id) for step in steps] == [
        (0, el, o, 256),
        (2, 256, w, 258),
        (0, el, o, 256),
        (1, space, 256, 257),
    ]
    assert [step.ids for step in steps] == [
        (256, 256, w, space, el, o, w),  # both places of rank 0 in the first word are one step
        (256, 258, space, el, o, w),
        (256, 258, space, 256, w),
        (256, 258, 257, w),
    ]
    assert by_hand().encode_steps("!?") == []


def test_steps_beyond_all_use_are_refused(ours: Ours):
    with pytest.raises(ValueError, match="the merges of 60,000 characters are too many to show"):
        ours.encode_steps("they're " * 7500)


@pytest.mark.parametrize("text", [*LINES, *ODD])
def test_ids_are_those_of_the_peer(text: str, ours: Ours, peer: Tokenizer):
    ids = ours.encode(text)
    assert ids == peer_ids(peer, text)
    assert ours.decode(ids) == text
    steps = ours.encode_steps(text)
    assert (list(steps[-1].ids) if steps else ids) == ids


@given(SPOKEN)
def test_ids_of_any_text_are_those_of_the_peer(ours: Ours, peer: Tokenizer, text: str):
    ids = ours.encode(text)
    assert ids == peer_ids(peer, text)
    assert ours.decode(ids) == text
    steps = ours.encode_steps(text)
    assert (list(steps[-1].ids) if steps else ids) == ids


@given(st.text())
def test_every_text_comes_back(ours: Ours, text: str):
    """Also with characters of a Unicode that is newer than Python's."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        with pytest.raises(ValueError, match="text has an unpaired surrogate, U\\+D[89A-F]"):
            ours.encode(text)
    else:
        assert ours.decode(ours.encode(text)) == text


def test_the_published_class_of_transformers_agrees(folder: Path, ours: Ours):
    peer = GPT2Tokenizer.from_pretrained(folder)
    for text in [*LINES, *ODD[1:]]:
        assert ours.encode(text) == peer(text)["input_ids"]


def test_typed_specials_are_text(ours: Ours):
    for text in (END, f"a{END}b", f"{END}{END}", "<|endof", "<|eos|>"):
        ids = ours.encode(text)
        assert ours.eos not in ids and ours.decode(ids) == text
    assert ours.piece_label(ours.eos) not in {ours.piece_label(id) for id in ours.encode(END)}


def test_unpaired_surrogates_are_refused_with_their_place(ours: Ours):
    for call in (ours.encode, ours.encode_steps, lambda text: ours.encode_batch([text])):
        with pytest.raises(ValueError, match=r"text has an unpaired surrogate, U\+D83D at index 2"):
            call("ab\ud83d")


def test_remembered_words_stay_as_they_are(ours: Ours):
    first = ours.encode("they're they")
    first.append(0)
    ours.encode("they're")[0] = 5
    assert ours.encode("they're they") == first[:-1]


def test_both_kinds_of_files_are_the_same_tokenizer(folder: Path, ours: Ours, tmp_path: Path):
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    assert read_gpt2_tokenizer(tmp_path).fingerprint == ours.fingerprint
    changed = Ours([ours.piece_bytes(id) for id in range(ours.vocab_size)], ours.merges[:-1], ours.specials)
    assert changed.fingerprint != ours.fingerprint


def test_exported_files_give_the_same_ids_everywhere(ours: Ours, tmp_path: Path):
    write_gpt2_tokenizer(tmp_path, ours)
    peers = [AutoTokenizer.from_pretrained(tmp_path), GPT2Tokenizer.from_pretrained(tmp_path)]
    again = read_gpt2_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    peers.append(GPT2Tokenizer.from_pretrained(tmp_path))
    assert again.fingerprint == read_gpt2_tokenizer(tmp_path).fingerprint == ours.fingerprint
    for text in [*LINES, *ODD[1:]]:
        assert all(peer(text)["input_ids"] == ours.encode(text) for peer in peers)
    assert [peer.eos_token_id for peer in peers] == [ours.eos] * 3


def test_the_published_files_older_form(folder: Path, ours: Ours, tmp_path: Path):
    """GPT-2's own tokenizer.json has merges as lines, no type of the model and no use_regex."""
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    model = {"dropout": None, "unk_token": "", "continuing_subword_prefix": "", "end_of_word_suffix": ""}
    model |= {"fuse_unk": False, "vocab": content["model"]["vocab"]}
    model["merges"] = [" ".join(pair) for pair in content["model"]["merges"]]
    del content["pre_tokenizer"]["use_regex"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(content | {"model": model}), encoding="utf-8")
    assert read_gpt2_tokenizer(tmp_path).fingerprint == ours.fingerprint


def test_special_ids_beside_the_end(folder: Path, tmp_path: Path):
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    size = len(json.loads((tmp_path / "vocab.json").read_text()))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<b>\n": size}))
    tokenizer = read_gpt2_tokenizer(tmp_path)
    assert tokenizer.specials == {0: END, size: "<b>\n"}
    assert tokenizer.piece_label(size) == "‹<b>‹LF››"
    assert size not in tokenizer.encode("<b>\n")


def test_saving_and_loading(ours: Ours, tmp_path: Path):
    ours.save(tmp_path / "tokenizer.json")
    again = load_tokenizer(tmp_path / "tokenizer.json")
    assert isinstance(again, Ours)
    assert (again.fingerprint, again.merges, again.specials) == (ours.fingerprint, ours.merges, ours.specials)
    assert [again.encode(text) for text in [*LINES, *ODD]] == ours.encode_batch([*LINES, *ODD])


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda content: content["merges"].pop(), "merges have fingerprint"),
        (lambda content: content.update(fingerprint="0"), "the file says 0"),
        (lambda content: content["merges"].append([1, 10**6]), "merge .* must join two ids below .*, got"),
        (lambda content: content["merges"].append([1, 0]), "must join two ids below .* not special"),
        (lambda content: content["merges"].append([1]), r"must join two ids below .*, got \[1\]"),
        (lambda content: content["merges"].append([True, 2]), "must join two ids"),
        (lambda content: content["merges"].append(content["merges"][3]), "merge .* repeats the pair"),
        (lambda content: content["merges"].insert(0, [1, 1]), "merge 0 makes '!!', which has no id"),
        (lambda content: content["pieces"].__setitem__(5, " "), "no byte is written as the letter ' '"),
        (lambda content: content["pieces"].__setitem__(5, "#"), "id 5 must have bytes that no other id has, got '#'"),
        (lambda content: content["pieces"].__setitem__(5, None), "id 5 must have bytes that no other id has, got ''"),
        (lambda content: content["pieces"].__setitem__(5, "zzzzz"), "the byte 25 has no id"),
        (lambda content: content["pieces"].__setitem__(5, 7), "pieces must be a list of texts"),
        (lambda content: content.update(pieces={}), "pieces must be a list of texts"),
        (lambda content: content.update(merges=None), "merges must be a list and its specials an object"),
        (lambda content: content.update(specials={}), "one special id must be called .*, got \\[\\]"),
        (lambda content: content.update(specials={END: "0"}), "the id of a special must be a whole number"),
        (lambda content: content.update(specials={END: 700}), "must have an id below .* that no piece has"),
        (lambda content: content.update(specials={END: 1}), "must have an id below .* that no piece has"),
        (lambda content: content.update(format="minigpt-gpt2-2"), "is not a tokenizer file; its format must be"),
    ],
)
def test_damaged_files_of_our_own(ours: Ours, tmp_path: Path, damage, sentence: str):
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    damage(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        load_tokenizer(path)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda content: content["pre_tokenizer"].update(add_prefix_space=True), "add_prefix_space is True"),
        (lambda content: content["pre_tokenizer"].update(use_regex=False), "pre_tokenizer.use_regex is False"),
        (lambda content: content["pre_tokenizer"].update(type="Whitespace"), "pre_tokenizer.type is 'Whitespace'"),
        (lambda content: content.update(pre_tokenizer=None), "pre_tokenizer.type is None"),
        (lambda content: content.update(normalizer={"type": "NFC"}), "has a normalizer, which changes texts"),
        (lambda content: content["model"].update(type="WordPiece"), "model.type is 'WordPiece'; GPT-2 has 'BPE'"),
        (lambda content: content["model"].update(dropout=0.1), "model.dropout is 0.1"),
        (lambda content: content["model"].update(end_of_word_suffix="</w>"), "model.end_of_word_suffix is '</w>'"),
        (lambda content: content["model"].update(ignore_merges=True), "model.ignore_merges is True"),
        (lambda content: content.update(model=[]), "it needs the objects model and pre_tokenizer"),
        (lambda content: content.update(added_tokens=[3]), "it needs the objects model and pre_tokenizer"),
        (lambda content: content.update(added_tokens=[]), "is not among its special tokens"),
        (lambda content: content["model"]["vocab"].pop("z"), "must have the ids 0 to"),
        (lambda content: content["model"]["vocab"].update(z="5"), "must have the ids 0 to"),
        (lambda content: content["model"]["merges"].append(["a", "zzzz"]), "joins 'zzzz', which has no id"),
        (lambda content: content["model"]["merges"].append("a b c"), "must join two pieces, got 'a b c'"),
        (lambda content: content["model"]["merges"].append(3), "must join two pieces, got 3"),
        (lambda content: content["model"].update(merges={}), "needs a vocab object and a list of merges"),
    ],
)
def test_foreign_files_that_would_give_other_ids(folder: Path, tmp_path: Path, damage, sentence: str):
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    damage(content)
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        read_gpt2_tokenizer(tmp_path)


def test_folders_without_a_tokenizer(folder: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="has no tokenizer: it needs tokenizer.json, or vocab.json and merges.txt"):
        read_gpt2_tokenizer(tmp_path)
    (tmp_path / "vocab.json").write_bytes((folder / "vocab.json").read_bytes())
    with pytest.raises(ValueError, match="has no tokenizer"):
        read_gpt2_tokenizer(tmp_path)
    (tmp_path / "merges.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="merges.txt cannot be used"):
        read_gpt2_tokenizer(tmp_path)
    (tmp_path / "merges.txt").write_text("a b c\n")
    with pytest.raises(ValueError, match="vocab.json cannot be used: merge 0 must join two pieces"):
        read_gpt2_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"add_prefix_space": true}')
    with pytest.raises(ValueError, match="add_prefix_space is true; GPT-2 has false"):
        read_gpt2_tokenizer(tmp_path)
