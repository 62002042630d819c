"""The loss before training: measured on a real model, near ln V, and explained by the spread of the logits."""

from dataclasses import replace
from math import log

import pytest
import torch

from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import loss
from minigpt.presets import preset
from minigpt.sizing.untrained import POSITIONS, SEED, untrained_loss


def test_it_is_the_mean_over_every_target(small):
    config = small(layers=2).config
    ids = torch.randint(20, (1, 10), generator=torch.Generator().manual_seed(SEED))
    logits = MiniGPT(config)(ids)
    each = [loss(logits, torch.full((1, 10), target)).item() for target in range(20)]
    found = untrained_loss(config)
    assert found.loss == pytest.approx(sum(each) / 20, abs=1e-12)
    assert (found.uniform, found.positions) == (log(20), 10)


@pytest.mark.parametrize("name", ["mg-1", "chapter-7", "poems", "numpy-demo"])
def test_presets_begin_near_ln_v(name: str):
    found = untrained_loss(preset(name).model)
    assert found.positions == POSITIONS
    assert 0 < found.loss - found.uniform < 0.03
    assert found.loss - found.uniform == pytest.approx(found.spread / 2, rel=0.02)


def test_weights_of_nothing_give_ln_v_itself():
    found = untrained_loss(replace(preset("poems").model, init_std=0.0))
    assert found.loss == pytest.approx(log(6289), abs=1e-6)
    assert found.spread == 0


def test_large_weights_begin_far_above():
    found = untrained_loss(replace(preset("poems").model, init_std=0.2))
    assert found.loss - found.uniform > 1


def test_beyond_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINIGPT_MODEL_PARAMETERS", "1000")
    with pytest.raises(ValueError, match="this model has 13,875 parameters, at most 1,000 are allowed"):
        untrained_loss(preset("mg-1").model)
