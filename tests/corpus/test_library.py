"""The shelf of corpora: what is kept, for whom, and how many."""

import json

import pytest

from minigpt.corpus import library
from minigpt.corpus.corpus import Corpus, Record, load_corpus
from minigpt.corpus.library import (
    corpora_of,
    corpus_folder,
    delete,
    keep_corpus,
    put,
    read_choices,
    read_label,
    source,
    write_choices,
)

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
        write_choices(first, BEN, {})


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


@pytest.mark.parametrize("id", ["", "..", "../x", "a/b", "/etc", "x" * 101, "a\0"])
def test_an_id_never_leads_out_of_the_shelf(id):
    with pytest.raises(ValueError, match="an id has letters"):
        corpus_folder(id, ANN)


def test_choices_and_the_corpus_stay(corpora):
    id = put(ANN, "a.txt", b"one\ntwo\n")
    assert read_choices(id, ANN) == {}
    write_choices(id, ANN, {"encoding": "gb18030", "seed": 3})
    assert read_choices(id, ANN) == {"encoding": "gb18030", "seed": 3}
    corpus = Corpus("a", (Record("1", "one\u2028\r\n"),), (Record("2", "两"),))
    path = keep_corpus(id, ANN, corpus)
    assert load_corpus(path) == corpus
    write_choices(id, ANN, {"encoding": "gb18030", "seed": 3})
    assert load_corpus(path) == corpus


def test_other_choices_make_the_corpus_anew():
    id = put(ANN, "a.txt", b"one\ntwo\n")
    path = keep_corpus(id, ANN, Corpus("a", (Record("1", "one"),)))
    write_choices(id, ANN, {"seed": 3})
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
