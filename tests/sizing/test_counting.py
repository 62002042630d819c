"""Every published count of the four models, out of real ones, and why they differ."""

from dataclasses import replace

import pytest

from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import parameter_count
from minigpt.presets import PRESETS, preset
from minigpt.sizing.counting import CONVENTIONS, block_count, counts, one_more_id

GPT2 = preset("gpt2-small").model


def by_name(config) -> dict[str, int]:
    return {count.name: count.count for count in counts(config)}


def test_gpt2_small():
    assert by_name(GPT2) == {
        "stored": 124_439_808,
        "no_final_norm": 124_438_272,
        "attention_bias": 124_402_944,
        "head": 163_037_184,
        "no_positions": 123_653_376,
        "no_tables": 85_056_000,
    }


def test_differences_are_what_is_left_out():
    differences = {count.name: count.difference for count in counts(GPT2)}
    assert differences == {
        "stored": 0,
        "no_final_norm": -2 * 768,
        "attention_bias": -12 * 4 * 768,
        "head": 50_257 * 768,
        "no_positions": -1024 * 768,
        "no_tables": -(50_257 + 1024) * 768,
    }


def test_one_block_of_gpt2_small():
    block = block_count(GPT2)
    assert (block.total, block.matrices_and_norms) == (7_087_872, 7_080_960)
    assert (block.attention_biases, block.ffn_biases) == (4 * 768, 3072 + 768)
    assert 12 * block.total + (50_257 + 1024) * 768 + 2 * 768 == 124_439_808


def test_poems():
    config = preset("poems").model
    assert by_name(config)["stored"] == 1_614_720
    assert by_name(config)["head"] - by_name(config)["stored"] == 804_992
    assert block_count(config).total == 198_272
    larger = by_name(replace(config, layers=8, width=256, ffn_width=1024))["stored"]
    assert larger == 7_961_344
    assert round(100 * 6289 * 256 / larger, 1) == 20.2


def test_mg1():
    config = preset("mg-1").model
    assert by_name(config)["stored"] == 13_875
    assert one_more_id(config) == 33
    assert by_name(config)["head"] == 13_875 - 16 * 291, "tied, its 4,656 LM weights are those of the table"
    assert by_name(config)["attention_bias"] == 13_875 + 4 * 16, "it has none: the other count has them"


def test_the_numpy_demo():
    demo = preset("numpy-demo").model
    assert by_name(demo)["stored"] == 832_256
    assert one_more_id(demo) == 128
    assert by_name(replace(demo, vocab_size=259))["stored"] == 832_256 + 3 * 128


@pytest.mark.parametrize("name", PRESETS)
def test_formula_and_model_together(name: str):
    config = preset(name).model
    found = counts(config)
    assert [count.name for count in found] == list(CONVENTIONS)
    assert found[0].count == parameter_count(config)
    assert all(count.count - found[0].count == count.difference for count in found)


def test_real_weights_are_as_many(grid_model: MiniGPT):
    stored = sum(tensor.numel() for tensor in grid_model.parameters())
    assert by_name(grid_model.config)["stored"] == stored
    blocks = grid_model.config.layers * block_count(grid_model.config).total
    head = by_name(grid_model.config)["no_tables"] - blocks - 2 * grid_model.config.width
    assert head == (grid_model.head_bias.numel() if grid_model.config.head_bias else 0)


def test_beyond_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINIGPT_MODEL_PARAMETERS", "124439808")
    assert by_name(GPT2)["head"] == 163_037_184
    with pytest.raises(ValueError, match="this model has 163,037,184 parameters, at most 124,439,808 are allowed"):
        counts(replace(GPT2, tied_head=False))
