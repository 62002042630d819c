"""Run folders: what lies in them, what they refuse, and that the saved weights are the trained ones."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from minigpt.config import TrainConfig
from minigpt.corpus.corpus import Corpus, Record
from minigpt.inspection.sources import run_model
from minigpt.model.checkpoints import load_checkpoint, save_checkpoint
from minigpt.model.gpt import MiniGPT
from minigpt.presets import Preset, preset
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.training.loop import DivergedError, Evaluation, StepReport
from minigpt.training.runs.create import check_fit, new_run, prepare
from minigpt.training.runs.run import Run
from minigpt.training.runs.run_writer import is_power_of_two

CORPUS = Corpus(
    "keys",
    (Record("a", "a red key"), Record("b", "a blue key"), Record("c", "the key is red")),
    (Record("d", "a red red key"),),
)
CONFIG = TrainConfig(steps=10, batch_size=2, evaluate_every=5)


def small(**changes) -> Preset:
    """MG-1 with another shape."""
    chosen = preset("mg-1")
    return replace(chosen, model=replace(chosen.model, width=8, ffn_width=12, context_length=24, **changes))


def finished(folder: Path, config: TrainConfig = CONFIG, **changes) -> tuple[Run, list]:
    """A run to its end, and its reports."""
    run, training = new_run(folder, small(**changes), CORPUS, config)
    return run, list(run.record(training))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list]:
    return finished(tmp_path_factory.mktemp("runs") / "one")


def test_a_new_run_lies_on_disk_before_its_first_step(tmp_path: Path):
    run, training = new_run(tmp_path / "new" / "run", small(), CORPUS, CONFIG)
    names = {path.name for path in run.folder.iterdir()}
    assert {"run.json", "corpus.json", "tokenizer.json", "checkpoints"} <= names
    assert (run.info.status, run.steps, run.evaluations()) == ("created", (), [])
    assert (training.step, training.model.config) == (0, run.info.model)
    assert run.info.corpus_hash == CORPUS.hash == run.corpus().hash
    assert run.info.tokenizer == run.tokenizer().fingerprint
    assert run.info.model.vocab_size == run.tokenizer().vocab_size
    assert (run.info.preset, run.info.training, run.info.corpus) == ("mg-1", CONFIG, "keys")


def test_vocabulary_is_the_one_learned(tmp_path: Path):
    corpus = Corpus("abc", (Record("a", "abc"),))
    run, training = new_run(tmp_path / "run", small(), corpus, CONFIG)
    assert run.info.model.vocab_size == training.model.config.vocab_size == 261
    assert [report.validation_loss for report in run.record(training) if isinstance(report, Evaluation)] == [None] * 3


def test_saved_steps_are_powers_of_two_and_evaluations(done: tuple[Run, list]):
    assert done[0].steps == (0, 1, 2, 4, 5, 8, 10)
    assert [step for step in range(-1, 70) if is_power_of_two(step)] == [1, 2, 4, 8, 16, 32, 64]


def test_status_while_running_and_after(tmp_path: Path):
    run, training = new_run(tmp_path / "run", small(), CORPUS, CONFIG)
    assert {run.info.status for _ in run.record(training)} == {"running"}
    assert (run.info.status, run.info.reason) == ("finished", "")


def test_metrics_are_the_reports(done: tuple[Run, list]):
    run, reports = done
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == len(reports) == 13
    for line, report in zip(lines, reports, strict=True):
        for name, value in vars(report).items():
            assert line[name] == (list(value) if isinstance(value, tuple) else value)
    assert run.evaluations() == [report for report in reports if isinstance(report, Evaluation)]
    assert [line["step"] for line in lines if "loss" in line] == list(range(1, 11))


@pytest.mark.parametrize(
    "changes",
    [{}, {"dtype": "float32"}, {"tied_head": True}, {"dtype": "float32", "tied_head": True, "layers": 2}],
    ids=str,
)
def test_checkpoints_are_the_trained_weights(tmp_path: Path, changes: dict):
    run, training = new_run(tmp_path / "run", small(**changes), CORPUS, replace(CONFIG, steps=5))
    kept = {}
    for report in run.record(training):
        kept[report.step] = {name: tensor.clone() for name, tensor in training.model.state_dict().items()}
    for step in run.steps:
        checkpoint = run.checkpoint(step)
        assert (checkpoint.step, checkpoint.tokenizer) == (step, run.info.tokenizer)
        state = checkpoint.model.state_dict()
        assert list(state) == list(kept[step])
        for name, tensor in state.items():
            assert tensor.dtype == kept[step][name].dtype and torch.equal(tensor, kept[step][name])
    ids = torch.tensor([[256, 97, 32]])
    assert torch.equal(run.checkpoint(5).model(ids), training.model.eval()(ids))


def test_step_zero_is_the_untrained_model(done: tuple[Run, list]):
    fresh = MiniGPT(done[0].info.model)
    assert all(
        torch.equal(a, b) for a, b in zip(done[0].checkpoint(0).model.parameters(), fresh.parameters(), strict=True)
    )


def test_the_run_is_the_loop(done: tuple[Run, list], tmp_path: Path):
    """The folder changes nothing: the same training without one reports the same."""
    run, training = new_run(tmp_path / "run", small(), CORPUS, CONFIG)
    assert list(training.reports()) == done[1]
    again = list(prepare(run).reports())
    assert [report for report in again if isinstance(report, StepReport)] == [
        report for report in done[1] if isinstance(report, StepReport)
    ]


def test_model_of_a_run_by_step(done: tuple[Run, list], tmp_path: Path):
    run = done[0]
    last, tokenizer = run_model(run.folder)
    assert tokenizer.fingerprint == run.info.tokenizer
    assert torch.equal(last.head, run.checkpoint(10).model.head)
    assert torch.equal(run_model(run.folder, 4)[0].head, run.checkpoint(4).model.head)
    with pytest.raises(ValueError, match="no checkpoint of step 3; saved: 0, 1, 2, 4, 5, 8, 10"):
        run_model(run.folder, 3)
    new, _ = new_run(tmp_path / "run", small(), CORPUS, CONFIG)
    with pytest.raises(ValueError, match="has no checkpoint yet"):
        run_model(new.folder)


def test_divergence_fails_the_run_with_its_reason(tmp_path: Path):
    run, training = new_run(tmp_path / "run", small(), CORPUS, replace(CONFIG, steps=50, learning_rate=1e160))
    with pytest.raises(DivergedError) as caught:
        list(run.record(training))
    assert (run.info.status, run.info.reason) == ("failed", str(caught.value))
    assert re.match(r"step \d+: loss ", run.info.reason)
    assert 0 in run.steps and run.checkpoint(0).step == 0


# What is refused.


def test_a_folder_that_is_not_empty(tmp_path: Path, done: tuple[Run, list]):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "full", tmp_path / "file", done[0].folder):
        with pytest.raises(ValueError, match="exists and is not empty; choose another folder"):
            new_run(folder, small(), CORPUS, CONFIG)
    assert (tmp_path / "full" / "notes.txt").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert new_run(tmp_path / "empty", small(), CORPUS, CONFIG)[0].info.status == "created"


def test_nothing_is_made_for_a_run_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "run"
    long = Corpus("long", CORPUS.train, (Record("too-long", "0123456789" * 3),))
    with pytest.raises(ValueError, match=r"record too-long needs 31 positions \(BOS and 30 tokens\).*length is 24"):
        new_run(folder, small(), long, CONFIG)
    monkeypatch.setenv("MINIGPT_MODEL_PARAMETERS", "100")
    with pytest.raises(ValueError, match="at most 100 are allowed"):
        new_run(folder, small(), CORPUS, CONFIG)
    assert not folder.exists()


def test_check_fit_at_the_border():
    check_fit(Corpus("c", (Record("x", "a" * 23),)), ByteBPE(), 24)
    with pytest.raises(ValueError, match="record x needs 25 positions"):
        check_fit(Corpus("c", (Record("x", "a" * 24),)), ByteBPE(), 24)


def test_folders_that_are_no_run(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path, tmp_path / "none", tmp_path / "file"):
        with pytest.raises(ValueError, match="is not a run folder: it has no run.json"):
            Run(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", "5", '{"format": "other"}'])
def test_damaged_run_files(tmp_path: Path, content: str):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ValueError, match="run.json (cannot be used|must hold one JSON object|is not of format)"):
        Run(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [{"model": None}, {"training": None}, {"model": 5}, {"status": None}, {"extra": 1}],
    ids=str,
)
def test_incomplete_run_files(tmp_path: Path, done: tuple[Run, list], changes: dict):
    content = json.loads((done[0].folder / "run.json").read_text(encoding="utf-8")) | changes
    content = {name: value for name, value in content.items() if value is not None}
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="damaged|incomplete|has no field|must be an object"):
        Run(tmp_path)


def copied(run: Run, folder: Path) -> Run:
    """A copy of a run's own files, to be damaged."""
    (folder / "checkpoints").mkdir(parents=True)
    for name in ("run.json", "tokenizer.json", "corpus.json", "checkpoints/step-000010.safetensors"):
        (folder / name).write_bytes((run.folder / name).read_bytes())
    return Run(folder)


