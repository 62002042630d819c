"""One position's prediction, against the published numbers and by hand."""

import json
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import torch

from minigpt.corpus.batches import batch_records
from minigpt.inspection.prediction import Prediction, outcomes, predict
from minigpt.inspection.sources import load_source, preset_model
from minigpt.model.loss import position_losses

GOLDEN = json.loads((Path(__file__).parents[1] / "golden.json").read_text(encoding="utf-8"))


def traced(model, tokenizer, text: str):
    batch = batch_records([text], tokenizer, model.config.context_length)
    return batch, model.trace(batch.ids, batch.valid)


def test_the_published_softmax_of_mg_1():
    batch, trace = traced(*preset_model("mg-1"), GOLDEN["records"][0])
    steps = predict(trace.logits.at(GOLDEN["position"])).steps(270)
    assert steps.logit == pytest.approx(GOLDEN["logit_270"], abs=1e-12)
    assert steps.greatest == pytest.approx(GOLDEN["logit_max"], abs=1e-12)
    assert steps.total == pytest.approx(GOLDEN["exp_sum_after_max"], abs=1e-11)
    assert steps.probability == pytest.approx(GOLDEN["probability_270"], abs=5e-13)
    assert steps.loss == pytest.approx(GOLDEN["loss_270"], abs=5e-10)


@pytest.mark.parametrize(("name", "step", "allowed"), [("mini-gpt", 600, 1e-12), ("chapter-7", 0, 1e-5)])
def test_every_loss_is_the_models_own(name: str, step: int, allowed: float):
    batch, trace = traced(*load_source(name, step), "The key is red. Answer: red.")
    own = position_losses(trace.logits.values, batch.targets)[0]
    for position in range(batch.target_count):
        steps = predict(trace.logits.at(position)).steps(batch.targets[0, position].item())
        assert steps.loss == pytest.approx(own[position].item(), abs=allowed)
        assert steps.probability == pytest.approx(exp(-steps.loss), abs=1e-12)


def test_by_hand():
    prediction = predict(torch.tensor([0.0, log(2.0), 0.0, log(4.0)], dtype=torch.float64))
    assert prediction.probabilities.tolist() == pytest.approx([1 / 8, 2 / 8, 1 / 8, 4 / 8], abs=1e-15)
    steps = prediction.steps(0)
    assert (steps.shifted, steps.power, steps.total) == pytest.approx((-log(4), 1 / 4, 2), abs=1e-15)
    assert prediction.rest([3, 1]) == pytest.approx(2 / 8)
    assert prediction.rest(range(4)) == 0
    assert prediction.entropy == pytest.approx(2 / 8 * log(8) + 2 / 8 * log(4) + 4 / 8 * log(2))


def test_ties_go_to_the_lowest_id():
    prediction = predict(torch.tensor([1.0, 3.0, 3.0, 1.0]))
    assert [candidate.id for candidate in prediction.top(9)] == [1, 2, 0, 3]
    assert [prediction.candidate(id).rank for id in range(4)] == [3, 1, 2, 4]
    assert prediction.best.id == 1


def test_ranks_agree_with_the_sorted_order():
    logits = torch.randint(0, 9, (300,), generator=torch.Generator().manual_seed(1)).double()
    prediction = predict(logits)
    assert [prediction.candidate(int(id)).rank for id in prediction.order] == list(range(1, 301))


def test_top_candidates_and_the_rest_are_everything():
    logits = torch.randn(50_257, generator=torch.Generator().manual_seed(0)) * 5
    prediction = predict(logits)
    top = prediction.top(50)
    assert sum(one.probability for one in top) + prediction.rest([one.id for one in top]) == pytest.approx(1, abs=1e-12)
    assert prediction.best == top[0]


def test_the_loss_is_finite_where_the_probability_underflows():
    steps = predict(torch.tensor([0.0, 2000.0], dtype=torch.float64)).steps(0)
    assert (steps.probability, steps.loss) == (0.0, 2000.0)


def test_float32_logits_are_taken_as_they_are():
    logits = torch.randn(7, generator=torch.Generator().manual_seed(2))
    assert predict(logits).logits.tolist() == logits.double().tolist()
    assert isinstance(predict(logits), Prediction) and predict(logits).logits.dtype == np.float64


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (torch.zeros(2, 3), r"one position, \(V,\), got shape \(2, 3\)"),
        (torch.zeros(0), r"got shape \(0,\)"),
        (torch.tensor([0.0, float("nan")]), "finite, got nan at id 1"),
    ],
)
def test_refusals(logits, message):
    with pytest.raises(ValueError, match=message):
        predict(logits)


def test_unknown_ids_are_refused():
    with pytest.raises(ValueError, match="id must be a whole number from 0 to 2, got 3"):
        predict(torch.zeros(3)).steps(3)


def test_outcomes_are_those_of_one_position_at_a_time():
    logits = torch.randn(37, 50, generator=torch.Generator().manual_seed(1)).round(decimals=1)  # with ties
    targets = torch.randint(50, (37,), generator=torch.Generator().manual_seed(2))
    for row, target, found in zip(logits, targets.tolist(), outcomes(logits, targets), strict=True):
        one = predict(row)
        assert (found.target, found.rank, found.best) == (target, one.candidate(target).rank, one.best.id)
        assert found.probability == pytest.approx(one.candidate(target).probability, abs=1e-15)
        assert found.best_probability == pytest.approx(one.best.probability, abs=1e-15)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 49, 50, 60])
def test_the_best_are_the_start_of_the_whole_order(count):
    found = predict(torch.randn(50, generator=torch.Generator().manual_seed(3)).round(decimals=0))
    assert [candidate.id for candidate in found.top(count)] == found.order[:count].tolist()
