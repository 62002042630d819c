"""Sources of models: untrained presets and steps of a run, by name."""

import pytest
import torch

from minigpt.inspection import sources
from minigpt.inspection.sources import (
    BUNDLED,
    BUNDLED_RUN,
    SOURCES,
    load_source,
    preset_model,
    run_model,
    source_evaluations,
    source_steps,
)
from minigpt.model.gpt import MiniGPT
from minigpt.presets import PRESETS, shape_preset
from minigpt.sizing import untrained
from minigpt.sizing.untrained import untrained_loss


@pytest.mark.parametrize("name", [name for name in SOURCES[1:] if name != "gpt2-small"])
def test_presets_are_untrained_models_in_evaluation_mode(name: str):
    model, tokenizer = preset_model(name)
    assert not model.training
    assert model.config.vocab_size == tokenizer.vocab_size
    fresh = MiniGPT(model.config)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), fresh.parameters(), strict=True))
    assert (source_steps(name), source_evaluations(name)) == ((0,), [])


def test_the_shipped_run_begins_as_the_preset():
    first, tokenizer = load_source(BUNDLED, 0)
    untrained, same = load_source("mg-1", 0)
    assert tokenizer.fingerprint == same.fingerprint
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), untrained.parameters(), strict=True))


def test_gpt2_small_is_a_source_of_its_real_size():
    assert {*PRESETS} < {*SOURCES}
    with torch.device("meta"):
        model = MiniGPT(PRESETS["gpt2-small"].model)
    assert sum(parameter.numel() for parameter in model.parameters()) == 124_439_808


def test_the_last_step_by_default():
    last, _ = run_model(BUNDLED_RUN)
    assert torch.equal(last.head, load_source(BUNDLED, 600)[0].head)
    assert not torch.equal(last.head, load_source(BUNDLED, 300)[0].head)
    assert source_steps(BUNDLED)[-1] == source_evaluations(BUNDLED)[-1].step == 600


def test_unknown_names_and_steps():
    assert SOURCES[0] == BUNDLED
    for call in (source_steps, source_evaluations, lambda name: load_source(name, 0)):
        with pytest.raises(ValueError, match="model must be one of mini-gpt, mg-1.*got 'gpt-5'"):
            call("gpt-5")
    with pytest.raises(ValueError, match="step must be one of 0, 1, 2, 4.*got 3"):
        load_source(BUNDLED, 3)
    with pytest.raises(ValueError, match="step must be one of 0, got 1"):
        load_source("mg-1", 1)


LINKS = {
    "mg-1~context_length=20000000": "this model takes 2,560,104,856 bytes of memory, at most 1,500,000,000",
    "mg-1~vocab_size=200000000": "this model has 6,600,004,272 parameters, at most 500,000,000",
    "mg-1~width=100000": "this model has 40,078,100,355 parameters",
    "mg-1~layers=100000": "this model has 100,000 blocks, at most 256",
    "mg-1~ffn_width=10000000": "this model takes 2,640,096,152 bytes of memory",
    "mg-1~ffn_width=1000000000000000": "parameters, at most 500,000,000",
    "gpt2-small~layers=36~dtype=float64": "this model takes 2,361,108,480 bytes of memory",
    "mg-1~context_length=6000000~vocab_size=6000000": "bytes of memory, at most 1,500,000,000",
    "poems~width=8192~ffn_width=1": "parameters, at most 500,000,000",
    "mg-1~width=4096~heads=4096~layers=2~context_length=128~ffn_width=4": "a record in 128 slots takes 4,509,860,864",
    "mg-1~layers=256~heads=256~width=256": "a record in 64 slots takes .* bytes of memory in this model, at most 3,500",
    "mg-1~width=1~heads=1~vocab_size=9000000": "a record in 64 slots takes",
}


@pytest.fixture
def nothing_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """To make a model is an error."""

    def made(*_):
        raise AssertionError("the model was made")

    for module in (sources, untrained):
        monkeypatch.setattr(module, "MiniGPT", made)


@pytest.mark.parametrize("name", LINKS)
def test_a_vast_link_is_refused_before_anything_is_made(name: str, nothing_made: None):
    with pytest.raises(ValueError, match=LINKS[name] + ".* allowed here$"):
        load_source(name, 0)


@pytest.mark.parametrize("name", ["mg-1~context_length=20000000", "mg-1~width=1~heads=1~vocab_size=9000000"])
def test_a_vast_model_is_not_made_to_be_measured(name: str, nothing_made: None):
    with pytest.raises(ValueError, match=LINKS[name] + ".* allowed here$"):
        untrained_loss(shape_preset(name).model)
