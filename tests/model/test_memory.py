"""Bytes from the shape equal the bytes of real models, caches, moments and traces."""

from dataclasses import replace

import pytest
import torch

from minigpt.config import TrainConfig
from minigpt.model.cache import KVCache
from minigpt.model.gpt import MiniGPT
from minigpt.model.memory import memory, readable_bytes, trace_bytes
from minigpt.presets import PRESETS, preset
from minigpt.training.adam import Adam


def held(tensors) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def test_weights_gradients_and_moments(grid_model: MiniGPT):
    found = memory(grid_model.config)
    parameters = list(grid_model.parameters())
    grid_model(torch.tensor([[1, 2]])).sum().backward()
    moments = Adam(grid_model, TrainConfig())
    assert found.weights == held(parameters)
    assert found.gradients == held(parameter.grad for parameter in parameters)
    assert found.moments == held([*moments.first.values(), *moments.second.values()])
    assert found.training == 4 * found.weights == found.weights + found.gradients + found.moments


def test_cache_and_logits(grid_model: MiniGPT):
    config = grid_model.config
    found = memory(config)
    assert found.cache_token == KVCache(config, capacity=1).bytes
    assert found.cache_context == KVCache(config).bytes
    with torch.no_grad():
        assert found.logits_context == held([grid_model(torch.zeros(1, config.context_length, dtype=torch.long))])


@pytest.mark.parametrize("positions", [1, 7, 10])
def test_traces(grid_model: MiniGPT, positions: int):
    trace = grid_model.trace(torch.zeros(1, positions, dtype=torch.long))
    assert trace_bytes(grid_model.config, positions) == held(stage.values for stage in trace.stages)


def test_published_sizes():
    found = memory(preset("gpt2-small").model)
    assert (found.number, found.weights, found.training) == (4, 497_759_232, 1_991_036_928)
    assert (found.cache_token, found.cache_context) == (4 * 18_432, 75_497_472)
    assert memory(preset("mg-1").model).weights == 13_875 * 8
    assert memory(replace(preset("mg-1").model, dtype="float32")).weights == 13_875 * 4
    assert trace_bytes(preset("mg-1").model, 64) == 497_152


@pytest.mark.parametrize("name", PRESETS)
def test_presets_need_no_numbers_to_be_measured(name: str):
    assert memory(preset(name).model).weights > 0


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.00 KiB"),
        (111_000, "108 KiB"),
        (75_497_472, "72.0 MiB"),
        (497_759_232, "475 MiB"),
        (1_991_036_928, "1.85 GiB"),
        (1_048_000, "1.00 MiB"),
        (5 * 1024**5, "5120 TiB"),
    ],
)
def test_readable(count: int, text: str):
    assert readable_bytes(count) == text
