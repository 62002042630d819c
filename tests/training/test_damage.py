"""Damaged files of one run end that run with a sentence that names the file; the trainer and the other runs go on."""

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from minigpt.corpus.corpus import Corpus, Record
from minigpt.model.checkpoints import packed
from minigpt.presets import configured, preset
from minigpt.training.loop import Training
from minigpt.training.runs.create import lay_out, prepare, resume_run
from minigpt.training.runs.resume import restore
from minigpt.training.runs.run import Run
from minigpt.training.server.client import Trainer
from minigpt.training.server.scheduler import Scheduler

SMALL = configured(
    preset("mg-1"), {"merges": "2", "width": "8", "ffn_width": "8", "context_length": "16", "evaluate_every": "5"}
)
CORPUS = Corpus("fruit", (Record("t1", "a red pear"), Record("t2", "green fig")), (Record("v", "a red fig"),))


def small_run(folder: Path, **changes) -> Run:
    return lay_out(folder, SMALL, CORPUS, replace(SMALL.training, **{"steps": 20} | changes))


def begun_run(folder: Path) -> Run:
    """A run that was stopped after a few steps, and has a resume state."""
    run = small_run(folder)
    rows = run.record(resume_run(run.folder)[1])
    for _ in range(8):
        next(rows)
    rows.close()
    return run


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> bytes:
    """metrics.jsonl of the sound run by itself."""
    run = small_run(tmp_path_factory.mktemp("alone") / "run", batch_seed=5)
    list(run.record(resume_run(run.folder)[1]))
    return (run.folder / "metrics.jsonl").read_bytes()


@pytest.fixture
def scheduler(monkeypatch) -> Iterator[Scheduler]:
    monkeypatch.setattr("minigpt.training.server.scheduler.ANSWER_SECONDS", 60)
    scheduler = Scheduler(lambda standing: None)
    yield scheduler
    scheduler.close()


def do(scheduler: Scheduler, command: str, run: Run) -> dict:
    return scheduler.answer({"command": command, "run": str(run.folder)})


def work_off(scheduler: Scheduler) -> None:
    while scheduler.wait() is not None:
        scheduler.work()


def flipped(content: bytes, byte: int, bit: int = 0) -> bytes:
    changed = bytearray(content)
    changed[byte] ^= 1 << bit
    return bytes(changed)


def tensors_changed(path: Path, change: Callable[[dict], dict], progress: dict | None = None) -> bytes:
    """The file with other tensors, or another progress in its metadata."""
    with safe_open(path, framework="pt") as file:
        about, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}
    about["progress"] = json.dumps(json.loads(about["progress"]) | (progress or {}))
    return packed(change(tensors), about)


def in_header(word: bytes, bit: int) -> Callable[[Path], bytes]:
    """Flips a bit in the first byte of `word`."""
    return lambda path: flipped(path.read_bytes(), path.read_bytes().index(word), bit)


def with_tensor(name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Path], bytes]:
    return lambda path: tensors_changed(path, lambda found: found | {name: change(found[name])})


def with_progress(**progress) -> Callable[[Path], bytes]:
    return lambda path: tensors_changed(path, dict, progress)


TABLE = "model.token_embedding"
LENGTHS = {"metrics.jsonl": 3, "timing.jsonl": 0, "samples.jsonl": 0}
RESUME = {
    "length field, low bit": lambda path: flipped(path.read_bytes(), 0),
    "length field, high bit": lambda path: flipped(path.read_bytes(), 7, 7),
    "first brace": lambda path: flipped(path.read_bytes(), 8),
    "not UTF-8": in_header(b"model.token", 7),
    "another tensor name": in_header(b"model.token", 0),
    "another dtype": in_header(b"F64", 1),
    "no dtype": in_header(b"F64", 0),
    "another offset": in_header(b"0,", 0),
    "another settings name": in_header(b"width", 0),
    "another metadata name": in_header(b"progress", 0),
    "cut in the header": lambda path: path.read_bytes()[:100],
    "cut in the numbers": lambda path: path.read_bytes()[:-8],
    "empty": lambda path: b"",
    "a tensor is missing": lambda path: tensors_changed(
        path, lambda found: {name: tensor for name, tensor in found.items() if name != TABLE}
    ),
    "a tensor too many": lambda path: tensors_changed(path, lambda found: found | {"more": torch.zeros(2)}),
    "wrong dtype": with_tensor(TABLE, lambda tensor: tensor.float()),
    "integers": with_tensor(TABLE, lambda tensor: tensor.long()),
    "wrong shape": with_tensor(TABLE, lambda tensor: tensor.T.contiguous()),
    "a shape that would be repeated": with_tensor(TABLE, lambda tensor: tensor[:1].contiguous()),
    "a generator of zeros": with_tensor("generator.batches", torch.zeros_like),
    "a short generator": with_tensor("generator.dropout", lambda tensor: tensor[:10].contiguous()),
    "step as text": with_progress(step="7"),
    "step beyond the last": with_progress(step=10**9),
    "step below 0": with_progress(step=-3),
    "evaluated after the step": with_progress(evaluated=19),
    "best as a list": with_progress(best=[]),
    "no seconds": with_progress(seconds=None),
    "lengths as a list": with_progress(lengths=[1, 2]),
    "lengths as text": with_progress(lengths=dict.fromkeys(LENGTHS, "x")),
    "a length is missing": with_progress(lengths={"metrics.jsonl": 3}),
    "a length below 0": with_progress(lengths=LENGTHS | {"metrics.jsonl": -1}),
}


