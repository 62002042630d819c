"""Names of shapes: there and back, and what is no name."""

from dataclasses import replace

import pytest

from minigpt.config import to_dict
from minigpt.inspection.sources import load_source, source_evaluations, source_steps
from minigpt.presets import PRESETS, changed_words, preset, shape_name, shape_preset

POEMS = preset("poems").model


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"layers": 8, "width": 256, "ffn_width": 1024},
        {"tied_head": False, "residual": False, "activation": "relu", "dtype": "float64"},
        {"norm_epsilon": 1e-12, "init_std": 0.123456789012345, "dropout": 0.0, "init_seed": 2**63 - 1},
    ],
)
def test_there_and_back(changes: dict):
    config = replace(POEMS, **changes)
    name = shape_name("poems", config)
    assert shape_preset(name) == replace(preset("poems"), model=config)
    assert name.count("~") == name.count("=") == len(changes)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_own_name(name: str):
    assert shape_name(name, preset(name).model) == name
    assert shape_preset(name) is not None and shape_preset(name) == preset(name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("poem~layers=8", "preset must be one of mg-1, .*got 'poem'"),
        ("poems~", "named PRESET~FIELD=VALUE~…, each field once, got 'poems~'"),
        ("poems~layers", "named PRESET~FIELD=VALUE"),
        ("poems~layers=8~layers=9", "each field once"),
        ("poems~depth=8", "ModelConfig has no field 'depth'; fields: vocab_size, "),
        ("poems~layers=many", "layers must be a whole number, got 'many'"),
        ("poems~width=130", "width must be divisible by heads, got width 130 and 4 heads"),
    ],
)
def test_what_is_no_name(name: str, sentence: str):
    for call in (shape_preset, source_steps):
        with pytest.raises(ValueError, match=sentence):
            call(name)


def test_shapes_are_sources():
    name = "mg-1~layers=3~residual=false"
    assert (source_steps(name), source_evaluations(name)) == ((0,), [])
    model, tokenizer = load_source(name, 0)
    assert (model.config.layers, model.config.residual, model.config.vocab_size) == (3, False, 291)
    assert tokenizer.vocab_size == 291 and not model.training


@pytest.mark.parametrize(
    ("name", "model_ids", "tokenizer_ids"),
    [
        ("mg-1~vocab_size=270", 270, 270),
        ("mg-1~vocab_size=100", 259, 259),
        ("mg-1~vocab_size=1000", 1000, 291),
        ("poems~vocab_size=200", 200, 200),
        ("poems~vocab_size=20000", 20000, 7050),
        ("poems~vocab_size=2", 4, 4),
    ],
)
def test_vocabularies(name: str, model_ids: int, tokenizer_ids: int):
    model, tokenizer = load_source(name, 0)
    assert (model.config.vocab_size, tokenizer.vocab_size) == (model_ids, tokenizer_ids)


def test_a_link_to_a_vast_model_is_refused_at_once():
    with pytest.raises(ValueError, match="at most 500,000,000 are allowed"):
        load_source("mg-1~ffn_width=1000000000", 0)


def test_what_differs_in_words():
    assert changed_words("poems", to_dict(POEMS)) == ""
    changes = {"vocab_size": 7, "context_length": 9, "ffn_width": 3, "tied_head": False, "init_std": 0.1}
    said = "poems, changed: vocab_size = 7, context_length = 9, ffn_width = 3, tied_head = false, init_std = 0.1"
    assert changed_words("poems", to_dict(replace(POEMS, **changes))) == said
    assert changed_words("mg-1", to_dict(preset("mg-1").model) | {"heads": 0}) == "mg-1, changed: heads = 0"
