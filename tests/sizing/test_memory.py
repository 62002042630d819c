"""Bytes from the shape equal the bytes of real models, caches, moments and traces."""

import threading
from dataclasses import replace

import pytest
import torch

from minigpt.config import TrainConfig
from minigpt.inspection.stages import trace_bytes
from minigpt.inspection.trace_memory import check_trace, tracing_bytes
from minigpt.model.cache import KVCache
from minigpt.model.gpt import MiniGPT
from minigpt.model.size_limits import LARGE, building_bytes, check_model, one_at_a_time
from minigpt.presets import PRESETS, preset
from minigpt.sizing.memory import memory, readable_bytes
from minigpt.training.optimizer import Adam


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
        (0, "0 B"),
        (1023, "1023 B"),
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


def test_what_making_and_tracing_take():
    gpt2, mg1 = preset("gpt2-small").model, preset("mg-1").model
    assert building_bytes(gpt2) == 4 * (124_439_808 + 768 * 768) == 500_118_528
    assert building_bytes(mg1) == 8 * (13_875 + 16 * 16)
    inside = 8 * (2 * 2 * 64 * 64 + 64 * 291) + 64 * 64  # two arrays (H, T, T), the logits, a mask
    assert tracing_bytes(mg1, 64) == 2 * 497_152 + inside == 1_278_464


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_within_the_limits_at_its_full_context(name: str):
    config = preset(name).model
    check_model(config)
    check_trace(config, config.context_length)


def test_limits_are_named_with_what_is_asked_and_allowed(monkeypatch: pytest.MonkeyPatch):
    config = preset("mg-1").model
    monkeypatch.setenv("MINIGPT_MODELS_BYTES", "113048")
    check_model(config)
    monkeypatch.setenv("MINIGPT_MODELS_BYTES", "113047")
    with pytest.raises(ValueError, match="^this model takes 113,048 bytes of memory, at most 113,047 are allowed"):
        check_model(config)
    monkeypatch.setenv("MINIGPT_RECORD_BYTES", "1278464")
    check_trace(config, 64)
    monkeypatch.setenv("MINIGPT_RECORD_BYTES", "1278463")
    with pytest.raises(ValueError, match="a record in 64 slots takes 1,278,464 bytes .*, at most 1,278,463 are"):
        check_trace(config, 64)


def test_one_large_thing_is_made_at_a_time_and_small_ones_do_not_wait():
    made = []

    def make(size: int) -> None:
        with one_at_a_time(size):
            made.append(size)

    threads = {size: threading.Thread(target=make, args=(size,), daemon=True) for size in (LARGE, LARGE - 1)}
    with one_at_a_time(LARGE):
        for thread in threads.values():
            thread.start()
        threads[LARGE - 1].join(10)
        threads[LARGE].join(0.1)
        assert made == [LARGE - 1]
    threads[LARGE].join(10)
    assert made == [LARGE - 1, LARGE]
