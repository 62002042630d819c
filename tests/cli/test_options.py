"""`train --corpus F`: every format, what was found on standard error, and no option that is ignored."""

import json
from pathlib import Path

import pytest

from minigpt.__main__ import main
from minigpt.corpus.corpus import Corpus
from minigpt.corpus.splitting import SHARE
from minigpt.training.runs.run import Run

OWN = b'{"train": ["a"], "validation": ["b"]}'
QUICK = ("--set", "steps=1", "merges=0")


def train(folder: Path, content: bytes, name: str, *arguments: str) -> int:
    """The exit code of a training of one step on a file."""
    (folder / name).write_bytes(content)
    return main(["train", "--corpus", str(folder / name), "--out", str(folder / "run"), *arguments, *QUICK])


def trained(folder: Path, content: bytes, name: str, *arguments: str) -> Corpus:
    assert train(folder, content, name, *arguments) == 0
    return Run(folder / "run").corpus()


def refused(capsys: pytest.CaptureFixture[str], folder: Path, *arguments) -> str:
    """The last line of a refusal, before any run folder was made."""
    assert train(folder, *arguments) == 2
    assert not (folder / "run").exists()
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.splitlines()[-1].startswith("minigpt: ")
    return captured.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("content", "name", "arguments"),
    [
        (b"one\ntwo\n", "a.txt", ()),
        ("\ufeffid,text\n1,one\n2,two\n".encode(), "a.csv", ()),
        (b"id;body\n1;one\n2;two\n", "a.csv", ("--delimiter", "semicolon", "--column", "body")),
        (b'{"text": "one"}\n"two"\n', "a.jsonl", ()),
        (b'["one", {"text": "two"}]', "a.json", ()),
        (b'{"train": ["one", "two"]}', "a.json", ()),
        ("one\ntwo\n".encode("utf-16"), "a.log", ("--format", "txt", "--encoding", "utf-16")),
    ],
)
def test_each_format(tmp_path: Path, content: bytes, name: str, arguments: tuple[str, ...]):
    corpus = trained(tmp_path, content, name, *arguments)
    assert [record.text for record in corpus.train] == ["one", "two"]
    assert (corpus.name, corpus.validation) == ("a", ())


def test_what_was_found_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    content = "".join(f"line {i % 10}\r\n" for i in range(100)) + "\r\n \r\n"
    corpus = trained(tmp_path, content.encode(), "a.txt", "--split-seed", "4", "--json")
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "a.txt: 100 of 102 records usable (txt, utf-8, 805 bytes)",
        "  2 empty records skipped: line 101, line 102",
        "  line ends: 102 CR LF",
        "split with seed 4: 90 training and 10 validation records, 90 duplicates grouped",
    ]
    assert [json.loads(line)["step"] for line in captured.out.splitlines()] == [0, 1]
    assert not {r.text for r in corpus.train} & {r.text for r in corpus.validation}
    assert len(corpus.validation) == SHARE * 100


