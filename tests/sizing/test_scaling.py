"""Doublings: the published counts, from real models, and products counted as they happen."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from minigpt.model.cache import KVCache
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import component_counts, shape_only
from minigpt.presets import PRESETS, preset
from minigpt.sizing.scaling import DOUBLINGS, doublings, products


def test_gpt2_small():
    found = {each.name: each for each in doublings(preset("gpt2-small").model)}
    assert tuple(found) == DOUBLINGS
    assert {name: each.parameters for name, each in found.items()} == {
        "as_it_is": 124_439_808,
        "layers": 209_494_272,
        "width": 418_748_928,
        "context_length": 124_439_808 + 1024 * 768,
        "vocab_size": 124_439_808 + 50_257 * 768,
    }
    cache = {name: each.cache_context / 75_497_472 for name, each in found.items()}
    assert cache == {"as_it_is": 1, "layers": 2, "width": 2, "context_length": 2, "vocab_size": 1}
    assert found["as_it_is"].products == 142_406_400


@pytest.mark.parametrize("name", PRESETS)
def test_counts_are_those_of_models(name: str):
    for each in doublings(preset(name).model):
        assert component_counts(shape_only(each.config))["total"] == each.parameters


@torch.no_grad()
def test_products_are_those_that_torch_counts(grid_model: MiniGPT):
    cache = KVCache(grid_model.config)
    ids = torch.tensor([[1, 2, 3, 4, 5, 6, 7]])
    grid_model(ids[:, :6], cache=cache)
    with FlopCounterMode(display=False) as counter:  # two operations a product
        grid_model(ids[:, 6:], cache=cache)
    assert counter.get_total_flops() == 2 * products(grid_model.config, 7)
