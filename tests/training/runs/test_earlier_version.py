"""Run folders of the version before folders and classes were renamed: they open, and they continue bit for bit.

tests/data/run-interrupted was left by a killed trainer after step 13 of 24; run-interrupted-metrics.jsonl is what the
same version reported without the interruption.
"""

import json
import shutil
from pathlib import Path

import pytest

from minigpt.storage.json_objects import read_lines
from minigpt.storage.paths import DATA
from minigpt.training.runs.create import prepare, resume_run
from minigpt.training.runs.info import RunStatus
from minigpt.training.runs.run import Run

FOLDER = Path(__file__).parents[2] / "data" / "run-interrupted"
EXPECTED = FOLDER.with_name("run-interrupted-metrics.jsonl")


def copied(tmp_path: Path) -> Run:
    shutil.copytree(FOLDER, tmp_path / "run")
    return Run(tmp_path / "run")


def reproduces(tmp_path: Path) -> bool:
    """Whether this machine adds up as the one that made the folder: its first steps, again from step 0."""
    shutil.copytree(FOLDER, tmp_path / "again")
    again = Run(tmp_path / "again")
    again.reset()
    list(again.record(resume_run(again.folder)[1]))
    return (tmp_path / "again" / "metrics.jsonl").read_bytes() == EXPECTED.read_bytes()


def test_an_interrupted_run_continues_as_if_nothing_had_happened(tmp_path):
    run = copied(tmp_path)
    assert (run.status, run.steps, run.metrics()[0][-1]["step"]) == (RunStatus.INTERRUPTED, (0, 8), 13)
    run, training = resume_run(run.folder)
    assert training.step == 13
    list(run.record(training))
    assert (run.status, run.steps) == (RunStatus.FINISHED, (0, 8, 16, 24))
    rows, expected = run.metrics()[0], read_lines(EXPECTED)[0]
    for row, wanted in zip(rows, expected, strict=True):
        assert row.keys() == wanted.keys()
        for name in row.keys() - {"group_norms", "records", "best"}:
            assert row[name] == pytest.approx(wanted[name], rel=1e-9)
    if reproduces(tmp_path):
        assert (run.folder / "metrics.jsonl").read_bytes() == EXPECTED.read_bytes()


def test_its_saved_step_evaluates_as_then(tmp_path):
    run = copied(tmp_path)
    checkpoint = run.checkpoint(8)
    assert (checkpoint.step, checkpoint.tokenizer) == (8, run.tokenizer().fingerprint)
    training = prepare(run)
    training.model.load_state_dict(checkpoint.model.state_dict())
    loss = next(row.train_loss for row in run.evaluations() if row.step == 8)
    assert training.evaluate().train_loss == pytest.approx(loss, rel=1e-12)


def test_the_shipped_run_opens(tmp_path):
    run = Run(DATA / "mini-gpt" / "run")
    assert run.status is RunStatus.FINISHED
    assert run.checkpoint(run.steps[-1]).step == run.evaluations()[-1].step == 600
    info = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))
    assert "reason_parts" not in info and run.info.reason == ""
