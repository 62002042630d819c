"""`norm = "rms"` in every part of the program, against arithmetic of its own."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from minigpt.config import ModelConfig, from_dict, to_dict
from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import generate, prompt_ids
from minigpt.huggingface.config import config_object
from minigpt.inspection.stages import derive, explain, formula, recomputed
from minigpt.model.cache import KVCache
from minigpt.model.checkpoints import load_checkpoint, save_checkpoint
from minigpt.model.gpt import MiniGPT
from minigpt.model.kernels.decode import Decoder
from minigpt.model.parameters import parameter_count
from minigpt.presets import preset, shape_name, shape_preset
from minigpt.sizing.variants import variants
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.ui.models.config import CHOICES
from minigpt.ui.shared.training_fields import MORE

IDS = torch.tensor([[3, 7, 7, 0, 19, 4, 11, 2]])


def by_hand(model: MiniGPT, ids: np.ndarray) -> np.ndarray:
    """Logits (T, V) of `ids` (T,) with NumPy alone, in the order of the paper's formulas."""
    config, weights = model.config, {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + config.norm_epsilon) * weights[f"{name}.weight"]

    x = weights["token_embedding"][ids] + weights["position_embedding"][: len(ids)]
    for number in range(config.layers):
        name = f"blocks.{number}"
        q, k, v = np.split(norm(x, f"{name}.norm1") @ weights[f"{name}.attention.qkv"], 3, axis=-1)
        joined = np.zeros_like(x)
        for head in range(config.heads):
            part = slice(head * config.head_width, (head + 1) * config.head_width)
            scores = q[:, part] @ k[:, part].T / math.sqrt(config.head_width)
            scores[np.triu_indices(len(ids), 1)] = -np.inf
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            joined[:, part] = powers / powers.sum(axis=1, keepdims=True) @ v[:, part]
        x = x + joined @ weights[f"{name}.attention.output"]
        hidden = norm(x, f"{name}.norm2") @ weights[f"{name}.ffn.w1"] + weights[f"{name}.ffn.b1"]
        x = x + np.maximum(hidden, 0) @ weights[f"{name}.ffn.w2"] + weights[f"{name}.ffn.b2"]
    return norm(x, "final_norm") @ weights["head"] + weights["head_bias"]


@pytest.mark.parametrize("layers", [1, 3])
def test_logits_equal_an_independent_computation(small, layers: int):
    model = small(norm="rms", layers=layers)
    assert np.abs(model(IDS)[0].detach().numpy() - by_hand(model, IDS[0].numpy())).max() < 1e-12


@pytest.mark.parametrize("layers", [1, 3])
def test_every_stage_is_recomputed_and_derived(small, layers: int):
    model = small(norm="rms", layers=layers)
    trace = model.trace(IDS)
    for stage in trace.stages:
        result = recomputed(model, trace, stage, 5)
        assert result.difference < 1e-12, stage.name
        place = (0,) * result.values.ndim
        work = derive(model, trace, stage, 5, place if len(place) > 1 else 0)
        assert work.value == pytest.approx(work.shown, abs=1e-12)
    block = trace.blocks[-1]
    assert formula(block.norm1, model.config) == "N = X / √(mean of X² + ε) · weight"
    work = derive(model, trace, block.norm2, 5, 2)
    assert work.symbols == "N[2] = R[2] / √(mean square + ε) · weight[2]"
    assert math.fsum(square for *_, square in work.terms) == pytest.approx((block.residual1.at(5) ** 2).sum().item())
    assert "bias" not in work.symbols + work.expression


def test_parameters_are_counted(small):
    for layers in (1, 3):
        model = small(norm="rms", layers=layers)
        stored = sum(parameter.numel() for parameter in model.parameters())
        assert parameter_count(model.config) == stored
        assert stored == parameter_count(small(layers=layers).config) - (2 * layers + 1) * 8
    there = {each.name: each for each in variants(small(norm="rms").config, 1, 2, 1)}
    assert there["rmsnorm"].difference == 0


def test_the_cache_changes_nothing(small):
    model = small(norm="rms", layers=3)
    with torch.no_grad():
        cache = KVCache(model.config)
        model.next_logits(IDS[:, :5], cache)
        for at in range(5, 8):
            cached = Decoder(model)(IDS[:, at], cache)
            assert (cached - model(IDS[:, : at + 1])[:, -1]).abs().max() < 1e-12


def test_generation_with_and_without_cache():
    config = from_dict(ModelConfig, to_dict(preset("mg-1").model) | {"norm": "rms"})
    model, tokenizer = MiniGPT(config).eval(), ByteBPE()
    settings = SampleConfig(temperature=0, max_new_tokens=12)
    texts = [
        [step.id for step in generate(model, tokenizer, prompt_ids(tokenizer, "The "), settings, cached=cached)]
        for cached in (True, False)
    ]
    assert texts[0] == texts[1] and len(texts[0]) == 12


def test_it_learns_and_its_fast_training_path_is_the_same_function(small):
    model = small(norm="rms", layers=2).train()
    plain = model(IDS, hook=lambda name, values: values)
    assert (model(IDS) - plain).abs().max() < 1e-12
    model(IDS).logsumexp(-1).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in model.parameters())


def test_checkpoints_keep_it(small, tmp_path: Path):
    model = small(norm="rms", layers=2)
    save_checkpoint(tmp_path / "a.safetensors", model, 3, "abc")
    loaded = load_checkpoint(tmp_path / "a.safetensors").model
    assert loaded.config == model.config and torch.equal(loaded(IDS), model(IDS))
    with pytest.raises(ValueError, match="has another config: norm rms \\(wanted layer\\)"):
        load_checkpoint(tmp_path / "a.safetensors", small(layers=2).config)


def test_configs_from_before_it_have_layer_norm():
    values = to_dict(preset("mg-1").model)
    del values["norm"]
    assert from_dict(ModelConfig, values).norm == "layer"


def test_it_is_offered_on_models_and_training_and_has_a_link():
    assert "norm" in CHOICES and "norm" in MORE
    config = from_dict(ModelConfig, to_dict(preset("mg-1").model) | {"norm": "rms"})
    assert shape_name("mg-1", config) == "mg-1~norm=rms"
    assert shape_preset("mg-1~norm=rms").model == config


def test_gpt2_cannot_hold_it(small):
    with pytest.raises(ValueError, match="norm is rms, GPT-2 has layer"):
        config_object(small(norm="rms", head_bias=False, attention_bias=True).config)


def test_only_two_norms_are_known(small):
    with pytest.raises(ValueError, match="norm must be one of layer, rms, got 'batch'"):
        small(norm="batch")


def test_its_sentence_speaks_of_no_mean(small):
    class Shown:
        trace = small(norm="rms").trace(IDS)
        position, head, length, slots = 5, 0, 8, 8

    told = explain(Shown(), Shown.trace.blocks[0].norm1)
    assert "mean" not in told and "this vector by" in told
