"""The scheduler that shares a process among runs, and the real process behind its client."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from minigpt.corpus.baselines import ngram_baselines
from minigpt.corpus.corpus import Corpus, Record
from minigpt.presets import configured, preset
from minigpt.storage.lock import is_held
from minigpt.storage.paths import ROOT
from minigpt.training.runs.create import lay_out, resume_run
from minigpt.training.runs.run import Run
from minigpt.training.runs.run_writer import RunWriteError, RunWriter
from minigpt.training.server.client import Trainer
from minigpt.training.server.process import serve
from minigpt.training.server.scheduler import Scheduler

SMALL = configured(
    preset("mg-1"), {"merges": "2", "width": "8", "ffn_width": "8", "context_length": "16", "evaluate_every": "5"}
)
CORPUS = Corpus("fruit", (Record("t1", "a red pear"), Record("t2", "green fig")), (Record("v", "a red fig"),))


def small_run(folder: Path, **changes) -> Run:
    return lay_out(folder, SMALL, CORPUS, replace(SMALL.training, **{"steps": 20} | changes))


@pytest.fixture
def scheduler(monkeypatch):
    monkeypatch.setattr(
        "minigpt.training.server.scheduler.ANSWER_SECONDS", 60
    )  # answers show the new state on a slow machine too
    told = []
    scheduler = Scheduler(told.append)
    scheduler.told = told
    yield scheduler
    scheduler.close()


def do(scheduler: Scheduler, command: str, run: Run, **values) -> dict:
    return scheduler.answer({"command": command, "run": str(run.folder)} | values)


def work_off(scheduler: Scheduler) -> None:
    """Work until nothing is left to do; slow motion does not wait."""
    while scheduler.wait() is not None:
        for held in scheduler.runs.values():
            held.due = 0.0
        scheduler.work()


def expected(tmp_path: Path, **changes) -> bytes:
    """metrics.jsonl of the same run by itself."""
    run = small_run(tmp_path / "alone", **changes)
    list(run.record(resume_run(run.folder)[1]))
    return (run.folder / "metrics.jsonl").read_bytes()


def test_runs_side_by_side_end_as_they_would_alone(scheduler, tmp_path):
    runs = [small_run(tmp_path / f"run-{i}", batch_seed=i) for i in range(3)]
    for run in runs:
        assert do(scheduler, "start", run)["status"] in ("running", "finished")
    work_off(scheduler)
    for i, run in enumerate(runs):
        assert (run.status, is_held(run.folder)) == ("finished", False)
        assert (run.folder / "metrics.jsonl").read_bytes() == expected(tmp_path / f"{i}", batch_seed=i)


def test_baselines_are_counted_beside_the_first_steps(scheduler, tmp_path):
    run = small_run(tmp_path / "run", steps=2000)
    do(scheduler, "start", run)
    while scheduler.counting:
        scheduler.work()
    assert run.baselines() == ngram_baselines(*_splits(run), run.info.model.vocab_size)
    assert run.status == "running"


def test_a_run_whose_baselines_cannot_be_written_fails_with_the_reason(scheduler, tmp_path, monkeypatch):
    def refuse(recorder):
        raise RunWriteError("cannot write in the run folder: No space left on device")

    monkeypatch.setattr(RunWriter, "write_baselines", refuse)
    run = small_run(tmp_path / "run", steps=2000)
    do(scheduler, "start", run)
    work_off(scheduler)
    assert (run.status, run.info.reason) == ("failed", "cannot write in the run folder: No space left on device")


def _splits(run: Run) -> tuple:
    training = resume_run(run.folder)[1]
    return training.train, training.validation


def test_pause_step_play_change_no_number(scheduler, tmp_path):
    run = small_run(tmp_path / "run")
    assert do(scheduler, "step", run) | {"run": ""} == {
        "run": "",
        "status": "paused",
        "step": 1,
        "place": 0,
        "reason": "",
    }
    assert do(scheduler, "step", run)["step"] == 2
    assert (run.status, run.metrics()[0][-1]["step"]) == ("paused", 2)
    assert do(scheduler, "play", run, speed=50)["status"] == "running"
    scheduler.work()
    step = do(scheduler, "pause", run)["step"]
    assert 2 <= step < 20
    assert do(scheduler, "speed", run, speed=0)["status"] == "paused"
    do(scheduler, "play", run)
    work_off(scheduler)
    assert (run.folder / "metrics.jsonl").read_bytes() == expected(tmp_path)


def test_step_tells_batch_norms_and_moves(scheduler, tmp_path):
    run = small_run(tmp_path / "run")
    do(scheduler, "step", run)
    details = json.loads((run.folder / "details.json").read_text())
    row = next(row for row in run.metrics()[0] if "records" in row)
    assert {name: details[name] for name in row} == row
    moved = [move["moved"] for move in details["moves"]]
    assert moved == sorted(moved, reverse=True)
    assert moved[0] > 0
    assert {move["component"] for move in details["moves"]} == set(details["group_norms"])


def test_step_onto_an_evaluation_shows_it_and_the_last_one_finishes(scheduler, tmp_path):
    run = small_run(tmp_path / "run", steps=5)
    for _ in range(4):
        do(scheduler, "step", run)
    assert do(scheduler, "step", run)["step"] == 5
    assert [row.step for row in run.evaluations()] == [0, 5]
    assert run.status == "finished"
    assert "is finished; reset it" in do(scheduler, "start", run)["error"]


def test_stop_leaves_a_run_that_starts_again_where_it_was(scheduler, tmp_path):
    run = small_run(tmp_path / "run")
    do(scheduler, "step", run)
    assert do(scheduler, "stop", run)["status"] == "stopped"
    assert not is_held(run.folder)
    assert do(scheduler, "step", run)["step"] == 2
    do(scheduler, "start", run)
    work_off(scheduler)
    assert (run.folder / "metrics.jsonl").read_bytes() == expected(tmp_path)


def test_reset_starts_over_from_the_same_weights(scheduler, tmp_path):
    run = small_run(tmp_path / "run")
    do(scheduler, "step", run)
    first = run.metrics()[0]
    assert do(scheduler, "reset", run)["status"] == "created"
    assert (run.metrics()[0], run.steps) == ([], ())
    do(scheduler, "step", run)
    assert run.metrics()[0] == first


def test_runs_beyond_the_limit_wait_and_say_their_place(scheduler, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGPT_RUNS_AT_ONCE", "1")
    runs = [small_run(tmp_path / f"run-{i}", steps=2000) for i in range(3)]
    standings = [do(scheduler, "start", run) for run in runs]
    assert [(standing["status"], standing["place"]) for standing in standings] == [
        ("running", 0),
        ("queued", 1),
        ("queued", 2),
    ]
    do(scheduler, "stop", runs[1])
    assert do(scheduler, "status", runs[2])["place"] == 1
    do(scheduler, "pause", runs[0])
    scheduler.work()
    assert do(scheduler, "play", runs[0])["place"] == 1, "who comes back waits behind those who came before"
    assert do(scheduler, "status", runs[2])["status"] in ("loading", "running")


def test_paused_runs_do_not_pile_up_in_memory(scheduler, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGPT_RUNS_PAUSED", "1")
    runs = [small_run(tmp_path / f"run-{i}") for i in range(2)]
    for run in runs:
        do(scheduler, "step", run)
    assert [run.status for run in runs] == ["stopped", "paused"]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ({"command": "dance", "run": "x"}, "command must be one of start, play"),
        ({"command": "start"}, "needs the run folder as text, got None"),
        ({"command": "start", "run": "nowhere"}, "is not a run folder"),
        ({"command": "pause", "run": "nowhere"}, "is not a run folder"),
    ],
)
def test_refusals(scheduler, command, sentence):
    assert sentence in scheduler.answer(command)["error"]


def test_commands_to_a_run_that_is_not_trained_are_refused(scheduler, tmp_path):
    run = small_run(tmp_path / "run")
    assert "run is not being trained here: its status is created" in do(scheduler, "pause", run)["error"]
    do(scheduler, "step", run)
    assert "speed must be a finite number" in do(scheduler, "speed", run, speed=-1)["error"]


def test_a_run_of_another_writer_is_refused(scheduler, tmp_path):
    run = small_run(tmp_path / "run")
    rows = run.record(resume_run(run.folder)[1])
    next(rows)
    assert f"being written by process {os.getpid()}" in do(scheduler, "start", run)["error"]
    rows.close()
    assert do(scheduler, "start", run)["status"] in ("running", "finished")


def test_divergence_deletion_and_a_full_disk_hurt_one_run_only(scheduler, tmp_path):
    wild = small_run(tmp_path / "wild", learning_rate=1e200)
    gone, full, good = (small_run(tmp_path / name, steps=3000) for name in ("gone", "full", "good"))
    for run in (gone, full, good):
        do(scheduler, "start", run, speed=1000)
    do(scheduler, "start", wild)
    gone.folder.rename(tmp_path / "elsewhere")
    with Path("/dev/full").open("w") as device:
        scheduler.runs[full.folder].writer.files["metrics.jsonl"].close()
        scheduler.runs[full.folder].writer.files["metrics.jsonl"] = device
        while any(run.folder in scheduler.runs for run in (wild, gone, full)):
            scheduler.work()
    failed = {row["run"]: row["reason"] for row in scheduler.told if row["status"] == "failed"}
    assert "gradient norm" in failed[str(wild.folder)]
    assert wild.info.reason == failed[str(wild.folder)]
    assert failed[str(gone.folder)] == f"the run folder {gone.folder} was deleted"
    assert "No space left on device" in failed[str(full.folder)]
    assert not gone.folder.exists()
    assert do(scheduler, "status", good)["status"] == "running"


def test_end_of_input_leaves_runs_to_resume(tmp_path):
    run = small_run(tmp_path / "run", steps=100_000)
    answers = io.StringIO()
    commands = [json.dumps({"id": 1, "command": "start", "run": str(run.folder)}), "no command", "[]"]
    serve(io.StringIO("\n".join(commands) + "\n"), answers)
    rows = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert rows[0]["event"] == "ready"
    assert next(row for row in rows if row.get("id") == 1)["status"] == "running"
    assert [row["error"] for row in rows if "error" in row] == [
        "a command is one JSON object a line, got 'no command'",
        "a command is one JSON object a line, got '[]'",
    ]
    assert run.status == "stopped"


@pytest.fixture(scope="module")
def trainer():
    trainer = Trainer()
    yield trainer
    trainer.close()


def until(condition) -> None:
    while not condition():
        time.sleep(0.01)


def test_real_process_trains_pauses_and_survives_a_kill(trainer, tmp_path):
    run = small_run(tmp_path / "run", steps=100_000)
    assert trainer.ask("start", run.folder).status == "running"
    until(lambda: len(run.metrics()[0]) > 3)
    paused = trainer.ask("pause", run.folder)
    assert (paused.status, run.metrics()[0][-1]["step"]) == ("paused", paused.step)
    assert trainer.state(run.folder) == paused
    trainer.ask("play", run.folder)
    first = trainer.pid
    os.kill(first, signal.SIGKILL)
    until(lambda: trainer.state(run.folder).status == "interrupted")
    assert run.status == "interrupted"
    assert trainer.ask("start", run.folder).step >= paused.step
    assert trainer.pid != first
    assert trainer.ask("stop", run.folder).status == "stopped"
    with pytest.raises(ValueError, match="is not being trained here: its status is stopped"):
        trainer.ask("pause", run.folder)


def test_process_is_humble_and_ends_with_its_server(tmp_path):
    run = small_run(tmp_path / "run", steps=100_000)
    code = "import sys, time; from minigpt.training.server.client import Trainer; t = Trainer()\n"
    code += "print(t.ask('start', sys.argv[1]).status, t.pid, 'torch' in sys.modules, flush=True); time.sleep(600)"
    server = subprocess.Popen(
        [sys.executable, "-c", code, str(run.folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    status, pid, torch_loaded = server.stdout.readline().split()
    assert (status, torch_loaded) == ("running", "False")
    if hasattr(os, "getpriority"):
        assert os.getpriority(os.PRIO_PROCESS, int(pid)) >= 10
        assert os.getsid(int(pid)) == int(pid)
    server.kill()
    server.communicate()
    until(lambda: not is_held(run.folder))
    assert run.status == "stopped"
