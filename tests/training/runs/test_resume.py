"""A run that was stopped, killed or cut off goes on as if nothing had happened, and has one writer."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from minigpt.__main__ import main
from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig
from minigpt.corpus.corpus import Corpus, Record
from minigpt.presets import Preset
from minigpt.storage.lock import FolderLock, is_held
from minigpt.training.runs import run_writer
from minigpt.training.runs.create import new_run, resume_run
from minigpt.training.runs.run import Run
from minigpt.training.runs.run_writer import RunWriteError

STEPS = 90
TINY = Preset(
    name="mg-1",
    about="everything that a resume must restore is switched on",
    to_try="",
    tokenizer=TokenizerConfig(merges=4),
    model=ModelConfig(
        vocab_size=263, context_length=24, width=8, heads=2, layers=1, ffn_width=16, dropout=0.2, dtype="float32"
    ),
    training=TrainConfig(
        steps=STEPS,
        batch_size=3,
        accumulation=2,
        optimizer="adamw",
        weight_decay=0.1,
        schedule="cosine",
        warmup_steps=9,
        clip_norm=0.5,
        evaluate_every=20,
        sample_every=15,
        sample_prompts="a red\n",
        sample_tokens=6,
    ),
)
CORPUS = Corpus(
    "fruit",
    tuple(Record(text, text) for text in ("a red apple", "a green pear", "red", "green grapes", "fig")),
    (Record("v0", "a red pear"), Record("v1", "green")),
)


def tiny_run(folder: Path, **changes):
    return new_run(folder, TINY, CORPUS, replace(TINY.training, **changes))


def results(folder: Path) -> dict[str, bytes]:
    """Every file whose content must not depend on interruptions."""
    paths = [folder / name for name in ("metrics.jsonl", "samples.jsonl", "run.json", "baselines.json")]
    return {path.name: path.read_bytes() for path in [*sorted((folder / "checkpoints").iterdir()), *paths]}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    run, training = tiny_run(folder)
    list(run.record(training))
    return folder


@pytest.mark.skipif(os.name == "nt", reason="needs fork and SIGKILL")
def test_twenty_kills_leave_no_trace(tmp_path, uninterrupted, monkeypatch):
    chance, runs = random.Random(5), [tiny_run(tmp_path / "run-0")[0]]
    monkeypatch.setattr(run_writer, "STATE_SHARE", 1e9)  # the time a state takes does not delay the next one
    for _ in range(20):
        monkeypatch.setattr(run_writer, "STATE_SECONDS", chance.choice([0.0, 0.002, 0.01]))
        kill_within(runs[-1].folder, fork_trainer(runs[-1].folder), chance.randrange(16), chance.random() * 0.01)
        if runs[-1].status == "finished":  # the kill came too late to hurt this one
            runs.append(tiny_run(tmp_path / f"run-{len(runs)}")[0])
    for run in runs:
        list(run.record(resume_run(run.folder)[1]))
        assert results(run.folder) == results(uninterrupted)
        final, expected = (load_file(path / "resume.safetensors") for path in (run.folder, uninterrupted))
        assert final.keys() == expected.keys()
        assert all(torch.equal(final[name], expected[name]) for name in final)


def fork_trainer(folder: Path) -> int:
    """The id of a child process that resumes the run in `folder`."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            run, training = resume_run(folder)
            list(run.record(training))
        os._exit(0)
    return child


def kill_within(folder: Path, child: int, states: int, delay: float) -> None:
    """SIGKILL `child` once it has written `states` resume states, and `delay` seconds later."""
    seen, path = set(), folder / "resume.safetensors"
    while len(seen) <= states and os.waitpid(child, os.WNOHANG) == (0, 0):
        with contextlib.suppress(FileNotFoundError):
            about = path.stat()
            seen.add((about.st_ino, about.st_mtime_ns))
        time.sleep(0.0005)
    if len(seen) > states:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("reports", [1, 2, 18, 19, 60, STEPS + 9, STEPS + 13])
def test_stop_after_any_report_resumes_bit_equal(tmp_path, uninterrupted, reports):
    run, training = tiny_run(tmp_path / "run")
    with contextlib.closing(run.record(training)) as rows:
        for _ in range(reports):
            next(rows)
    assert run.status == "stopped"
    run, training = resume_run(run.folder)
    list(run.record(training))
    assert results(run.folder) == results(uninterrupted)


def test_finished_run_resumes_to_nothing(tmp_path):
    run, training = tiny_run(tmp_path / "run", steps=20)
    list(run.record(training))
    before = results(run.folder)
    run, training = resume_run(run.folder)
    assert list(run.record(training)) == []
    assert results(run.folder) == before


