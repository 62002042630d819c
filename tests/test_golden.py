"""Every published number of MG-1 (tests/golden.json) comes out of the library.

Figures printed in full are compared within 1e-12, those printed rounded within half a unit of their
last decimal.
"""

import json
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path

import pytest
import torch

from minigpt.corpus.batches import Batch, batch_records
from minigpt.corpus.library import bundled_corpus
from minigpt.inspection.sources import BUNDLED_RUN, preset_model
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import IGNORE, loss, position_losses
from minigpt.model.parameters import component_counts, shape_only
from minigpt.model.trace import Trace
from minigpt.presets import preset
from minigpt.tokenizers.byte_bpe import SPECIALS, ByteBPE
from minigpt.training.loop import Evaluation, StepReport, Training
from minigpt.training.runs.run import Run

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))
POSITION = GOLDEN["position"]
HALF_UNIT = {decimals: 0.5 * 10**-decimals + 1e-15 for decimals in (6, 9, 12)}


@pytest.fixture(scope="module")
def tokenizer() -> ByteBPE:
    return ByteBPE.train([record.text for record in bundled_corpus().train], merges=len(GOLDEN["merges"]))


@pytest.fixture(scope="module")
def model() -> MiniGPT:
    return preset_model("mg-1")[0]


@pytest.fixture(scope="module")
def batch(tokenizer: ByteBPE) -> Batch:
    return batch_records(GOLDEN["records"], tokenizer, context_length=64)


@pytest.fixture(scope="module")
def trace(model: MiniGPT, batch: Batch) -> Trace:
    return model.trace(batch.ids, batch.valid)


def stage_values(trace: Trace, name: str) -> torch.Tensor:
    """The stage at the published position of the first record."""
    return next(stage for stage in trace.stages if stage.name == name).at(POSITION)


def test_merges(tokenizer: ByteBPE):
    assert [list(pair) for pair in tokenizer.merges] == GOLDEN["merges"]
    assert tokenizer.vocab_size == 291


def test_ids_and_targets(batch: Batch):
    for row, (ids, targets) in enumerate(zip(GOLDEN["ids"], GOLDEN["targets"], strict=True)):
        assert batch.ids[row, : len(ids)].tolist() == ids
        assert batch.targets[row, : len(targets)].tolist() == targets
        assert batch.valid[row].tolist() == [True] * len(ids) + [False] * (64 - len(ids))
        assert set(batch.ids[row, len(ids) :].tolist()) == {258}
        assert set(batch.targets[row, len(ids) :].tolist()) == {GOLDEN["ignore_id"]}
    assert batch.valid.sum(-1).tolist() == GOLDEN["scored_positions"]
    assert batch.target_count == sum(GOLDEN["scored_positions"])
    assert IGNORE == GOLDEN["ignore_id"]


def test_shapes_of_every_stage(batch: Batch, trace: Trace):
    shapes = {name: list(getattr(batch, name).shape) for name in ("ids", "valid", "targets")}
    shapes |= {stage.name: list(stage.shape) for stage in trace.stages}
    assert shapes == GOLDEN["shapes"]
    assert list(shapes) == list(GOLDEN["shapes"]), "the stages come in another order"


def test_parameters_by_component(model: MiniGPT):
    assert component_counts(model) == GOLDEN["parameters"]


def test_initialisation_order(model: MiniGPT):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1729)
        shapes = [(291, 16), (64, 16), *[(16, 16)] * 4, (16, 64), (64, 16), (16, 291)]
        drawn = [torch.randn(*shape, dtype=torch.float64) * 0.02 for shape in shapes]
    token, position, w_q, w_k, w_v, w_o, w_1, w_2, w_lm = drawn
    [block] = model.blocks
    assert torch.equal(model.token_embedding, token)
    assert torch.equal(model.position_embedding, position)
    assert torch.equal(block.attention.qkv, torch.cat([w_q, w_k, w_v], dim=1))
    assert torch.equal(block.attention.output, w_o)
    assert torch.equal(block.ffn.w1, w_1)
    assert torch.equal(block.ffn.w2, w_2)
    assert torch.equal(model.head_matrix, w_lm)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            assert (parameter == (1 if name.endswith("weight") else 0)).all(), name


