"""Hugging Face's tokenizer.json: equal ids there and back on any text, or one sentence that says why not."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.trainers import BpeTrainer

from minigpt.huggingface.tokenizer_json import export_tokenizer, import_tokenizer
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import Chars
from minigpt.tokenizers.files import load_tokenizer
from minigpt.tokenizers.gpt2 import END, GPT2Tokenizer
from minigpt.tokenizers.renumbered import RenumberedBPE

TEXTS = ["the cat sat on the mat", "法国的首都叫巴黎", "aaaa\n\n\t\t  bb", "😀😀 the the", "a<|eos|>b ‹EOS› ‹EOS›"]
PARTS = ["the ", "cat", "a", "aa", "法", "国", "é", "\n", "\r\n", "\0", "‹BOS›", "<|eos|>", "Ġ", "😀"]
TEXT = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.sampled_from(PARTS)).map("".join))
TRAINED = ByteBPE.train(TEXTS, merges=60)
CHARS = Chars([*TEXTS, "\n\r\0\u0301é‹BOS›<|pad|>Ġ"])


def exported(tokenizer, path: Path) -> Tokenizer:
    export_tokenizer(tokenizer, path)
    return Tokenizer.from_file(str(path))


def peer(path: Path, merges: int = 40, alphabet: bool = True) -> Tokenizer:
    """A tokenizer that Hugging Face's own trainer has learned, with ids in its own order."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=False)
    letters = ByteLevel.alphabet() if alphabet else []
    trainer = BpeTrainer(vocab_size=256 + merges, initial_alphabet=letters, show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.save(str(path))
    return tokenizer


def changed(path: Path, tokenizer=TRAINED, model: dict | None = None, **changes) -> Path:
    """An exported file with some entries replaced."""
    export_tokenizer(tokenizer, path)
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    content["model"] |= model or {}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> dict[str, tuple]:
    """Our tokenizer and Hugging Face's, after export and after import."""
    folder = tmp_path_factory.mktemp("pairs")
    bpe, chars = exported(TRAINED, folder / "bpe.json"), exported(CHARS, folder / "chars.json")
    theirs = peer(folder / "peer.json")
    found = import_tokenizer(folder / "peer.json")
    return {
        "bpe": (TRAINED, bpe),
        "back": (import_tokenizer(folder / "bpe.json"), bpe),
        "bytes": (ByteBPE(), exported(ByteBPE(), folder / "bytes.json")),
        "peer": (found, theirs),
        "peer again": (found, exported(found, folder / "again.json")),
        "chars": (import_tokenizer(folder / "chars.json"), chars),
    }


@pytest.mark.parametrize("name", ["bpe", "bytes", "back", "peer", "peer again"])
@given(text=TEXT)
@example("")
@example("Press <|eos|> to stop")
@example("‹EOS›")
def test_byte_bpe_gives_equal_ids(pairs, name: str, text: str):
    ours, theirs = pairs[name]
    ids = ours.encode(text)
    assert theirs.encode(text).ids == ids
    assert ours.decode(ids) == text
    assert not ours.specials.keys() & set(ids)


@pytest.mark.parametrize("name", ["bpe", "peer again"])
@given(numbers=st.lists(st.integers(0, 10**6), max_size=12))
def test_any_ids_are_decoded_alike(pairs, name: str, numbers: list[int]):
    ours, theirs = pairs[name]
    ids = [number % ours.vocab_size for number in numbers]
    assert theirs.decode(ids, skip_special_tokens=False) == ours.decode(ids)


@given(text=st.text(st.sampled_from(CHARS.alphabet)))
def test_characters_give_equal_ids(pairs, text: str):
    back, theirs = pairs["chars"]
    ids = CHARS.encode(text)
    assert theirs.encode(text).ids == back.encode(text) == ids
    assert theirs.decode([CHARS.bos, *ids, CHARS.eos, CHARS.pad], skip_special_tokens=False) == text
    assert back.fingerprint == CHARS.fingerprint


def test_an_unknown_character_is_an_error_there_too(tmp_path: Path):
    theirs = exported(CHARS, tmp_path / "t.json")
    with pytest.raises(Exception, match="Missing"):
        theirs.encode("cat?Z")


def test_back_from_a_file_it_is_the_same_tokenizer(tmp_path: Path):
    export_tokenizer(TRAINED, tmp_path / "t.json")
    assert import_tokenizer(tmp_path / "t.json").fingerprint == TRAINED.fingerprint


def test_a_tokenizer_of_their_trainer_keeps_its_ids(tmp_path: Path):
    theirs = peer(tmp_path / "t.json")
    ours = import_tokenizer(tmp_path / "t.json")
    assert isinstance(ours, RenumberedBPE)
    assert ours.encode("!") == theirs.encode("!").ids == [0]
    assert ours.vocab_size == theirs.get_vocab_size() + 3
    assert (ours.bos, ours.eos, ours.pad) == (296, 297, 298)


def test_gpt2_goes_through_the_same_door(tmp_path: Path):
    pieces = [bytes([i]) for i in range(256)] + [b"", b"lo", b"low"]
    ours = GPT2Tokenizer(pieces, [(108, 111), (257, 119)], {256: END})
    theirs = exported(ours, tmp_path / "t.json")
    assert theirs.encode("low slow, I'm").ids == ours.encode("low slow, I'm")
    assert import_tokenizer(tmp_path / "t.json").fingerprint == ours.fingerprint


def test_two_merges_into_one_piece_are_not_exported(tmp_path: Path):
    two_ways = ByteBPE([(97, 98), (98, 99), (259, 99), (97, 260)])
    with pytest.raises(ValueError, match="^merges 2 and 3 both make 'abc'; .* one id for a piece"):
        export_tokenizer(two_ways, tmp_path / "t.json")
    assert not list(tmp_path.iterdir())


WHOLE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
MERGES = {"merges": [["a", "b"]]}
BYTES = {"vocab": {chr(i): i for i in range(256)}}


@pytest.mark.parametrize(
    ("changes", "model", "sentence"),
    [
        ({"normalizer": {"type": "NFC"}}, {}, "has the normalizer NFC, which changes texts"),
        ({"added_tokens": [{"id": 0, "content": "<s>"}]}, {}, r"finds the added tokens \['<s>'\] in typed text"),
        ({"truncation": {"max_length": 5}}, {}, "has truncation"),
        ({"padding": {"pad_id": 0}}, {}, "has padding"),
        ({"post_processor": {"type": "TemplateProcessing"}}, {}, "post-processor TemplateProcessing, which adds ids"),
        ({"pre_tokenizer": None}, {}, "pre-tokenizer must be ByteLevel, got None"),
        ({"pre_tokenizer": {"type": "Metaspace"}}, {}, "pre-tokenizer must be ByteLevel, got 'Metaspace'"),
        ({"pre_tokenizer": WHOLE | {"add_prefix_space": True}}, {}, "puts a space before every text"),
        ({}, {"dropout": 0.1}, "its model has dropout 0.1, under which texts get other ids"),
        ({}, {"continuing_subword_prefix": "##"}, "continuing_subword_prefix '##'"),
        ({}, {"end_of_word_suffix": "</w>"}, "end_of_word_suffix '</w>'"),
        ({}, {"byte_fallback": True}, "byte_fallback True"),
        ({}, {"ignore_merges": True}, "ignore_merges True"),
        ({}, {"type": "Unigram"}, "must be BPE over bytes or WordLevel over characters, got Unigram"),
        ({}, {"type": None}, "must be BPE over bytes or WordLevel over characters, got None"),
        ({}, {"merges": None}, "needs a vocab object and a list of merges"),
        ({}, {"merges": ["a b c"]}, "merge 0 must join two pieces, got 'a b c'"),
        ({}, {"merges": [["a", 5]]}, "merge 0 must join two pieces"),
        ({}, {"merges": [["ab", "c"]]}, "merge 0 joins 'ab', which is not a byte, and no earlier merge makes it"),
        ({}, {"merges": [["a", "b"], ["a", "b"]]}, "merge 1 makes 'ab' again"),
        ({}, {"merges": [["a", "b"], ["b", "c"], ["ab", "c"], ["a", "bc"]]}, "merge 3 makes 'abc' again"),
        ({}, {"merges": []}, "with id 259 is not a byte, and no merge makes it"),
        ({}, BYTES | {"merges": []}, r"its piece '\\x00' with id 0 is not a byte"),
        ({}, {"vocab": {}}, "its piece 'Ā' has no id"),
    ],
)
def test_what_byte_bpe_cannot_do_is_named(tmp_path: Path, changes: dict, model: dict, sentence: str):
    path = changed(tmp_path / "t.json", model=model, **changes)
    with pytest.raises(ValueError, match=sentence) as fault:
        import_tokenizer(path)
    assert str(fault.value).startswith(f"{path} cannot be used: ")


def test_an_alphabet_with_holes_is_refused(tmp_path: Path):
    peer(tmp_path / "t.json", merges=-200, alphabet=False)
    with pytest.raises(ValueError, match="has no id"):
        import_tokenizer(tmp_path / "t.json")


def test_numbers_with_holes_are_refused(tmp_path: Path):
    export_tokenizer(ByteBPE(), tmp_path / "t.json")
    vocab = json.loads((tmp_path / "t.json").read_text())["model"]["vocab"] | {"A": 900}
    with pytest.raises(ValueError, match="259 pieces must have the ids 0 to 258, each once"):
        import_tokenizer(changed(tmp_path / "t.json", ByteBPE(), {"vocab": vocab}))


@pytest.mark.parametrize(
    ("changes", "model", "sentence"),
    [
        ({"pre_tokenizer": {"type": "Whitespace"}}, {}, "must split at every character"),
        ({}, {"unk_token": "‹PAD›"}, "gives all unknown characters the id of '‹PAD›'"),
        ({}, {"vocab": {"a": 1, "b": 0}}, "ids must follow the order of the characters: a has 1, not 0"),
        ({}, {"vocab": {"a": 0, "bc": 1}}, "its piece 'bc' is not one character"),
        ({}, {"vocab": {"\n": 0, "a": 7}}, "a has 7, not 1"),
        ({}, {"vocab": {}}, "at least one character"),
        ({}, {"vocab": []}, "needs a vocab object"),
    ],
)
def test_what_characters_cannot_do_is_named(tmp_path: Path, changes: dict, model: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        import_tokenizer(changed(tmp_path / "t.json", Chars("ab"), model, **changes))


def test_a_cut_by_another_pattern_is_refused(tmp_path: Path):
    theirs = peer(tmp_path / "t.json")
    theirs.pre_tokenizer = Split(Regex(r"\w+"), "isolated")
    theirs.save(str(tmp_path / "t.json"))
    with pytest.raises(ValueError, match="must be ByteLevel, got 'Split'"):
        import_tokenizer(tmp_path / "t.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
ENTRIES = ["normalizer", "added_tokens", "truncation", "padding", "post_processor", "pre_tokenizer", "model"]
INNER = ["type", "vocab", "merges", "dropout", "unk_token", "byte_fallback", "ignore_merges"]


@given(st.sampled_from([TRAINED, CHARS]), st.sampled_from(ENTRIES), st.sampled_from(["", *INNER]), JSON)
def test_a_damaged_file_is_one_sentence_or_gives_equal_ids(tmp_path_factory, tokenizer, entry, inner, value):
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    content = written(tokenizer)
    if inner and isinstance(content[entry], dict):
        content[entry] = content[entry] | {inner: value}
    else:
        content[entry] = value
    path.write_text(json.dumps(content))
    try:
        found = import_tokenizer(path)
    except ValueError as fault:
        assert str(fault).startswith(str(path)) and "\n" not in str(fault)
    else:
        assert found.encode("the cat") == tokenizer.encode("the cat")


@cache
def exported_text(tokenizer) -> str:
    with TemporaryDirectory() as folder:
        export_tokenizer(tokenizer, Path(folder) / "t.json")
        return (Path(folder) / "t.json").read_text(encoding="utf-8")


def written(tokenizer) -> dict:
    return json.loads(exported_text(tokenizer))


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff"])
def test_files_that_are_no_tokenizer(tmp_path: Path, content: bytes):
    (tmp_path / "t.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"t\.json"):
        import_tokenizer(tmp_path / "t.json")


def test_a_renumbered_tokenizer_is_saved_and_loaded(tmp_path: Path):
    peer(tmp_path / "theirs.json")
    ours = import_tokenizer(tmp_path / "theirs.json")
    ours.save(tmp_path / "ours.json")
    loaded = load_tokenizer(tmp_path / "ours.json")
    assert (loaded.fingerprint, loaded.merges, loaded.specials) == (ours.fingerprint, ours.merges, ours.specials)
    content = json.loads((tmp_path / "ours.json").read_text())
    numbers = [content["numbers"][1], content["numbers"][0], *content["numbers"][2:]]
    for change in ({"numbers": numbers}, {"numbers": [0]}, {"merges": 5}, {"merges": [[0, 999]]}):
        (tmp_path / "ours.json").write_text(json.dumps(content | change))
        with pytest.raises(ValueError, match="is damaged"):
            load_tokenizer(tmp_path / "ours.json")


@given(text=TEXT)
def test_a_renumbered_tokenizer_does_all_that_the_plain_one_does(pairs, text: str):
    ours = pairs["peer"][0]
    ids = ours.encode(text)
    assert ours.encode_batch([text, ""]) == [ids, []]
    steps = ours.encode_steps(text)
    for step in steps:
        assert ours.merges[step.rank] == (step.left, step.right)
        assert ours.merge_rank(step.id) == step.rank
        assert ours.piece_bytes(step.id) == ours.piece_bytes(step.left) + ours.piece_bytes(step.right)
        assert ours.decode(step.ids) == text
    if steps:
        assert [*steps[-1].ids] == ids
    assert ours.decode_bytes([ours.bos, *ids, ours.eos]) == text.encode()
    assert [ours.piece_label(id) for id in (ours.bos, ours.eos, ours.pad)] == ["‹BOS›", "‹EOS›", "‹PAD›"]
    with pytest.raises(ValueError, match="id must be in 0"):
        ours.decode([ours.vocab_size])
