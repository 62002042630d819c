"""Counts by component, tied tensors once, and the published sizes."""

import pytest

from minigpt.config import ModelConfig
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import COMPONENTS, component_counts, parameter_count, parameter_rows, shape_only
from minigpt.presets import preset

GPT2 = {
    "vocab_size": 50257,
    "context_length": 1024,
    "width": 768,
    "heads": 12,
    "layers": 12,
    "ffn_width": 3072,
    "activation": "gelu_tanh",
    "dtype": "float32",
}
POEMS = {"vocab_size": 6289, "context_length": 128, "width": 128, "heads": 4, "layers": 4, "ffn_width": 512}


def total(**fields) -> int:
    return component_counts(shape_only(ModelConfig(**fields)))["total"]


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"tied_head": True, "attention_bias": True, "head_bias": False}, 124_439_808),
        ({"tied_head": False, "attention_bias": True, "head_bias": False}, 163_037_184),
        ({"tied_head": True, "attention_bias": False, "head_bias": False}, 124_402_944),
        ({"tied_head": True, "attention_bias": True, "head_bias": False, "layers": 24, "heads": 16}, 209_494_272),
        (
            {"tied_head": True, "attention_bias": True, "head_bias": False, "width": 1536, "ffn_width": 6144},
            418_748_928,
        ),
    ],
)
def test_gpt2_sizes(changes: dict, count: int):
    assert total(**GPT2 | changes) == count


def test_poem_sizes():
    fields = POEMS | {"tied_head": True, "attention_bias": True, "head_bias": False}
    counts = component_counts(shape_only(ModelConfig(**fields)))
    assert counts == {
        "token_table": 804_992,
        "position_table": 16_384,
        "attention": 4 * 66_048,
        "ffn": 4 * 131_712,
        "norms": 4 * 512 + 256,
        "lm_head": 0,
        "total": 1_614_720,
    }
    assert total(**fields | {"tied_head": False}) - counts["total"] == 804_992
    assert total(**fields | {"layers": 8, "width": 256, "ffn_width": 1024}) == 7_961_344


def test_rows_are_the_stored_tensors(grid_model: MiniGPT):
    rows = parameter_rows(grid_model)
    state = grid_model.state_dict()
    assert {row.name: row.shape for row in rows} == {name: tuple(tensor.shape) for name, tensor in state.items()}
    assert [row.name for row in rows] == list(state)
    assert sum(row.count for row in rows) == sum(tensor.numel() for tensor in state.values())
    assert {row.component for row in rows} <= set(COMPONENTS)
    for row in rows:
        assert row.block == (int(row.name.split(".")[1]) if row.name.startswith("blocks.") else None)


def test_tied_head_counts_once(small):
    tied, untied = (component_counts(small(tied_head=tied, head_bias=False)) for tied in (True, False))
    assert tied["lm_head"] == 0
    assert untied["total"] - tied["total"] == untied["lm_head"] == 8 * 20


def test_shape_only_takes_no_memory():
    model = shape_only(preset("chapter-7").model)
    assert all(parameter.is_meta for parameter in model.parameters())


def test_limit_is_checked_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINIGPT_MODEL_PARAMETERS", "13874")
    with pytest.raises(ValueError, match="this model has 13,875 parameters, at most 13,874 are allowed"):
        shape_only(preset("mg-1").model)
    monkeypatch.setenv("MINIGPT_MODEL_PARAMETERS", "13875")
    shape_only(preset("mg-1").model)
    with pytest.raises(ValueError, match="at most 13,875"):
        shape_only(ModelConfig(**GPT2))


def test_many_small_blocks_are_refused():
    thin = ModelConfig(vocab_size=2, context_length=1, width=1, heads=1, layers=257, ffn_width=1)
    with pytest.raises(ValueError, match="this model has 257 blocks, at most 256 are allowed"):
        shape_only(thin)


def test_counting_needs_no_model(grid_model: MiniGPT):
    assert parameter_count(grid_model.config) == component_counts(grid_model)["total"]


@pytest.mark.parametrize("name", ["vocab_size", "context_length", "layers", "ffn_width"])
def test_vast_sizes_are_refused_at_once(name: str):
    with pytest.raises(ValueError, match="at most 500,000,000 are allowed"):
        shape_only(ModelConfig(**GPT2 | {name: 10**15}))
