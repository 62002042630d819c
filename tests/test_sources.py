"""Sources of models: untrained presets and steps of a run, by name."""

import pytest
import torch

from minigpt.model.gpt import MiniGPT
from minigpt.presets import PRESETS
from minigpt.sources import (
    BUNDLED,
    BUNDLED_RUN,
    SOURCES,
    load_source,
    preset_model,
    run_model,
    source_evaluations,
    source_steps,
)


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