def test_another_tokenizer_or_corpus_in_the_folder(done: tuple[Run, list], tmp_path: Path):
    run = copied(done[0], tmp_path / "run")
    ours, other = run.info.tokenizer, ByteBPE.train(["blue blue"], 2)
    other.save(run.folder / "tokenizer.json")
    with pytest.raises(ValueError, match=f"fingerprint {other.fingerprint}, run.json says {ours}"):
        run.tokenizer()
    changed = replace(CORPUS, train=CORPUS.train[:2])
    (run.folder / "corpus.json").write_text(changed.to_json(), encoding="utf-8")
    with pytest.raises(ValueError, match=f"corpus.json has hash {changed.hash}, run.json says {CORPUS.hash}"):
        run.corpus()


def test_a_checkpoint_of_another_run_of_equal_size(done: tuple[Run, list], tmp_path: Path):
    """Same vocabulary size and shapes, other merges; then the same tokenizer with other heads."""
    run = copied(done[0], tmp_path / "run")
    path = run.folder / "checkpoints" / "step-000010.safetensors"
    model, ours = MiniGPT(run.info.model), run.info.tokenizer
    foreign = ByteBPE.train(["blue green yellow purple orange brown black white"], run.info.model.vocab_size - 259)
    assert foreign.vocab_size == run.info.model.vocab_size
    save_checkpoint(path, model, 10, foreign.fingerprint)
    with pytest.raises(ValueError, match=f"tokenizer {foreign.fingerprint}, the one at hand is {ours}"):
        run.checkpoint(10)
    save_checkpoint(path, MiniGPT(replace(run.info.model, heads=4)), 10, ours)
    assert load_checkpoint(path).model.config.heads == 4
    with pytest.raises(ValueError, match=r"another config: heads 4 \(wanted 2\)"):
        run.checkpoint(10)


