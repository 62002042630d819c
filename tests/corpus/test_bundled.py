"""The corpora that the project ships: each is whole, and none leaks."""

import json

import pytest

from minigpt.corpus import bundled as shipped
from minigpt.corpus.bundled import bundled, bundled_keys
from minigpt.corpus.corpus import bundled_corpus


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
    monkeypatch.setattr(shipped, "DATA", tmp_path)
    (tmp_path / "lines").mkdir()
    about = {"name": "Lines", "about": "Two.", "kind": "records", "file": "a.txt"}
    (tmp_path / "lines" / "about.json").write_text(json.dumps(about))
    (tmp_path / "lines" / "a.txt").write_text("".join(f"line {i}\n" for i in range(20)))
    corpus = bundled("lines").corpus()
    assert (corpus.name, len(corpus.train), len(corpus.validation)) == ("lines", 18, 2)
    (tmp_path / "lines" / "about.json").write_text(json.dumps(about | {"kind": "continuous"}))
    assert len(bundled("lines").corpus().train) == 1


def test_faults_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "DATA", tmp_path)
    (tmp_path / "x").mkdir()
    for content, fault in (("{", "is not JSON"), ("[]", "must hold an object"), ("{}", "lacks 'kind'")):
        (tmp_path / "x" / "about.json").write_text(content)
        with pytest.raises(ValueError, match=fault):
            bundled("x")
    with pytest.raises(ValueError, match="the corpus must be one of mini-gpt, x"):
        bundled("y")