def test_progress_after_the_state_is_cut_back(tmp_path, uninterrupted):
    run, training = tiny_run(tmp_path / "run")
    with contextlib.closing(run.record(training)) as rows:
        for _ in range(30):
            next(rows)
    step = training.step
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"step": step + 1, "loss": 1.0}) + '\n{"step": 3')
    (run.folder / "checkpoints" / f"step-{step + 4:06d}.safetensors").write_bytes(b"later")
    (run.folder / "checkpoints" / ".step-000099.safetensors.x1").write_bytes(b"torn")
    run, training = resume_run(run.folder)
    list(run.record(training))
    assert results(run.folder) == results(uninterrupted)


def test_readers_leave_a_torn_line_for_later(tmp_path):
    run, training = tiny_run(tmp_path / "run", steps=3, warmup_steps=0)
    list(run.record(training))
    rows, end = run.metrics()
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')
    assert run.metrics() == (rows, end)
    assert run.metrics(end) == ([], end)


def test_reset_gives_the_same_run_again(tmp_path, uninterrupted):
    run, training = tiny_run(tmp_path / "run")
    with contextlib.closing(run.record(training)) as rows:
        for _ in range(50):
            next(rows)
    run.reset()
    assert (run.steps, run.metrics()[0], run.status) == ((), [], "created")
    run, training = resume_run(run.folder)
    list(run.record(training))
    assert results(run.folder) == results(uninterrupted)


def test_samples_come_from_the_prompts_and_disturb_nothing(tmp_path, uninterrupted):
    samples = Run(uninterrupted).samples()
    assert [(sample.step, sample.prompt) for sample in samples[:3]] == [(0, "a red"), (0, ""), (15, "a red")]
    assert samples[-1].step == STEPS
    assert all(1 <= len(sample.ids) <= 6 and sample.stop in ("eos", "length") for sample in samples)
    silent, training = tiny_run(tmp_path / "run", sample_every=0)
    list(silent.record(training))
    assert silent.metrics() == Run(uninterrupted).metrics()
    with pytest.raises(ValueError, match="sample prompt .* needs .* the context length is 24"):
        tiny_run(tmp_path / "long", sample_prompts="no such fruit was ever seen here")
    assert not (tmp_path / "long").exists()


def test_best_validation_loss_survives(tmp_path):
    run, training = tiny_run(tmp_path / "run")
    with contextlib.closing(run.record(training)) as rows:
        for _ in range(30):
            next(rows)
    assert training.best is not None
    assert resume_run(run.folder)[1].best == training.best


@pytest.mark.parametrize(
    ("preset", "corpus", "training", "differing"),
    [
        (replace(TINY, model=replace(TINY.model, heads=4)), None, None, "heads 2, not 4"),
        (replace(TINY, tokenizer=TokenizerConfig(merges=2)), None, None, "tokenizer .*vocab_size 263, not 261"),
        (None, Corpus("other", (Record("a", "plum"),)), None, "corpus hash"),
        (None, None, replace(TINY.training, learning_rate=0.5), "learning_rate 0.01, not 0.5"),
        (None, None, replace(TINY.training, dropout_seed=8, steps=40), "steps 90, not 40; dropout_seed 7, not 8"),
    ],
)
def test_another_run_is_refused_with_the_fields(tmp_path, preset, corpus, training, differing):
    run, _ = tiny_run(tmp_path / "run")
    with pytest.raises(ValueError, match=differing):
        resume_run(run.folder, preset, corpus, training)


def test_state_of_another_run_is_refused(tmp_path, uninterrupted):
    run, _ = tiny_run(tmp_path / "run", batch_seed=3)
    (run.folder / "resume.safetensors").write_bytes((uninterrupted / "resume.safetensors").read_bytes())
    with pytest.raises(ValueError, match="belongs to another run: it has batch_seed 101, not 3"):
        resume_run(run.folder)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a state", b"\x80\x04cbuiltins\nprint\n."])
