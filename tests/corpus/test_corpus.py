"""The corpus: every fault of a file in one sentence, the hash of the content, texts in both splits."""

import hashlib
import json
from pathlib import Path

import pytest

from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.library import bundled_corpus, load_corpus


def corpus(train: list[str], validation: list[str] = (), name: str = "c") -> Corpus:
    """Records with the ids that a file without ids gives them."""
    return Corpus(
        name,
        tuple(Record(f"train-{i:02d}", text) for i, text in enumerate(train, start=1)),
        tuple(Record(f"validation-{i:02d}", text) for i, text in enumerate(validation, start=1)),
    )


def write(path: Path, content) -> Path:
    """A corpus file of raw bytes or of JSON."""
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_bundled_corpus(data: Path):
    bundled = bundled_corpus()
    assert (len(bundled.train), len(bundled.validation)) == (24, 8)
    assert bundled.train[4].text == "The key is red. Answer: red."
    assert bundled.leaked == ()
    assert bundled == load_corpus(data / "mini-gpt" / "corpus.json")
    assert len({record.text for record in bundled.train}) == 24


def test_texts_and_objects(tmp_path: Path):
    path = write(tmp_path / "mine.json", {"train": ["one", {"text": "two"}, {"id": 7, "text": "three"}]})
    loaded = load_corpus(path)
    assert loaded.name == "mine"
    assert loaded.train == (Record("train-01", "one"), Record("train-02", "two"), Record("7", "three"))
    assert loaded.validation == ()


def test_a_byte_order_mark_is_no_text(tmp_path: Path):
    content = b"\xef\xbb\xbf" + json.dumps({"train": ["one"], "version": "v"}).encode()
    assert load_corpus(write(tmp_path / "c.json", content)) == Corpus("v", (Record("train-01", "one"),))


def test_texts_are_kept_to_the_letter(tmp_path: Path):
    texts = ["  two  spaces ", "a\r\nb", "e\u0301 \u00e9", "😀", "\ufeffmark", "<|eos|>", "nul\0"]
    assert [record.text for record in load_corpus(write(tmp_path / "c.json", {"train": texts})).train] == texts


def test_own_format_round_trip(tmp_path: Path):
    for original in (corpus(["red", "蓝色\n"], ["grün"], name="farben"), corpus(["x"])):
        loaded = load_corpus(write(tmp_path / "c.json", original.to_json().encode()))
        assert loaded == original
        assert loaded.hash == original.hash


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "c.json: this is not JSON: Expecting value"),
        (b'{"train": ["a",]\n}', "c.json: this is not JSON: .* .line 1, column 16"),
        (b'{"train": ["caf\xe9"]}', "c.json is not UTF-8: byte 0xE9 at 15"),
        ('{"train": ["hi"]}'.encode("utf-16"), "c.json is not UTF-8: byte 0xFF at 0"),
        ([], "must hold a list of records, or an object with 'train', got "),
        ("text", "must hold a list of records, or an object with 'train', got .text"),
        (None, "must hold a list of records, or an object with 'train', got null"),
        ({"validation": ["a"]}, "must hold a list of records, or an object with 'train'"),
        ({"train": "abc"}, "c.json: 'train' must be a list of records, got .abc"),
        ({"train": ["a"], "validation": None}, "c.json: 'validation' must be a list of records, got null"),
        ({"train": ["a", 5]}, "c.json, train record 2: it must be a text or an object with 'text', got 5"),
        ({"train": ["a", {"content": "b"}]}, "train record 2: it has no field 'text'; fields: content"),
        ({"train": ["a"], "validation": [{"text": 1}]}, "validation record 1: its field 'text' must be a text, got 1"),
        ({"train": []}, "corpus 'c' has no usable records to train on"),
        ({"train": ["a", ""]}, "corpus 'c' has an empty record: train-02"),
        ({"train": ["a"], "validation": ["b", ""]}, "corpus 'c' has an empty record: validation-02"),
        ({"train": [{"id": "x", "text": "a"}, {"id": "x", "text": "b"}]}, "uses the record id 'x' 2 times"),
        ({"train": [{"id": "x", "text": "a"}], "validation": [{"id": "x", "text": "b"}]}, "record id 'x' 2 times"),
        ({"train": ["a", "b\ud83d"]}, r"train record 2: it has an unpaired surrogate, U\+D83D at index 1"),
        (
            {"train": ["a"], "validation": ["\udc00"]},
            r"validation record 1: it has an unpaired surrogate, U\+DC00",
        ),
        ({"train": [{"id": "i\ud83d", "text": "a"}]}, r"id of train record 1: it has an unpaired surrogate, U\+D83D"),
        ({"train": ["a"], "version": "v\ud83d"}, r"version: it has an unpaired surrogate, U\+D83D at index 1"),
    ],
)
def test_faults_are_one_sentence(tmp_path: Path, content, sentence: str):
    with pytest.raises(ValueError, match=sentence) as caught:
        load_corpus(write(tmp_path / "c.json", content))
    assert "\n" not in str(caught.value)


def test_a_whole_pair_of_halves_is_one_character(tmp_path: Path):
    content = b'{"train": ["\\ud83d\\ude00"]}'
    assert load_corpus(write(tmp_path / "c.json", content)).train[0].text == "😀"