@pytest.mark.parametrize("kind", RESUME)
def test_a_damaged_resume_state_ends_its_run_only(scheduler, tmp_path, alone, kind):
    damaged, sound = begun_run(tmp_path / "damaged"), small_run(tmp_path / "sound", batch_seed=5)
    path = damaged.folder / "resume.safetensors"
    path.write_bytes(RESUME[kind](path))
    before = {file.name: file.read_bytes() for file in damaged.folder.glob("*.jsonl")}
    do(scheduler, "start", sound)
    assert str(path) in do(scheduler, "start", damaged)["error"]
    work_off(scheduler)
    standing = do(scheduler, "status", damaged)
    assert standing["status"] == "failed"
    assert str(path) in standing["reason"] and "unexpected error" not in standing["reason"]
    assert {file.name: file.read_bytes() for file in damaged.folder.glob("*.jsonl")} == before
    assert sound.status == "finished"
    assert (sound.folder / "metrics.jsonl").read_bytes() == alone


def test_any_bit_of_the_header_is_refused_by_name_or_does_no_harm(tmp_path):
    run = begun_run(tmp_path / "run")
    path, training, chance = run.folder / "resume.safetensors", prepare(run), random.Random(4)
    content = path.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    refused = 0
    for byte in [*range(8), *chance.sample(range(8, header), 300)]:
        path.write_bytes(flipped(content, byte, chance.randrange(8)))
        try:
            restore(run.folder, run.info, training)
        except ValueError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > 295, "only the digits of a number can change and still be read"


JSON_FAULTS = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "not UTF-8": lambda content: b"\xff" + content,
    "zeros": lambda content: bytes(len(content)),
    "nested": lambda content: b"[" * 200_000,
    "a list": lambda content: b"[1, 2]",
    "no keys": lambda content: b"{}",
    "null for each": lambda content: json.dumps(dict.fromkeys(json.loads(content))).encode(),
    "a list for each": lambda content: json.dumps(dict.fromkeys(json.loads(content), [[]])).encode(),
    "a number for each": lambda content: json.dumps(dict.fromkeys(json.loads(content), 1e300)).encode(),
}


@pytest.mark.parametrize("name", ["run.json", "corpus.json", "tokenizer.json"])
@pytest.mark.parametrize("kind", JSON_FAULTS)
def test_a_damaged_json_file_ends_its_run_only(scheduler, tmp_path, alone, name, kind):
    damaged, sound = begun_run(tmp_path / "damaged"), small_run(tmp_path / "sound", batch_seed=5)
    path = damaged.folder / name
    path.write_bytes(JSON_FAULTS[kind](path.read_bytes()))
    do(scheduler, "start", sound)
    error = do(scheduler, "start", damaged)["error"]
    assert str(path) in error and "unexpected error" not in error
    work_off(scheduler)
    assert sound.status == "finished"
    assert (sound.folder / "metrics.jsonl").read_bytes() == alone


def changed_run_json(folder: Path, **changes) -> None:
    content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    content["model"] |= changes.pop("model", {})
    (folder / "run.json").write_text(json.dumps(content | changes), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": "runnjng"}, "run.json is damaged: status must be one of created, queued"),
        ({"status": ["running"]}, "run.json is damaged: status must be one of created, queued"),
        ({"reason": 5}, "run.json is damaged: reason must be text, got 5"),
        ({"model": {"width": "8"}}, "run.json is damaged: width must be a whole number"),
        ({"model": {"context_length": 10**12}}, "run.json: this model has .* parameters, at most 500,000,000"),
        ({"model": {"vocab_size": 200}}, "tokenizer.json has 261 ids, run.json says 200"),
    ],
)
def test_values_of_run_json_are_checked_before_memory_is_taken(tmp_path, changes, sentence):
    run = small_run(tmp_path / "run")
    changed_run_json(run.folder, **changes)
    with pytest.raises(ValueError, match=sentence):
        resume_run(run.folder)


def test_a_whole_number_too_large_for_torch_is_read_as_a_float(tmp_path):
    run = small_run(tmp_path / "run")
    changed_run_json(run.folder, model={"init_std": 10**30})
    assert resume_run(run.folder)[1].step == 0


def test_an_absurdly_large_file_is_not_read(tmp_path):
    for name in ("run.json", "tokenizer.json"):
        run = small_run(tmp_path / name)
        os.truncate(run.folder / name, 2**40)
        with pytest.raises(ValueError, match=rf"{name} .*1,099,511,627,776 bytes, at most 67,108,864"):
            resume_run(run.folder)