def test_share_seed_and_duplicates(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    content = b"".join(b"line %d\n" % (i % 10) for i in range(20))
    options = ("--validation-share", "0.4", "--split-seed", "1", "--duplicates", "apart", "--exact-duplicates")
    corpus = trained(tmp_path, content, "a.txt", *options)
    assert (len(corpus.train), len(corpus.validation)) == (12, 8)
    assert f"warning: {len(corpus.leaked)} validation records also in training" in capsys.readouterr().err


def test_one_continuous_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    content = b"some words\n" * 100
    sentence = refused(capsys, tmp_path, content, "a.txt", "--continuous")
    assert sentence.endswith("is 64 (records that are too long: 2); set context_length=991 or mode=windows")
    file, run = str(tmp_path / "a.txt"), str(tmp_path / "run")
    assert main(["train", "--corpus", file, "--continuous", "--out", run, *QUICK, "mode=windows"]) == 0
    corpus = Run(run).corpus()
    assert corpus.train[0].text + corpus.validation[0].text == content.decode()
    assert "after 990 of 1,100 characters, at line 91. The cut is between two lines." in capsys.readouterr().err


def test_a_file_of_the_own_format_can_be_split_anew(tmp_path: Path):
    content = json.dumps({"train": list("abcdefgh"), "validation": ["i", "a"]}).encode()
    corpus = trained(tmp_path, content, "own.json", "--split-anew", "--validation-share", "0.3")
    assert (len(corpus.validation), corpus.leaked) == (3, ())


def test_records_at_fault_need_agreement(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    content = b'"one"\n5\n"two"\n'
    assert refused(capsys, tmp_path, content, "a.jsonl") == (
        "minigpt: a.jsonl, line 2: it must be a text or an object with 'text', got 5; "
        "fix the file, or agree to go on without this record (--skip-faults)"
    )
    corpus = trained(tmp_path, content, "a.jsonl", "--skip-faults")
    assert [record.text for record in corpus.train] == ["one", "two"]
    assert "  1 record at fault left out" in capsys.readouterr().err


def test_a_run_resumes_on_the_same_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    content = b"".join(b"line %d\n" % i for i in range(20))
    trained(tmp_path, content, "a.txt", "--split-seed", "1")
    assert train(tmp_path, content, "a.txt", "--split-seed", "1", "--resume") == 0
    assert train(tmp_path, content, "a.txt", "--split-seed", "2", "--resume") == 2
    assert "cannot be resumed as another run: it has corpus hash" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "name", "arguments", "sentence"),
    [
        (b"caf\xe9", "a.txt", (), "0xE9 at byte 3. It looks like cp1252 or latin-1. Choose its encoding (--encoding)"),
        (b"id,content\n1,x\n", "a.csv", (), "a.csv: column 'text' not found; columns: id, content (--column)"),
        (b"", "a.txt", (), "a.txt has no usable records: it is empty (0 bytes)"),
        (b" \n\n", "a.txt", (), "a.txt has no usable records: it holds only white space"),
        (b"a", "a.md", (), "the name of a.md does not tell its format"),
        (b"a", "a.txt", ("--column", "text"), "column is for csv, jsonl, json files, and a.txt is read as txt"),
        (b"text\na\n", "a.csv", ("--continuous",), "continuous is for txt files, and a.csv is read as csv"),
        (b"a", "a.txt", ("--continuous", "--split-seed", "1"), "--split-seed does not apply to a continuous text"),
        (b"a", "a.txt", ("--split-anew",), "--split-anew does not apply to a.txt, which does not have its own split"),
        (OWN, "a.json", ("--split-seed", "1"), "--split-seed does not apply to a.json, which has its own split"),
        (OWN, "a.json", ("--validation-share", "0.1"), "a.json brings its own validation records (1)"),
        (b"a\nb", "a.txt", ("--validation-share", "1"), "the share of validation records must be a finite number"),
        (b"a\nb", "a.txt", ("--split-seed", "-1"), "the seed of the split must be a whole number from 0"),
        (b"a\nb", "a.txt", ("--duplicates", "some"), "duplicates must be one of together, drop, apart, got 'some'"),
        (b"a\nb", "a.txt", ("--encoding", "x"), "encoding must be one of utf-8, utf-16"),
        (b"a\n" + b"b" * 64 + b"\n" + b"c" * 70, "a.txt", (), "record line-3 needs 71 positions (BOS and 70 tokens)"),
    ],
)
def test_refusals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, name: str, arguments: tuple, sentence: str
):
    assert sentence in refused(capsys, tmp_path, content, name, *arguments)


@pytest.mark.parametrize(
    "option", [("--column", "a"), ("--encoding", "utf-8"), ("--continuous",), ("--split-seed", "0"), ("--skip-faults",)]
)
def test_options_without_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, ...]):
    assert main(["train", "--out", str(tmp_path / "run"), *option]) == 2
    assert capsys.readouterr().err == f"minigpt: {option[0]} needs --corpus\n"
