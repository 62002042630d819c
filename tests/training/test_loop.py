"""The loop: what it reports is what it did, and nothing but its seeds decides what it does."""

from dataclasses import replace
from math import cos, inf, pi

import pytest
import torch

from minigpt.config import ModelConfig, TrainConfig
from minigpt.corpus.batches import Batch, batch_records
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import position_losses
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.training.loop import DivergedError, Evaluation, StepReport, Training, learning_rate

SIZES = {"vocab_size": 259, "context_length": 16, "width": 8, "heads": 2, "layers": 2, "ffn_width": 12}
CONFIG = TrainConfig(steps=6, batch_size=3, learning_rate=0.01, evaluate_every=4)


def mean_loss(model: MiniGPT, split: Batch) -> float:
    """As an evaluation scores a split."""
    return Training(model, split, None, CONFIG).evaluate().train_loss


def records(*texts: str) -> Batch:
    return batch_records(texts, ByteBPE(), SIZES["context_length"])


TRAIN, VALIDATION = records("a red key", "blue", "x", "green grass"), records("a blue key", "y")


def training(config: TrainConfig = CONFIG, train: Batch = TRAIN, validation=VALIDATION, **changes) -> Training:
    return Training(MiniGPT(ModelConfig(**SIZES | changes)), train, validation, config)


def steps(run: Training) -> list[StepReport]:
    return [report for report in run.reports() if isinstance(report, StepReport)]


def weights(model: MiniGPT) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


def test_order_of_reports():
    reports = list(training().reports())
    kinds = [("evaluation" if isinstance(report, Evaluation) else "step", report.step) for report in reports]
    expected = [("evaluation", 0), *(("step", i) for i in range(1, 5)), ("evaluation", 4)]
    assert kinds == [*expected, ("step", 5), ("step", 6), ("evaluation", 6)]


def test_last_step_is_evaluated_once():
    config = replace(CONFIG, steps=4)
    assert [report.step for report in training(config).reports() if isinstance(report, Evaluation)] == [0, 4]


@torch.no_grad()
def test_a_report_says_what_the_step_saw():
    run = training(dropout=0.0)
    generator = torch.Generator().manual_seed(CONFIG.batch_seed)
    for number in range(1, 4):
        rows = torch.randint(4, (3,), generator=generator)
        batch = TRAIN.select(rows)
        losses = position_losses(run.model(batch.ids, batch.valid), batch.targets)
        with torch.enable_grad():
            report = run.advance()
        assert (report.step, report.records) == (number, tuple(rows.tolist()))
        assert report.scored == batch.target_count == int((~losses.isnan()).sum())
        assert report.loss == pytest.approx(losses.nansum().item() / batch.target_count, abs=1e-12)
        assert report.learning_rate == 0.01
        gradients = torch.cat([parameter.grad.flatten() for parameter in run.model.parameters()])
        assert report.gradient_norm == pytest.approx(gradients.norm().item(), rel=1e-12)


def test_one_step_changes_embeddings_and_blocks():
    run = training()
    before = {name: tensor.detach().clone() for name, tensor in run.model.named_parameters()}
    report = run.advance()
    for name, tensor in run.model.named_parameters():
        assert not torch.equal(tensor, before[name]), name
    read = set(TRAIN.ids[list(report.records)][TRAIN.valid[list(report.records)]].tolist())
    for id in range(259):
        moved = not torch.equal(run.model.token_embedding[id], before["token_embedding"][id])
        assert moved == (id in read)


def test_training_lowers_the_loss():
    rows = [r for r in training(replace(CONFIG, steps=60, learning_rate=0.02)).reports() if isinstance(r, Evaluation)]
    assert rows[-1].train_loss < rows[0].train_loss - 2


def test_equal_inputs_give_equal_runs():
    one, same = training(dropout=0.2), training(dropout=0.2)
    assert list(one.reports()) == list(same.reports())
    assert all(torch.equal(a, b) for a, b in zip(weights(one.model), weights(same.model), strict=True))
    losses = [report.loss for report in steps(training(dropout=0.2))]
    for changes in ({"batch_seed": 5}, {"dropout_seed": 8}):
        assert [report.loss for report in steps(training(replace(CONFIG, **changes), dropout=0.2))] != losses