def test_missing_files_and_folders(tmp_path: Path):
    with pytest.raises(ValueError, match="there is no corpus file .*none.json"):
        load_corpus(tmp_path / "none.json")
    with pytest.raises(ValueError, match="cannot be read"):
        load_corpus(tmp_path)


def test_hash_is_of_the_content():
    base = corpus(["a", "b"], ["c"])
    assert base.hash == corpus(["a", "b"], ["c"], name="other").hash
    others = [
        corpus(["a", "B"], ["c"]),
        corpus(["b", "a"], ["c"]),
        corpus(["a", "b"], ["d"]),
        corpus(["a", "b", "c"]),
        corpus(["ab"], ["c"]),
        Corpus("c", (Record("x", "a"), Record("train-02", "b")), (Record("validation-01", "c"),)),
    ]
    assert len({base.hash, *(other.hash for other in others)}) == 7
    assert len(base.hash) == 16 and int(base.hash, 16) >= 0


def test_leaked_records():
    assert corpus(["a", "b", "a"], ["b", "c", "b"]).leaked == (
        Record("validation-01", "b"),
        Record("validation-03", "b"),
    )
    assert corpus(["a"], ["A", "a "]).leaked == ()


def test_endless_nesting_is_one_sentence(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="nested too deeply"):
        load_corpus(tmp_path / "deep.json")


@pytest.mark.parametrize(
    ("train", "validation", "sentence"),
    [
        (["a", "b\ud83d"], [], r"corpus 'c', text of train record 2: it has an unpaired surrogate, U\+D83D at index 1"),
        (["a"], ["b", "\ud83d" + "\ude00"], r"validation record 2: it has an unpaired surrogate, U\+D83D at index 0"),
        (
            ["a"] * 5000 + ["\udc00"],
            [],
            r"text of train record 5001: it has an unpaired surrogate, U\+DC00",
        ),
        (["a", 5], [], "corpus 'c': the text of train record 2 must be a string, got 5"),
        (["a"], [None], "corpus 'c': the text of validation record 1 must be a string, got None"),
        (["a", ""], [], "corpus 'c' has an empty record: train-02"),
        ([], ["a"], "corpus 'c' has no usable records to train on"),
    ],
)
def test_a_corpus_built_in_code_is_checked_too(train: list, validation: list, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        corpus(train, validation)


def test_names_and_ids_are_checked_too():
    for made, sentence in (
        (
            lambda: Corpus("\ud800", (Record("a", "b"),)),
            "name of a corpus cannot be used: it has an unpaired",
        ),
        (
            lambda: Corpus("c", (Record("\ud800", "b"),)),
            r"'c', id of train record 1: it has an unpaired surrogate",
        ),
        (lambda: Corpus("c", (Record(1, "b"),)), "corpus 'c': the id of train record 1 must be a string, got 1"),
        (lambda: Corpus("c", (Record("x", "a"), Record("x", "b"))), "corpus 'c' uses the record id 'x' 2 times"),
    ):
        with pytest.raises(ValueError, match=sentence):
            made()


@pytest.mark.parametrize("size", [1, 2, 4095, 4096, 4097, 9000])
@pytest.mark.parametrize("validates", [0, 1, 4097])
def test_hash_is_that_of_the_whole_json(size: int, validates: int):
    """Run folders hold it: however it is reckoned, it is the SHA-256 of one JSON text."""
    made = corpus([f'é{i}\u2028"\\\n\x7f😀' for i in range(size)], [f"v{i}" for i in range(validates)])
    rows = [[{"id": r.id, "text": r.text} for r in split] for split in (made.train, made.validation)]
    content = json.dumps({"train": rows[0], "validation": rows[1]})
    assert made.hash == hashlib.sha256(content.encode()).hexdigest()[:16]


@pytest.mark.parametrize("validates", [0, 2])
def test_the_own_format_is_plain_indented_json(validates: int):
    made = corpus([f'é{i}\u2028"\\\n\x7f\0😀' for i in range(3)], [f"v{i}" for i in range(validates)], name='n"ü')
    rows = [[{"id": r.id, "text": r.text} for r in split] for split in (made.train, made.validation)]
    content = {"version": made.name, "train": rows[0], "validation": rows[1]}
    assert made.to_json() == json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def test_hash_of_the_bundled_corpus_is_the_one_its_run_states(data: Path):
    info = json.loads((data / "mini-gpt" / "run" / "run.json").read_text(encoding="utf-8"))
    assert bundled_corpus().hash == info["corpus_hash"] == "930d17f7dd642f1a"


def test_hash_is_reckoned_once(monkeypatch: pytest.MonkeyPatch):
    made = corpus(["a"])
    first = made.hash
    monkeypatch.setattr("minigpt.corpus.corpus._json_pieces", None)
    assert made.hash is first
    with pytest.raises(AttributeError):
        made.hash = "other"


def test_one_text_has_lines():
    assert Corpus("c", (Record("a", "one\ntwo"),)).is_one_text
    assert Corpus("c", (Record("text-train", "one "),), (Record("text-validation", "two"),)).is_one_text
    assert not Corpus("c", (Record("a", "one"),)).is_one_text
    assert not Corpus("c", (Record("a", "one\ntwo"), Record("b", "three"))).is_one_text
