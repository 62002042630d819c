"""Configs: what is refused, in which words, and the presets that are always good."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig, from_dict, model_faults, override, to_dict
from minigpt.presets import PRESETS, Preset, preset

SMALL = ModelConfig(vocab_size=20, context_length=10, width=8, heads=2, layers=1, ffn_width=12)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"vocab_size": 0}, "vocab_size must be a whole number of at least 1, got 0"),
        ({"layers": -1}, "layers must be a whole number of at least 1, got -1"),
        ({"layers": 1.0}, "layers must be a whole number of at least 1, got 1.0"),
        ({"layers": True}, "layers must be a whole number of at least 1, got True"),
        ({"width": "8"}, "width must be a whole number of at least 1, got '8'"),
        ({"heads": 3}, "width must be divisible by heads, got width 8 and 3 heads"),
        ({"activation": "swish"}, "activation must be one of relu, gelu, gelu_tanh, got 'swish'"),
        ({"dtype": "bfloat16"}, "dtype must be one of float64, float32, got 'bfloat16'"),
        ({"tied_head": 1}, "tied_head must be one of True, False, got 1"),
        ({"residual": 0}, "residual must be one of True, False, got 0"),
        ({"norm_epsilon": 0.0}, "norm_epsilon must be a finite number above 0, got 0.0"),
        ({"norm_epsilon": float("nan")}, "norm_epsilon must be a finite number above 0, got nan"),
        ({"dropout": 1.0}, "dropout must be a finite number of at least 0 and below 1, got 1.0"),
        ({"dropout": -0.1}, "dropout must be a finite number of at least 0 and below 1, got -0.1"),
        ({"init_std": float("inf")}, "init_std must be a finite number of at least 0, got inf"),
        ({"init_std": 10**400}, "init_std must be a finite number of at least 0, got 1000"),
        ({"init_seed": -1}, "init_seed must be a whole number from 0 to 9223372036854775807, got -1"),
        ({"init_seed": 2**63}, "init_seed must be a whole number from 0 to 9223372036854775807, got 92233720368547758"),
    ],
)
def test_refused_model_configs(changes: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        replace(SMALL, **changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"steps": 0}, "steps must be a whole number of at least 1, got 0"),
        ({"accumulation": 0}, "accumulation must be a whole number"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"optimizer": "sgd"}, "optimizer must be one of adam, adamw, got 'sgd'"),
        ({"schedule": "linear"}, "schedule must be one of constant, cosine"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number above 0, got 0.0"),
        ({"beta2": 1.0}, "beta2 must be a finite number of at least 0 and below 1"),
        ({"batch_seed": 2**63}, "batch_seed must be a whole number from 0 to 9223372036854775807, got 9"),
        ({"dropout_seed": -1}, "dropout_seed must be a whole number from 0 to"),
        ({"clip_norm": -1.0}, "clip_norm must be a finite number of at least 0"),
        ({"weight_decay": 0.1}, "weight_decay needs optimizer 'adamw', got 0.1 with 'adam'"),
        ({"warmup_steps": 600}, "warmup_steps must be below steps, got 600 of 600"),
    ],
)
def test_refused_training_configs(changes: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        replace(TrainConfig(), **changes)


def test_refused_tokenizer_configs():
    for changes in ({"merges": -1}, {"kind": "words"}):
        with pytest.raises(ValueError, match="merges must be|kind must be one of"):
            TokenizerConfig(**changes)


@pytest.mark.parametrize("chosen", PRESETS.values(), ids=lambda chosen: chosen.name)
def test_presets(chosen: Preset):
    assert preset(chosen.name) is chosen
    assert chosen.about
    for config in (chosen.model, chosen.training, chosen.tokenizer):
        assert from_dict(type(config), to_dict(config)) == config
        assert list(to_dict(config)) == [field.name for field in fields(config)]
        with pytest.raises(FrozenInstanceError):
            setattr(config, fields(config)[0].name, 1)


def test_unknown_preset_lists_the_known():
    with pytest.raises(ValueError, match="preset must be one of mg-1, chapter-7.*got 'mg-2'"):
        preset("mg-2")


def test_plain_values_with_unknown_or_missing_keys():
    values = to_dict(SMALL)
    with pytest.raises(ValueError, match="ModelConfig has no field depth, n_head; fields: activation, "):
        from_dict(ModelConfig, values | {"n_head": 2, "depth": 1})
    for other in (5, [], None, "x"):
        with pytest.raises(ValueError, match="ModelConfig must be an object with its fields, got"):
            from_dict(ModelConfig, other)
    with pytest.raises(ValueError, match="ModelConfig is incomplete: .*'layers'"):
        from_dict(ModelConfig, {name: value for name, value in values.items() if name != "layers"})


def test_override_reads_text_by_the_field():
    changed = override(TrainConfig(), {"steps": "100", "learning_rate": "1e-3", "optimizer": "adamw"})
    assert changed == replace(TrainConfig(), steps=100, learning_rate=0.001, optimizer="adamw")
    assert override(SMALL, {"tied_head": "True"}).tied_head is True
    assert override(SMALL, {"head_bias": "false"}).head_bias is False


@pytest.mark.parametrize(
    ("assignments", "sentence"),
    [
        ({"step": "1"}, "TrainConfig has no field 'step'; fields: steps, "),
        ({"steps": "1.5"}, "steps must be a whole number, got '1.5'"),
        ({"learning_rate": "0,1"}, "learning_rate must be a number, got '0,1'"),
        ({"learning_rate": "nan"}, "learning_rate must be a finite number above 0, got nan"),
    ],
)
def test_refused_overrides(assignments: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        override(TrainConfig(), assignments)


def test_refused_boolean_override():
    with pytest.raises(ValueError, match="tied_head must be one of true, false, got 'yes'"):
        override(SMALL, {"tied_head": "yes"})


def test_head_width():
    assert (SMALL.head_width, replace(SMALL, heads=8).head_width) == (4, 1)


def test_every_fault_of_a_model_is_named():
    values = to_dict(SMALL)
    assert model_faults(values) == []
    assert model_faults(values | {"heads": 3}) == [
        "width must be divisible by heads, got width 8 and 3 heads; the nearest widths that work are 6 and 9"
    ]
    assert model_faults(values | {"heads": 9}) == [
        "width must be divisible by heads, got width 8 and 9 heads; the smallest width that works is 9"
    ]
    found = model_faults(values | {"heads": 0, "layers": -1, "activation": "swish", "dropout": 1.0, "width": 7})
    assert found == [
        "heads must be a whole number of at least 1, got 0",
        "layers must be a whole number of at least 1, got -1",
        "activation must be one of relu, gelu, gelu_tanh, got 'swish'",
        "dropout must be a finite number of at least 0 and below 1, got 1.0",
    ]
    needed = {name: value for name, value in values.items() if name in ("vocab_size", "context_length", "layers")}
    assert model_faults(needed | {"heads": 2, "width": 8, "ffn_width": 12}) == []


@pytest.mark.parametrize("name", [field.name for field in fields(ModelConfig)])
def test_every_field_of_a_model_can_be_at_fault(name: str):
    assert len(model_faults(to_dict(SMALL) | {name: None})) == 1
