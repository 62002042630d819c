"""A reader of a growing run: only what is new is read, and a run that starts over is read anew."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from minigpt.corpus.corpus import Corpus, Record
from minigpt.presets import configured, preset
from minigpt.training.runs.create import new_run, resume_run
from minigpt.training.runs.export import metrics_csv, run_zip
from minigpt.training.runs.info import differing_settings
from minigpt.training.runs.metrics_tail import MetricsTail
from minigpt.training.runs.run import Run

SMALL = configured(
    preset("mg-1"), {"merges": "2", "width": "8", "ffn_width": "8", "context_length": "16", "evaluate_every": "5"}
)
CORPUS = Corpus("fruit", (Record("t1", "a red pear"), Record("t2", "green fig")), (Record("v", "a red fig"),))


def small_run(folder: Path, **changes) -> tuple[Run, list]:
    run, training = new_run(folder, SMALL, CORPUS, replace(SMALL.training, **{"steps": 12} | changes))
    return run, list(run.record(training))


def test_columns_are_the_reports(tmp_path):
    run, reports = small_run(tmp_path / "run")
    feed = MetricsTail(run.folder).update()
    steps = [report for report in reports if hasattr(report, "loss")]
    assert feed.steps == [report.step for report in steps] == list(range(1, 13))
    assert feed.losses == [report.loss for report in steps]
    assert feed.norms == [report.gradient_norm for report in steps]
    assert feed.rates == [0.01] * 12
    assert feed.groups["ffn"] == [report.group_norms["ffn"] for report in steps]
    assert feed.records == list(steps[-1].records)
    assert feed.evaluations == [report for report in reports if not hasattr(report, "loss")]
    assert feed.best == min(feed.evaluations, key=lambda row: row.validation_loss)
    assert feed.step == 12


def test_nothing_before_the_first_line(tmp_path):
    feed = MetricsTail(tmp_path).update()
    assert (feed.steps, feed.step, feed.best, feed.speed()) == ([], 0, None, None)


def test_reading_in_bits_gives_the_same(tmp_path):
    run, _ = small_run(tmp_path / "run")
    content = (run.folder / "metrics.jsonl").read_bytes()
    slow = tmp_path / "slow"
    slow.mkdir()
    feed, seen = MetricsTail(slow), []
    for end in range(0, len(content) + 100, 100):
        (slow / "metrics.jsonl").write_bytes(content[:end])
        seen.append(len(feed.update().steps))
    whole = MetricsTail(run.folder).update()
    assert (feed.steps, feed.losses, feed.evaluations) == (whole.steps, whole.losses, whole.evaluations)
    assert len(set(seen)) > 5  # it did grow bit by bit


def test_a_reset_run_is_read_from_the_start(tmp_path):
    run, _ = small_run(tmp_path / "run")
    feed = MetricsTail(run.folder).update()
    losses = feed.losses
    run.reset()
    assert feed.update().steps == [] and feed.evaluations == []
    list(run.record(resume_run(run.folder)[1]))
    assert feed.update().losses == losses


def test_speed_is_that_of_the_last_two_seconds(tmp_path):
    rows = [(0, 0.0, 0), (10, 1.0, 1000), (30, 2.0, 2000), (60, 3.0, 3500), (90, 4.0, 5000)]
    names = ("step", "seconds", "positions")
    lines = [json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows]
    (tmp_path / "timing.jsonl").write_text("".join(lines[:2]))
    feed = MetricsTail(tmp_path).update()
    assert feed.speed() == (10, 1000)  # all there is
    (tmp_path / "timing.jsonl").write_text("".join(lines))
    assert feed.update().speed() == (30, 1500)
    (tmp_path / "timing.jsonl").write_text(lines[0])
    assert feed.update().speed() is None


def test_csv_holds_every_number_once(tmp_path):
    run, reports = small_run(tmp_path / "run")
    head, *lines = metrics_csv(run).splitlines()
    assert head.startswith("step,batch_loss,learning_rate,gradient_norm,scored,train_loss,validation_loss,norm_")
    rows = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    assert [row["step"] for row in rows] == [str(step) for step in range(13)]
    assert [float(row["batch_loss"]) for row in rows[1:]] == MetricsTail(run.folder).update().losses
    assert rows[0]["batch_loss"] == "" and rows[3]["train_loss"] == ""
    assert float(rows[5]["validation_loss"]) == run.evaluations()[1].validation_loss


def test_the_zip_opens_as_the_same_run_and_says_nothing_about_its_owner(tmp_path):
    import io
    import zipfile

    run, _ = small_run(tmp_path / "run")
    (run.folder / "label.json").write_text("{}")
    with zipfile.ZipFile(io.BytesIO(run_zip(run))) as archive:
        archive.extractall(tmp_path / "taken")
    taken = Run(tmp_path / "taken" / "run")
    assert taken.evaluations() == run.evaluations()
    assert taken.checkpoint(12).step == 12
    assert not (taken.folder / "label.json").exists() and not (taken.folder / ".writer").exists()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, {}), ({"learning_rate": 0.003}, {"learning_rate": [0.01, 0.003]}), ({"steps": 6}, {"steps": [12, 6]})],
)
def test_differing_settings(tmp_path, changes, expected):
    infos = [small_run(tmp_path / "one")[0].info, small_run(tmp_path / "two", **changes)[0].info]
    assert differing_settings(infos) == expected
    assert differing_settings([]) == {}
