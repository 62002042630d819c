"""The command line: JSON that agrees with the library, errors of one sentence and exit code 2."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from minigpt.__main__ import main
from minigpt.inspection.sources import BUNDLED_RUN, preset_tokenizer
from minigpt.training.runs.run import Run

RED = "The key is red. Answer: red."


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints, when all is well."""
    assert main([*map(str, arguments)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_inspect_a_preset(capsys: pytest.CaptureFixture[str]):
    result = json.loads(answer(capsys, "inspect", "--preset", "mg-1", "--text", RED, "--position", "5", "--json"))
    assert len(result["ids"]) == 15
    assert result["logits"]["loss"] == pytest.approx(5.574375688, abs=1e-9)
    assert [stage["name"] for stage in result["stages"]][:3] == ["token_embedding", "position_embedding", "block_input"]


def test_inspect_for_people(capsys: pytest.CaptureFixture[str]):
    text = answer(capsys, "inspect", "--text", RED, "--position", "5")
    assert "15 positions, mean loss 5.668243668 nats" in text
    assert "block 0 head 0 weights 0.166037 0.165782 0.166257 0.167163 0.167125 0.167636" in text
    assert "target red logit 0.099150463, probability 0.003793843, loss 5.574375688 nats" in text
    assert "block 0  ffn_relu" in text and "0.183987 0.108629 0.000000" in text


def test_inspect_a_step_of_a_run(capsys: pytest.CaptureFixture[str]):
    losses = {}
    for step in (0, 300):
        options = ("--run", BUNDLED_RUN, "--step", step, "--text", RED, "--position", 5, "--json")
        losses[step] = json.loads(answer(capsys, "inspect", *options))["logits"]["loss"]
    assert losses[0] == pytest.approx(5.574375688, abs=1e-9)
    assert losses[300] < 2
    last = json.loads(answer(capsys, "inspect", "--run", BUNDLED_RUN, "--text", RED, "--json"))
    same = json.loads(answer(capsys, "inspect", "--run", BUNDLED_RUN, "--step", 600, "--text", RED, "--json"))
    assert last == same
    assert (last["position"], last["ids"][0]) == (0, 256)


def test_tokenize(capsys: pytest.CaptureFixture[str]):
    text = "The key · <|eos|>\n法"
    result = json.loads(answer(capsys, "tokenize", "--text", text, "--json"))
    tokenizer = preset_tokenizer("mg-1")
    assert result["ids"] == tokenizer.encode(text)
    assert bytes.fromhex("".join(result["bytes"])).decode() == result["text"] == text
    assert result["pieces"] == [tokenizer.piece_label(id) for id in result["ids"]]
    assert result["merges"][-1]["ids"] == result["ids"]
    assert (result["vocab_size"], result["fingerprint"]) == (291, tokenizer.fingerprint)
    lines = answer(capsys, "tokenize", "--text", text).splitlines()
    assert len(lines) == len(result["ids"]) + 1
    assert lines[-1].startswith(f"{len(result['ids'])} tokens by {len(result['merges'])} merges")
    assert lines[1].split() == ["265", tokenizer.piece_label(265), "68", "65", "20"]


def test_train_then_inspect(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "run"
    options = ("train", "--out", folder, "--set", "steps=4", "batch_size=2", "evaluate_every=2", "--json")
    rows = [json.loads(line) for line in answer(capsys, *options).splitlines()]
    assert [row["step"] for row in rows] == [0, 2, 4]
    assert rows[0]["train_loss"] == pytest.approx(5.676925458761126, abs=1e-9)
    assert rows[2]["validation_loss"] < rows[0]["validation_loss"]
    run = Run(folder)
    assert (run.info.status, run.steps, run.info.training.batch_size) == ("finished", (0, 1, 2, 4), 2)
    assert [vars(row) | {"best": None} for row in run.evaluations()] == [row | {"best": None} for row in rows]
    assert "ids" in json.loads(answer(capsys, "inspect", "--run", folder, "--text", "red", "--json"))


def test_train_for_people_on_an_own_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = tmp_path / "mine.json"
    corpus.write_text(json.dumps({"train": ["one", "two"]}), encoding="utf-8")
    options = ("train", "--corpus", corpus, "--out", tmp_path / "run", "--set", "steps=1")
    assert main([*map(str, options)]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].startswith("step      0  train 5.") and lines[0].endswith("validation not available")
    assert captured.err.splitlines()[0] == "mine.json: 2 records (corpus, utf-8, 25 bytes)"
    assert Run(tmp_path / "run").info.corpus == "mine"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("inspect", "--text", ""), "record 1 is empty; type at least one character"),
        (("inspect", "--text", "q" * 64), "needs 65 positions (BOS and 64 tokens), the context length is 64"),
        (("inspect", "--text", "q", "--position", "2"), "position must be 0 to 1 in this record, got 2"),
        (("inspect", "--text", "q", "--preset", "gpt-5"), "preset must be one of mg-1, chapter-7"),
        (("inspect", "--text", "q", "--step", "3"), "--step needs --run"),
        (("inspect", "--text", "q", "--run", BUNDLED_RUN, "--step", "3"), "has no checkpoint of step 3; saved: 0, 1"),
        (("inspect", "--text", "q", "--run", "no-such-folder"), "no-such-folder is not a run folder"),
        (("inspect", "--text", "\udce9"), "an unpaired surrogate, U+DCE9 at index 0"),
        (("tokenize", "--text", "q" * 200_001), "the text has 200,001 characters, at most 200,000 are allowed"),
        (("train", "--out", "x", "--set", "steps"), "--set takes NAME=VALUE, got 'steps'"),
        (("train", "--out", "x", "--set", "stepz=1"), "stepz"),
        (("train", "--out", "x", "--set", "steps=many"), "steps must be a whole number, got 'many'"),
        (("train", "--out", "x", "--set", "learning_rate=-1"), "learning_rate must be a finite number above 0, got -1"),
        (("train", "--out", "x", "--corpus", "none.json"), "there is no corpus file none.json"),
        (("train", "--out", BUNDLED_RUN), "exists and is not empty; choose another folder"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple, sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert main([*map(str, arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("minigpt: ") and sentence in captured.err
    assert captured.err.count("\n") == 1 and captured.err.endswith("\n")
    assert list(tmp_path.iterdir()) == []


def test_divergence_is_one_sentence_after_the_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    options = ("train", "--out", tmp_path / "run", "--set", "learning_rate=1e160", "steps=9", "--json")
    assert main([*map(str, options)]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out.splitlines()[0])["step"] == 0
    assert captured.err.startswith("minigpt: step ") and captured.err.count("\n") == 1
    assert Run(tmp_path / "run").info.status == "failed"


@pytest.mark.parametrize("arguments", [(), ("dance",), ("inspect",), ("train",), ("inspect", "--text", "a", "--x")])
def test_wrong_usage(arguments: tuple, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main([*arguments])
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("usage: python -m minigpt")


# True processes.


def run(root: Path, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=root, capture_output=True, text=True, timeout=300, check=False, **options
    )


def test_help(root: Path):
    done = run(root, "-m", "minigpt", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(command in done.stdout for command in ("inspect", "tokenize", "train"))


def test_exit_code_and_streams_of_a_process(root: Path):
    done = run(root, "-m", "minigpt", "inspect", "--text", "red", "--position", "99", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "minigpt: position must be 0 to 1 in this record, got 99\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes end differently there")
def test_a_reader_that_leaves_is_no_error(root: Path):
    """As in `python -m minigpt tokenize ... | head -1`: silent, and no exit code of bad input."""
    command = [sys.executable, "-m", "minigpt", "tokenize", "--json", "--text", "x" * 100_000]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        error = process.stderr.read()
    assert error == b""
    assert process.returncode in (1, -signal.SIGPIPE)


IMPORTS = """
import sys
import minigpt
assert not {"torch", "numpy"} & set(sys.modules), "import minigpt"
import minigpt.__main__
assert not {"torch", "numpy"} & set(sys.modules), "import minigpt.__main__"
from minigpt.__main__ import main
assert main(["inspect", "--text", "red", "--json"]) == 0
assert "torch" in sys.modules
print(sorted({"streamlit", "plotly", "pandas", "tokenizers", "transformers"} & set(sys.modules)), file=sys.stderr)
"""


def test_a_fresh_interpreter_loads_no_interface(root: Path):
    done = run(root, "-c", IMPORTS)
    assert (done.returncode, done.stderr) == (0, "[]\n")