def test_global_generator_neither_decides_nor_moves():
    torch.manual_seed(1)
    one = list(training(dropout=0.2).reports())
    torch.manual_seed(2)
    state = torch.get_rng_state()
    assert list(training(dropout=0.2).reports()) == one
    assert torch.equal(torch.get_rng_state(), state)


# Accumulation: two batches of one record are one batch of two records.

PAIR = records("0123456789ab", "z")  # 13 targets and 2


def first_draw(seed: int) -> list[int]:
    return torch.randint(2, (2,), generator=torch.Generator().manual_seed(seed)).tolist()


SEED = next(seed for seed in range(100) if sorted(first_draw(seed)) == [0, 1])


@torch.no_grad()
def test_accumulation_weighs_by_scored_positions():
    base = TrainConfig(steps=3, batch_size=2, accumulation=1, batch_seed=SEED)
    one = training(base, PAIR, None)
    two = training(replace(base, batch_size=1, accumulation=2), PAIR, None)
    losses = position_losses(one.model(PAIR.ids, PAIR.valid), PAIR.targets)
    expected, mean_of_means = losses.nansum() / 15, losses.nanmean(-1).mean()
    with torch.enable_grad():
        reports = one.advance(), two.advance()
    assert reports[0].records == reports[1].records and set(reports[0].records) == {0, 1}
    for report in reports:
        assert report.loss == pytest.approx(expected.item(), abs=1e-12)
        assert abs(report.loss - mean_of_means.item()) > 1e-5
        assert report.scored == 15
    assert reports[0].gradient_norm == pytest.approx(reports[1].gradient_norm, rel=1e-12)
    for a, b in zip(one.model.parameters(), two.model.parameters(), strict=True):
        assert (a.grad - b.grad).abs().max() < 1e-14
        assert (a - b).abs().max() < 1e-9  # Adam divides by the size of the gradient, however small


def test_accumulation_equals_larger_batches_step_by_step():
    base = replace(CONFIG, batch_size=4, accumulation=1)
    one, four = steps(training(base)), steps(training(replace(base, batch_size=1, accumulation=4)))
    assert [report.records for report in one] == [report.records for report in four]
    assert [report.loss for report in one] == pytest.approx([report.loss for report in four], abs=1e-8)


# Clipping.


def test_clipping_scales_the_gradient_and_reports_the_norm_before():
    free = training()
    norm = free.advance().gradient_norm
    clipped = training(replace(CONFIG, clip_norm=norm / 4))
    assert clipped.advance().gradient_norm == norm
    for a, b in zip(free.model.parameters(), clipped.model.parameters(), strict=True):
        assert (a.grad / 4 - b.grad).abs().max() < 1e-15
    wide = training(replace(CONFIG, clip_norm=norm * 1.01))
    wide.advance()
    for a, b in zip(free.model.parameters(), wide.model.parameters(), strict=True):
        assert torch.equal(a.grad, b.grad)


# The learning rate.


def test_constant_rate():
    assert {learning_rate(CONFIG, step) for step in range(1, 7)} == {0.01}


def test_warm_up_then_cosine_by_hand():
    config = TrainConfig(
        steps=14, warmup_steps=4, schedule="cosine", learning_rate=0.8, final_learning_rate=0.1, evaluate_every=50
    )
    rates = [learning_rate(config, step) for step in range(1, 15)]
    assert rates[:4] == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert rates[4] == pytest.approx(0.1 + 0.7 * (1 + cos(pi / 10)) / 2)
    assert rates[8] == pytest.approx(0.45)
    assert rates[13] == pytest.approx(0.1)
    assert rates[3:] == sorted(rates[3:], reverse=True)
    reported = steps(training(config))
    assert [report.learning_rate for report in reported] == rates


