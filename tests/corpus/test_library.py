"""Which corpora there are: the shipped ones, and for each browser its own."""

import json
import shutil

import pytest

from minigpt.corpus import library
from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.library import (
    Choices,
    bundled,
    bundled_corpus,
    bundled_keys,
    corpora_of,
    corpus_folder,
    delete,
    keep_corpus,
    put,
    read_choices,
    read_label,
    source,
    take_file,
    write_choices,
)
from minigpt.corpus.readers.files import ReadOptions, read_corpus
from minigpt.corpus.readers.objects import load_corpus
from minigpt.corpus.splitting import SplitOptions, split_records
from minigpt.corpus.statistics import statistics
from minigpt.corpus.tokenizer_jobs.jobs import load_learned

ANN, BEN = "a" * 32, "b" * 32


@pytest.fixture(autouse=True)
def corpora(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGPT_CORPORA", str(tmp_path / "corpora"))
    return tmp_path / "corpora"


def test_a_file_is_kept_for_its_browser_alone(monkeypatch):
    clock = iter(range(10))
    monkeypatch.setattr(library.time, "time", lambda: next(clock))
    first, second, other = put(ANN, "a.txt", b"one\n"), put(ANN, "b.txt", b"two\n"), put(BEN, "a.txt", b"three\n")
    assert corpora_of(ANN) == [second, first] and corpora_of(BEN) == [other] and corpora_of("c" * 32) == []
    assert source(first, ANN) == b"one\n" and read_label(first, ANN).name == "a.txt"
    for use in (source, read_label, read_choices, delete, corpus_folder):
        with pytest.raises(ValueError, match="this browser has no corpus"):
            use(first, BEN)
    with pytest.raises(ValueError, match="this browser has no corpus"):
        write_choices(first, BEN, Choices())


def test_a_replaced_file_of_the_same_name_is_a_new_corpus():
    first = put(ANN, "corpus.txt", b"old\n")
    assert put(ANN, "corpus.txt", b"old\n") == first
    second = put(ANN, "corpus.txt", b"new\n")
    assert second != first and source(first, ANN) == b"old\n" and source(second, ANN) == b"new\n"
    assert read_label(first, ANN).hash != read_label(second, ANN).hash
    assert put(ANN, "other.txt", b"old\n") not in (first, second)


def test_a_browser_keeps_a_limited_number(monkeypatch):
    monkeypatch.setenv("MINIGPT_CORPORA_A_BROWSER", "2")
    first = put(ANN, "a.txt", b"1")
    put(ANN, "b.txt", b"2")
    with pytest.raises(ValueError, match="keeps 2 corpora, at most 2 are allowed; delete one first"):
        put(ANN, "c.txt", b"3")
    assert put(ANN, "a.txt", b"1") == first
    put(BEN, "c.txt", b"3")
    delete(first, ANN)
    put(ANN, "c.txt", b"3")
    assert first not in corpora_of(ANN)


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "/etc", "x" * 101, "a\0"])
def test_an_id_never_leads_out_of_the_shelf(name):
    with pytest.raises(ValueError, match="an id has letters"):
        corpus_folder(name, ANN)


def test_choices_and_the_corpus_stay(corpora):
    id = put(ANN, "a.txt", b"one\ntwo\n")
    assert read_choices(id, ANN) == Choices()
    chosen = Choices(ReadOptions(encoding="gb18030"), SplitOptions(seed=3))
    write_choices(id, ANN, chosen)
    assert read_choices(id, ANN) == chosen
    corpus = Corpus("a", (Record("1", "one\u2028\r\n"),), (Record("2", "两"),))
    path = keep_corpus(id, ANN, corpus)
    assert load_corpus(path) == corpus
    write_choices(id, ANN, chosen)
    assert load_corpus(path) == corpus


def test_other_choices_make_the_corpus_again():
    id = put(ANN, "a.txt", b"one\ntwo\n")
    path = keep_corpus(id, ANN, Corpus("a", (Record("1", "one"),)))
    write_choices(id, ANN, Choices(split=SplitOptions(seed=3)))
    assert not path.exists() and source(id, ANN) == b"one\ntwo\n"


def test_nothing_tells_the_secret(corpora):
    put(ANN, "a.txt", b"one")
    written = [path.read_bytes() for path in corpora.rglob("*") if path.is_file()]
    assert written and not any(ANN.encode() in content for content in written)
    assert not any(ANN in str(path) for path in corpora.rglob("*"))


def test_a_damaged_label_is_nobodys(corpora):
    id = put(ANN, "a.txt", b"one")
    (corpora / id / "label.json").write_text(json.dumps({"owner": 1}))
    assert corpora_of(ANN) == []
    with pytest.raises(ValueError, match="this browser has no corpus"):
        corpus_folder(id, ANN)