def test_damaged_state_is_refused(tmp_path, content):
    run, _ = tiny_run(tmp_path / "run")
    (run.folder / "resume.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match="resume.safetensors is damaged"):
        resume_run(run.folder)


def test_weights_are_no_resume_state(tmp_path, uninterrupted):
    run, _ = tiny_run(tmp_path / "run")
    weights = uninterrupted / "checkpoints" / "step-000001.safetensors"
    (run.folder / "resume.safetensors").write_bytes(weights.read_bytes())
    with pytest.raises(ValueError, match="not a resume state"):
        resume_run(run.folder)


def test_state_is_readable_without_pickle(uninterrupted):
    with safe_open(uninterrupted / "resume.safetensors", framework="pt") as file:
        assert json.loads(file.metadata()["progress"])["step"] == STEPS


def test_checkpoints_without_a_state_are_never_wiped(tmp_path, uninterrupted):
    run, training = tiny_run(tmp_path / "run")
    old = run.folder / "checkpoints" / "step-000008.safetensors"
    old.write_bytes((uninterrupted / "checkpoints" / old.name).read_bytes())
    with pytest.raises(ValueError, match="has checkpoints but no resume"):
        next(run.record(training))
    assert old.exists()


def test_second_writer_is_refused_and_changes_nothing(tmp_path):
    run, training = tiny_run(tmp_path / "run")
    with contextlib.closing(run.record(training)) as rows:
        next(rows)
        assert is_held(run.folder)
        before = results(run.folder)
        with pytest.raises(ValueError, match=f"being written by process {os.getpid()} since"):
            next(run.record(resume_run(run.folder)[1]))
        with pytest.raises(ValueError, match="being written"):
            run.reset()
        assert results(run.folder) == before
    assert not is_held(run.folder)


def test_training_that_is_behind_the_folder_is_refused(tmp_path):
    run, training = tiny_run(tmp_path / "run", steps=5, warmup_steps=0)
    late = resume_run(run.folder)[1]
    list(run.record(training))
    with pytest.raises(ValueError, match="is at step 5, this training is at step 0"):
        next(run.record(late))


def test_lock_dies_with_its_process(tmp_path):
    (tmp_path / "run").mkdir()
    code = "import pathlib, sys, time; from minigpt.storage.lock import FolderLock\n"
    code += "lock = FolderLock(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    assert is_held(tmp_path / "run")
    with pytest.raises(ValueError, match=f"process {holder.pid} since"):
        FolderLock(tmp_path / "run")
    holder.kill()
    holder.communicate()
    FolderLock(tmp_path / "run").release()


def test_interrupted_is_told_from_running(tmp_path):
    run, training = tiny_run(tmp_path / "run", steps=5, warmup_steps=0)
    rows = run.record(training)
    next(rows)
    assert run.status == "running"
    with pytest.raises(KeyboardInterrupt):
        rows.throw(KeyboardInterrupt)
    assert (run.info.status, run.status) == ("running", "interrupted")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_one_clear_reason_and_resumable(tmp_path, uninterrupted):
    run, training = tiny_run(tmp_path / "run")
    with contextlib.closing(run.record(training)) as rows:
        for _ in range(10):
            next(rows)
    run, training = resume_run(run.folder)
    with Path("/dev/full").open("w") as full, pytest.raises(RunWriteError, match="cannot write .*: No space left on"):
        with run_writer.RunWriter(run.folder, training) as writer:
            writer.files["metrics.jsonl"].close()
            writer.files["metrics.jsonl"] = full
            for report in training.reports():
                writer.write(report)
    assert run.status == "failed"
    assert "No space left" in run.info.reason
    run, training = resume_run(run.folder)
    list(run.record(training))
    assert results(run.folder) == results(uninterrupted)


def test_deleted_folder_ends_the_run_and_is_not_made_again(tmp_path):
    run, training = tiny_run(tmp_path / "run")
    rows = run.record(training)
    next(rows)
    run.folder.rename(tmp_path / "elsewhere")
    with pytest.raises(RunWriteError, match="the run folder .* was deleted"):
        list(rows)
    assert not run.folder.exists()


def test_divergence_keeps_the_last_good_checkpoint(tmp_path):
    run, training = tiny_run(tmp_path / "run", learning_rate=1e30, warmup_steps=0, schedule="constant", clip_norm=0.0)
    with pytest.raises(ArithmeticError):
        list(run.record(training))
    assert (run.status, training.finished) == ("failed", False)
    assert f"step {training.step + 1}: loss" in run.info.reason
    assert all(tensor.isfinite().all() for tensor in run.checkpoint(0).model.state_dict().values())


def test_command_line_stops_at_a_signal_and_resumes(tmp_path, capsys):
    folder = tmp_path / "run"
    once = signal.getsignal(signal.SIGTERM)
    child = subprocess.Popen(
        [sys.executable, "-m", "minigpt", "train", "--out", str(folder), "--set", "steps=100000", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert json.loads(child.stdout.readline())["step"] == 0
    child.send_signal(signal.SIGINT)
    _, told = child.communicate()
    assert child.returncode == 130
    assert "minigpt train --resume --out" in told
    assert Run(folder).status == "stopped"
    assert main(["train", "--out", str(folder), "--resume", "--preset", "chapter-7"]) == 2
    assert "cannot be resumed as another run" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is once
