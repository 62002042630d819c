"""Doublings and the five changes: counts by hand, published, and against blocks of transformers that have them."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from minigpt.config import ModelConfig
from minigpt.model.cache import KVCache
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import component_counts, parameter_count, shape_only
from minigpt.presets import PRESETS, preset
from minigpt.sizing.variants import DOUBLINGS, VARIANTS, divisors, doublings, gated_width, products, variants

GPT2 = preset("gpt2-small").model


def named(config: ModelConfig, groups: int = 1, experts: int = 8, chosen: int = 2) -> dict:
    return {variant.name: variant for variant in variants(config, groups, experts, chosen)}


def test_gpt2_small_by_hand():
    found = named(GPT2, groups=4)
    assert tuple(found) == VARIANTS
    assert {name: variant.difference for name, variant in found.items()} == {
        "rope": -1024 * 768,
        "rmsnorm": -25 * 768,
        "swiglu": -12 * (3072 + 768),  # 3 x 768 x 2048 is 2 x 768 x 3072: only the biases go
        "gqa": -12 * 2 * (768 * 512 + 512),
        "experts": 12 * (7 * (2 * 768 * 3072 + 3072 + 768) + 768 * 8),
    }
    assert all(variant.parameters == 124_439_808 + variant.difference for variant in found.values())
    assert {variant.cache_token for name, variant in found.items() if name != "gqa"} == {4 * 18_432}
    assert found["gqa"].cache_token == 4 * 18_432 // 3


def test_a_token_uses_the_chosen_experts_only():
    ffn = 2 * 768 * 3072 + 3072 + 768
    found = named(GPT2, experts=8, chosen=2)
    assert found["experts"].parameters - found["experts"].active == 12 * 6 * ffn
    assert all(variant.active == variant.parameters for name, variant in found.items() if name != "experts")
    assert named(GPT2, experts=1, chosen=1)["experts"].difference == 12 * 768, "one expert: only the router is new"


def test_as_many_groups_as_heads_change_nothing():
    found = named(GPT2, groups=12)["gqa"]
    assert (found.difference, found.cache_token) == (0, 4 * 18_432)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((5, 8, 2), "groups must divide the 12 heads, got 5"),
        ((0, 8, 2), "groups must divide the 12 heads, got 0"),
        ((1, 0, 1), "experts must be a whole number of at least 1, got 0"),
        ((1, 4, 5), "chosen must be a whole number from 1 to 4, got 5"),
    ],
)
def test_refused(arguments: tuple, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        variants(GPT2, *arguments)


def test_divisors():
    assert [divisors(heads) for heads in (1, 2, 12)] == [[1], [1, 2], [1, 2, 3, 4, 6, 12]]


@pytest.mark.parametrize("experts", [0, 4])
def test_all_at_once_is_a_model_of_transformers(experts: int):
    """Llama and Mixtral have the first four (and the fifth): their tensors, without the tables' sizes, are ours."""
    transformers = pytest.importorskip("transformers")
    import torch

    config = ModelConfig(40, 16, width=24, heads=6, layers=3, ffn_width=36, attention_bias=False, head_bias=False)
    sizes = {"vocab_size": 40, "hidden_size": 24, "num_attention_heads": 6, "num_key_value_heads": 2}
    sizes |= {"num_hidden_layers": 3, "intermediate_size": gated_width(config), "max_position_embeddings": 16}
    with torch.device("meta"):
        if experts:
            kind = transformers.MixtralConfig(**sizes, num_local_experts=experts, tie_word_embeddings=False)
            theirs = transformers.MixtralForCausalLM(kind)
        else:
            theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, tie_word_embeddings=False))
    found = named(config, groups=2, experts=4, chosen=2)
    wanted = parameter_count(config) + sum(found[name].difference for name in ("rope", "rmsnorm", "swiglu", "gqa"))
    if experts:  # of gated FFNs
        wanted += 3 * (24 * experts + (experts - 1) * 3 * 24 * gated_width(config))
    assert sum(parameter.numel() for parameter in theirs.parameters()) == wanted


def test_heads_of_one_number():
    config = replace(preset("mg-1").model, heads=16)
    assert named(config, groups=1)["gqa"].difference == -2 * 15 * 16


def test_doublings_of_gpt2_small():
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
def test_doublings_are_those_of_models(name: str):
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