@pytest.mark.parametrize("name", GOLDEN["stages_first3"])
def test_first_three_values(trace: Trace, name: str):
    values = stage_values(trace, name)[:3].tolist()
    assert values == pytest.approx(GOLDEN["stages_first3"][name], rel=0, abs=HALF_UNIT[6])


@pytest.mark.parametrize(
    "name", ["token_embedding", "position_embedding", "block_input", "attention_output", "ffn_output", "block_output"]
)
def test_first_value_in_full(trace: Trace, name: str):
    assert abs(stage_values(trace, name)[0].item() - GOLDEN[f"{name}_0"]) <= GOLDEN["tolerance"]


def test_block_input_and_its_statistics(trace: Trace):
    values = stage_values(trace, "block_input")
    assert values.tolist() == pytest.approx(GOLDEN["block_input_rounded9"], rel=0, abs=HALF_UNIT[9])
    assert abs(values.mean().item() - GOLDEN["block_input_mean"]) <= GOLDEN["tolerance"]
    assert abs(values.var(unbiased=False).item() - GOLDEN["block_input_variance"]) <= GOLDEN["tolerance"]


@pytest.mark.parametrize("name", ["scores", "weights"])
def test_first_head(trace: Trace, name: str):
    row = stage_values(trace, name)[0]
    expected = GOLDEN[f"head0_{name}_position5"]
    assert row[: POSITION + 1].tolist() == pytest.approx(expected, rel=0, abs=HALF_UNIT[6])
    if name == "weights":
        assert (row[POSITION + 1 :] == 0).all()


def test_logits_and_probability(trace: Trace, batch: Batch):
    logits = stage_values(trace, "logits")
    shifted = (logits - logits.max()).exp()
    assert abs(logits[270].item() - GOLDEN["logit_270"]) <= GOLDEN["tolerance"]
    assert abs(logits.max().item() - GOLDEN["logit_max"]) <= GOLDEN["tolerance"]
    assert shifted.sum().item() == pytest.approx(GOLDEN["exp_sum_after_max"], rel=GOLDEN["tolerance"])
    probability = logits.softmax(-1)[270].item()
    assert probability == pytest.approx(GOLDEN["probability_270"], rel=0, abs=HALF_UNIT[12])
    assert batch.targets[0, POSITION] == 270
    losses = position_losses(trace.logits.values, batch.targets)
    assert losses[0, POSITION].item() == pytest.approx(GOLDEN["loss_270"], rel=0, abs=HALF_UNIT[9])


def test_mean_loss(model: MiniGPT, batch: Batch):
    value = loss(model(batch.ids, batch.valid), batch.targets).item()
    assert abs(value - GOLDEN["mean_loss"]) <= GOLDEN["tolerance"]


@pytest.mark.parametrize("slots", [17, 18, 40, 64])
def test_uniform_loss_for_any_padding(tokenizer: ByteBPE, slots: int):
    targets = batch_records(GOLDEN["records"], tokenizer, context_length=64, slots=slots).targets
    value = loss(torch.zeros(2, slots, 291, dtype=torch.float64), targets).item()
    assert value == pytest.approx(log(291), rel=0, abs=GOLDEN["tolerance"])
    assert value == pytest.approx(GOLDEN["uniform_loss"], rel=0, abs=HALF_UNIT[9])