def test_a_checkpoint_that_cannot_be_written_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run, training = new_run(tmp_path / "run", small(), CORPUS, CONFIG)
    reports = run.record(training)
    assert next(reports).step == 0 and next(reports).step == 1
    old = {path.name: path.read_bytes() for path in (run.folder / "checkpoints").iterdir()}

    def fail(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="disk full"):
            next(reports)
    assert {path.name: path.read_bytes() for path in (run.folder / "checkpoints").iterdir()} == old
    assert run.info.model == training.model.config


def test_foreign_files_beside_the_checkpoints_are_none(done: tuple[Run, list], tmp_path: Path):
    run = copied(done[0], tmp_path / "foreign")
    for name in ("step-abc.safetensors", "step-.safetensors", "step--00001.safetensors", "notes.txt"):
        (run.folder / "checkpoints" / name).write_bytes(b"")
    assert run.steps == (10,)


def test_a_shipped_run_is_whole(data: Path):
    run = Run(data / "mini-gpt" / "run")
    assert run.info.status == "finished"
    assert run.steps[0] == 0 and run.steps[-1] == run.info.training.steps
    assert {1, 2, 4, 8, 16, 32, 64, 128, 256, 512} <= set(run.steps)
    assert [row.step for row in run.evaluations()] == list(range(0, 601, 50))
    assert run.corpus().leaked == ()
    for step in run.steps:
        assert run.checkpoint(step).step == step