def test_warm_up_then_constant():
    config = TrainConfig(steps=5, warmup_steps=2, learning_rate=0.4)
    assert [learning_rate(config, step) for step in range(1, 6)] == pytest.approx([0.2, 0.4, 0.4, 0.4, 0.4])


# Divergence.


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_divergence_stops_before_anything_changes(dtype: str):
    run = training(replace(CONFIG, steps=50, learning_rate=1e160 if dtype == "float64" else 1e20), dtype=dtype)
    done, before = 0, weights(run.model)
    with pytest.raises(DivergedError) as caught:
        while True:
            run.advance()
            done, before = done + 1, weights(run.model)
    assert str(caught.value).startswith(f"step {done + 1}: loss ")
    assert "the training has diverged" in str(caught.value)
    assert run.step == done > 0
    assert all(torch.equal(a, b) for a, b in zip(before, weights(run.model), strict=True))


def test_a_finite_loss_without_hope_stops_too():
    run = training(replace(CONFIG, steps=50, learning_rate=1e3))
    run.advance()
    before = weights(run.model)
    with pytest.raises(DivergedError, match=r"step 2: loss \d{4,}\.\d+, .*; .* a learning rate below 1000 may help"):
        run.advance()
    assert all(torch.equal(a, b) for a, b in zip(before, weights(run.model), strict=True))


def test_a_gradient_that_is_not_finite_stops_too(monkeypatch: pytest.MonkeyPatch):
    run = training()
    run.model.token_embedding.register_hook(lambda gradient: gradient * inf)
    before = weights(run.model)
    with pytest.raises(DivergedError, match=r"step 1: loss \d\.\d+, gradient norm (nan|inf)"):
        run.advance()
    assert all(torch.equal(a, b) for a, b in zip(before, weights(run.model), strict=True))


# Evaluation.


def test_evaluation_does_not_disturb_the_steps():
    often = steps(training(replace(CONFIG, evaluate_every=1), dropout=0.2))
    seldom = steps(training(replace(CONFIG, evaluate_every=100), dropout=0.2))
    assert often == seldom


def test_evaluating_twice_is_identical_and_the_mode_is_kept():
    run = training(dropout=0.2)
    run.model.train()
    first, second = run.evaluate(), run.evaluate()
    assert (first.train_loss, first.validation_loss) == (second.train_loss, second.validation_loss)
    assert all(module.training for module in run.model.modules())
    run.model.eval()
    assert mean_loss(run.model, TRAIN) == first.train_loss
    assert not any(module.training for module in run.model.modules())
    plain = training(dropout=0.0).evaluate()
    assert (plain.train_loss, plain.validation_loss) == (first.train_loss, first.validation_loss)


@torch.no_grad()
def test_a_loss_is_over_scored_positions():
    run = training()
    losses = position_losses(run.model(TRAIN.ids, TRAIN.valid), TRAIN.targets)
    assert mean_loss(run.model, TRAIN) == pytest.approx(losses.nansum().item() / TRAIN.target_count, abs=1e-12)


@torch.no_grad()
def test_a_large_split_is_weighed_across_its_parts():
    """300 records of 16 slots need more than one forward; the parts have unequal numbers of scored positions."""
    large = records(*["abcdefghijklmn"] * 256, *["x"] * 44)
    model = training().model
    losses = position_losses(model(large.ids, large.valid), large.targets)
    assert mean_loss(model, large) == pytest.approx(losses.nansum().item() / large.target_count, abs=1e-12)


def test_no_validation_records():
    rows = [report for report in training(validation=None).reports() if isinstance(report, Evaluation)]
    assert [row.validation_loss for row in rows] == [None] * 3
    assert not any(row.best for row in rows)


def test_best_is_the_lowest_so_far_and_the_earliest_on_ties():
    rows = [row for row in training(replace(CONFIG, steps=40, evaluate_every=2)).reports() if hasattr(row, "best")]
    lowest = inf
    for row in rows:
        assert row.best == (row.validation_loss < lowest)
        lowest = min(lowest, row.validation_loss)
    assert rows[0].best
    run = training()
    assert (run.evaluate().best, run.evaluate().best) == (True, False)