@pytest.mark.parametrize("name", ["metrics.jsonl", "timing.jsonl"])
def test_growing_files_that_lost_lines_are_not_continued(scheduler, tmp_path, name):
    run = begun_run(tmp_path / "run")
    path = run.folder / name
    os.truncate(path, path.stat().st_size - 9)
    assert f"{path} is damaged: it has" in do(scheduler, "start", run)["error"]
    path.unlink()
    assert f"{path} is damaged: it has 0 bytes" in do(scheduler, "start", run)["error"]


def test_growing_files_are_cut_at_the_end_of_a_line_only(scheduler, tmp_path):
    run = begun_run(tmp_path / "run")
    path = run.folder / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-1] + b"\x8a")
    assert f"{path} is damaged: no line ends at byte" in do(scheduler, "start", run)["error"]


@pytest.mark.parametrize("line", [b"\xff\xfe", b"{", b"5", b"[" * 100_000], ids=["bytes", "torn", "number", "nested"])
def test_readers_of_a_damaged_line_name_the_file(tmp_path, line):
    run = begun_run(tmp_path / "run")
    path = run.folder / "metrics.jsonl"
    path.write_bytes(line + b"\n" + path.read_bytes())
    with pytest.raises(ValueError, match="metrics.jsonl is damaged"):
        run.metrics()


def test_run_json_damaged_while_the_run_steps(scheduler, tmp_path, alone):
    damaged, sound = small_run(tmp_path / "damaged", steps=100_000), small_run(tmp_path / "sound", batch_seed=5)
    do(scheduler, "start", damaged)
    do(scheduler, "start", sound)
    (damaged.folder / "run.json").write_bytes(b"\xff")
    do(scheduler, "pause", damaged)
    assert str(damaged.folder / "run.json") in scheduler.ended[damaged.folder].reason
    work_off(scheduler)
    assert (sound.folder / "metrics.jsonl").read_bytes() == alone


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["stop", "pause"])
def test_a_full_disk_at_the_end_of_a_run(scheduler, tmp_path, command):
    run = small_run(tmp_path / "run", steps=100_000)
    do(scheduler, "start", run)
    files = scheduler.runs[run.folder].writer.files
    with Path("/dev/full").open("w") as device:
        files["timing.jsonl"].close()
        files["timing.jsonl"] = device
        do(scheduler, command, run)
    assert "No space left on device" in scheduler.ended[run.folder].reason


def test_an_error_that_nobody_foresaw_ends_its_run_only(scheduler, tmp_path, alone, monkeypatch, caplog):
    odd, sound = small_run(tmp_path / "odd", steps=1000), small_run(tmp_path / "sound", batch_seed=5)
    advance = Training.advance

    def stumbling(training: Training):
        if training.config.steps == 1000 and training.step == 3:
            raise KeyError("width")
        return advance(training)

    monkeypatch.setattr(Training, "advance", stumbling)
    do(scheduler, "start", odd)
    do(scheduler, "start", sound)
    work_off(scheduler)
    sentence = "the training ended with an unexpected error: KeyError: 'width'"
    assert (odd.status, odd.info.reason) == ("failed", sentence)
    assert f"unexpected error in the run {odd.folder}" in caplog.text and "Traceback" in caplog.text
    assert (sound.folder / "metrics.jsonl").read_bytes() == alone


def test_an_error_that_nobody_foresaw_in_a_command_is_its_answer(scheduler, tmp_path, monkeypatch, caplog):
    run = small_run(tmp_path / "run")
    monkeypatch.setattr(Scheduler, "_status", lambda *_: {}["width"])
    assert do(scheduler, "status", run)["error"] == "the command failed with an unexpected error: KeyError: 'width'"
    assert "Traceback" in caplog.text


def test_the_process_outlives_damaged_runs(tmp_path, alone):
    trainer = Trainer()
    try:
        trainer.ask("status", small_run(tmp_path / "first").folder)
        pid, sound = trainer.pid, small_run(tmp_path / "sound", batch_seed=5)
        damaged = [begun_run(tmp_path / f"damaged-{i}") for i in range(4)]
        kinds = ("another tensor name", "another dtype", "cut in the header", "wrong shape")
        for run, kind in zip(damaged, kinds, strict=True):
            path = run.folder / "resume.safetensors"
            path.write_bytes(RESUME[kind](path))
        trainer.ask("start", sound.folder, speed=20)
        for run in damaged:
            try:
                trainer.ask("start", run.folder)
            except ValueError as error:
                assert "resume.safetensors" in str(error)
        deadline = time.monotonic() + 120
        while sound.status != "finished" or any(trainer.state(run.folder).status != "failed" for run in damaged):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        for run in damaged:
            assert str(run.folder / "resume.safetensors") in trainer.state(run.folder).reason
        assert (trainer.pid, trainer.ask("status", sound.folder).status) == (pid, "finished")
        assert (sound.folder / "metrics.jsonl").read_bytes() == alone
    finally:
        trainer.close()