def test_a_shelf_that_cannot_be_written_gets_a_sentence(corpora):
    corpora.write_text("a file where the folder should be")
    with pytest.raises(ValueError, match="cannot keep the file in"):
        put(ANN, "a.txt", b"one")


def test_a_file_is_kept_with_the_reading_that_its_text_suggests():
    prose = ("It was late, and nobody had thought of the lamp that stood by the window. " * 12 + "\n") * 3
    assert read_choices(take_file(ANN, "a.txt", prose.encode()), ANN).read.continuous
    lines = take_file(ANN, "b.txt", b"one\ntwo\n")
    assert read_choices(lines, ANN) == Choices()
    write_choices(lines, ANN, Choices(ReadOptions(continuous=True)))
    assert take_file(ANN, "b.txt", b"one\ntwo\n") == lines and read_choices(lines, ANN).read.continuous
    for content, fault in ((b"", r"it is empty \(0 bytes\)"), (b" \n", "it holds only white space")):
        with pytest.raises(ValueError, match=f"c.txt has no usable records: {fault}"):
            take_file(ANN, "c.txt", content)


def test_another_reading_asks_for_agreement_to_faults_again():
    agreed = Choices(split=SplitOptions(seed=2, skip_faults=True))
    assert agreed.with_reading(column="b") == Choices(ReadOptions(column="b"), SplitOptions(seed=2))


def test_damaged_choices_are_the_defaults(corpora):
    name = put(ANN, "a.txt", b"one\n")
    (corpora / name / "choices.json").write_text('{"split": {"anew": true}}')
    assert read_choices(name, ANN).split.resplit
    for content in ("{", "[]", '{"read": {"format": "doc"}}', '{"read": 3}'):
        (corpora / name / "choices.json").write_text(content)
        assert read_choices(name, ANN) == Choices()


def test_a_corpus_of_the_version_before_opens(corpora, root):
    """The folder that commit bad9831 made of a csv, for this browser and these choices."""
    name = f"{library.mark(ANN)[:6]}-0123456789abcdef"
    shutil.copytree(root / "tests" / "data" / "corpus-bad9831", corpora / name)
    assert corpora_of(ANN) == [name] and read_label(name, ANN).name == "rhymes.csv"
    choices = read_choices(name, ANN)
    assert (choices.read.column, choices.split.seed, choices.split.skip_faults) == ("line", 3, True)
    corpus = load_corpus(corpora / name / "corpus.json")
    made = split_records(read_corpus(source(name, ANN), "rhymes.csv", choices.read), choices.split).corpus
    assert made == corpus and made.hash == corpus.hash == "ba0a6f48eb1a149d"
    learned = load_learned(next((corpora / name / "tokenizers").glob("*/*")))
    known = statistics(corpus, learned.tokenizer)
    assert learned.tokenizer.vocab_size == 267 and len(learned.merges) == 8
    assert learned.counted.train.lengths.tolist() == known.train.lengths.tolist()
    assert (learned.counted.covered, learned.counted.validation_only) == (known.covered, known.validation_only)


@pytest.mark.parametrize("key", bundled_keys())
def test_every_shipped_corpus_can_be_trained_on(key):
    found = bundled(key)
    corpus = found.corpus()
    assert found.key == key and found.title
    assert corpus.train and corpus.validation and not corpus.leaked
    assert corpus.hash == found.corpus().hash


def test_the_first_one_is_that_of_the_shipped_run():
    assert bundled(bundled_keys()[0]).corpus().hash == bundled_corpus().hash


def test_a_text_is_read_as_its_about_file_says(tmp_path, monkeypatch):
    monkeypatch.setattr(library, "DATA", tmp_path)
    (tmp_path / "lines").mkdir()
    about = {"name": "Lines", "about": "Two.", "kind": "records", "file": "a.txt"}
    (tmp_path / "lines" / "about.json").write_text(json.dumps(about))
    (tmp_path / "lines" / "a.txt").write_text("".join(f"line {i}\n" for i in range(20)))
    corpus = bundled("lines").corpus()
    assert (corpus.name, len(corpus.train), len(corpus.validation)) == ("lines", 18, 2)
    (tmp_path / "lines" / "about.json").write_text(json.dumps(about | {"kind": "continuous"}))
    assert len(bundled("lines").corpus().train) == 1


def test_faults_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(library, "DATA", tmp_path)
    (tmp_path / "x").mkdir()
    for content, fault in (
        ("{", "cannot be used"),
        ("[]", "must hold one JSON object"),
        ("{}", "lacks kind"),
    ):
        (tmp_path / "x" / "about.json").write_text(content)
        with pytest.raises(ValueError, match=fault):
            bundled("x")
    with pytest.raises(ValueError, match="the corpus must be one of mini-gpt, x"):
        bundled("y")