def test_training_contract():
    contract, training = GOLDEN["training_contract"], preset("mg-1").training
    assert training.optimizer == contract["optimizer"].lower()
    assert training.learning_rate == contract["learning_rate"]
    assert [training.beta1, training.beta2] == contract["betas"]
    assert (training.epsilon, training.weight_decay) == (contract["eps"], contract["weight_decay"])
    assert (training.batch_size, training.steps) == (contract["batch_size"], contract["steps"])
    assert (training.schedule, training.warmup_steps, training.clip_norm) == ("constant", 0, 0)
    assert (training.accumulation, training.evaluate_every, training.batch_seed) == (1, 50, 101)
    assert contract["checkpoint_step"] in Run(BUNDLED_RUN).steps


@pytest.fixture(scope="module")
def reports(tokenizer: ByteBPE) -> list[StepReport | Evaluation]:
    """The whole 600-step run on the bundled corpus."""
    corpus, chosen = bundled_corpus(), preset("mg-1")
    train, validation = (
        batch_records([record.text for record in split], tokenizer, chosen.model.context_length)
        for split in (corpus.train, corpus.validation)
    )
    return list(Training(MiniGPT(chosen.model), train, validation, chosen.training).reports())


def test_own_corpus_run(reports: list[StepReport | Evaluation]):
    evaluations = {report.step: report for report in reports if isinstance(report, Evaluation)}
    assert list(evaluations) == list(range(0, 601, 50))
    for step, train_loss, validation_loss in GOLDEN["own_corpus_run"]["curve"]:
        row = evaluations[step]
        found = [row.train_loss, row.validation_loss]
        assert found == pytest.approx([train_loss, validation_loss], rel=0, abs=GOLDEN["own_corpus_run"]["tolerance"])
    best = [step for step, row in evaluations.items() if row.best]
    assert best[-1] == GOLDEN["own_corpus_run"]["selected_step"]
    for earlier, later in pairwise(best):
        assert evaluations[later].validation_loss < evaluations[earlier].validation_loss


def test_batches_follow_the_contract(reports: list[StepReport | Evaluation]):
    generator = torch.Generator().manual_seed(101)
    steps = [report for report in reports if isinstance(report, StepReport)]
    assert [report.step for report in steps] == list(range(1, 601))
    for report in steps:
        assert report.records == tuple(torch.randint(24, (8,), generator=generator).tolist())


def test_scored_positions_of_the_splits(tokenizer: ByteBPE):
    corpus, run = bundled_corpus(), GOLDEN["own_corpus_run"]
    for split, expected in ((corpus.train, "train"), (corpus.validation, "validation")):
        scored = batch_records([record.text for record in split], tokenizer, 64).target_count
        assert scored == run[f"{expected}_scored_positions"]


def test_shipped_run_is_this_run():
    rows = {row.step: [row.step, row.train_loss, row.validation_loss] for row in Run(BUNDLED_RUN).evaluations()}
    for row in GOLDEN["own_corpus_run"]["curve"]:
        assert rows[row[0]] == pytest.approx(row, rel=0, abs=GOLDEN["own_corpus_run"]["tolerance"])


def test_exercise_answers(batch: Batch):
    assert int((~batch.valid[0]).sum()) == 49
    scored = torch.full((1, 128), IGNORE)
    scored[0, :2] = torch.tensor([84, 265])
    uniform = torch.zeros(1, 128, 291, dtype=torch.float64)
    assert loss(uniform, scored).item() == pytest.approx(log(291), rel=1e-12)
    diluted = position_losses(uniform, scored).nansum().item() / 128
    assert diluted == pytest.approx(log(291) / 64, rel=1e-12)
    assert diluted == pytest.approx(0.088645676, rel=0, abs=HALF_UNIT[9])
    config = preset("mg-1").model
    larger = component_counts(shape_only(replace(config, vocab_size=config.vocab_size + 1)))
    assert larger["total"] - GOLDEN["parameters"]["total"] == 33


def test_specials_are_the_forbidden_names():
    assert set(GOLDEN["generation_contract"]["forbidden"]) == set(SPECIALS.values()) - {"EOS"}
