"""SampleConfig accepts exactly the documented ranges and says so when it refuses."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from minigpt.config import LARGEST_SAMPLE_SEED
from minigpt.generation.settings import PRESETS, SampleConfig, read_columns, write_columns


@pytest.mark.parametrize("value", [-1, -1e-9, math.nan, math.inf, -math.inf, "0,7", None, True, 10**400])
def test_bad_temperature_is_named_with_value_and_range(value):
    with pytest.raises(ValueError) as error:
        SampleConfig(temperature=value)
    assert "temperature" in str(error.value)
    assert repr(value) in str(error.value)
    assert "must be a finite number of at least 0" in str(error.value)


@pytest.mark.parametrize("value", [0, 0.0, 1e-40, 5e-324, 1, 0.8, 1e300, np.float32(0.5)])
def test_good_temperature_is_stored_as_float(value):
    stored = SampleConfig(temperature=value).temperature
    assert type(stored) is float and stored == value


def test_only_temperature_zero_is_greedy():
    assert SampleConfig(temperature=0).greedy
    assert SampleConfig(temperature=-0.0).greedy
    assert not SampleConfig(temperature=1e-40).greedy
    assert not SampleConfig(top_k=1).greedy


@pytest.mark.parametrize("value", [-1, 2.5, 2.0, True, False, "3", None, math.nan])
def test_bad_top_k_is_refused(value):
    with pytest.raises(ValueError, match="top_k must be a whole number of at least 0, got"):
        SampleConfig(top_k=value)


@pytest.mark.parametrize("value", [0, 1, 291, 100_000, np.int64(5)])
def test_good_top_k_is_stored_as_int(value):
    stored = SampleConfig(top_k=value).top_k
    assert type(stored) is int and stored == value


@pytest.mark.parametrize("value", [0, 0.0, 1.5, -0.1, math.nan, math.inf, "0.9", True, None])
def test_bad_top_p_names_the_range(value):
    with pytest.raises(ValueError, match="top_p must be a number above 0 and at most 1, got"):
        SampleConfig(top_p=value)


@pytest.mark.parametrize("value", [-1, LARGEST_SAMPLE_SEED + 1, 1.0, "7", True, None])
def test_bad_seed_is_refused(value):
    with pytest.raises(ValueError, match="seed must be a whole number from 0 to 4294967295, got"):
        SampleConfig(seed=value)


def test_larger_seeds_would_repeat_smaller_ones():
    generators = [torch.Generator().manual_seed(seed) for seed in (7, 7 + LARGEST_SAMPLE_SEED + 1)]
    first, second = (torch.rand(4, generator=generator) for generator in generators)
    assert torch.equal(first, second)  # why the range ends at 32 bits


@pytest.mark.parametrize("value", [0, -1, 1.5, "24", True])
def test_bad_max_new_tokens_is_refused(value):
    with pytest.raises(ValueError, match="max_new_tokens must be a whole number of at least 1, got"):
        SampleConfig(max_new_tokens=value)


@pytest.mark.parametrize("value", ["wrap", "", None, 1])
def test_bad_context_policy_is_refused(value):
    with pytest.raises(ValueError, match="at_context_length must be one of stop, slide, got"):
        SampleConfig(at_context_length=value)


def test_defaults_are_the_generation_contract():
    settings = SampleConfig()
    assert (settings.seed, settings.max_new_tokens) == (31415, 24)
    assert (settings.temperature, settings.top_k, settings.top_p) == (1.0, 0, 1.0)
    assert settings.at_context_length == "stop"


def test_settings_cannot_be_changed_and_equal_ones_compare_equal():
    settings = SampleConfig(temperature=1, top_p=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.top_k = 3
    assert settings == SampleConfig() and hash(settings) == hash(SampleConfig())


def test_dict_round_trip_and_unknown_keys():
    settings = SampleConfig(0.8, 50, 0.95, 7, 100, "slide")
    assert SampleConfig.from_dict(settings.to_dict()) == settings
    assert SampleConfig.from_dict({"top_k": 5}) == SampleConfig(top_k=5)
    with pytest.raises(ValueError, match="unknown sampling settings: topk; allowed: temperature, top_k"):
        SampleConfig.from_dict({"topk": 5})


def test_presets():
    values = {name: (s.temperature, s.top_k, s.top_p) for name, s in PRESETS.items()}
    assert values == {
        "greedy": (0.0, 0, 1.0),
        "temperature-0.8": (0.8, 0, 1.0),
        "top-k-20": (1.0, 20, 1.0),
        "top-p-0.9": (1.0, 0, 0.9),
        "top-k-50-top-p-0.95": (0.8, 50, 0.95),
    }
    with pytest.raises(TypeError):
        PRESETS["greedy"] = SampleConfig()


def test_written_settings_are_read_again():
    odd = SampleConfig(1e-40, top_k=7, top_p=0.1 + 0.2, seed=2**32 - 1, max_new_tokens=1, at_context_length="slide")
    for columns in ((PRESETS["greedy"], odd), tuple(PRESETS.values())[:4], (odd, odd, odd)):
        assert read_columns(write_columns(columns)) == columns
    assert write_columns(tuple(PRESETS.values())[:2]) == "0,0,1,31415,24;0.8,0,1,31415,24"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,0,1,1,9", "there must be 2 to 4 columns, separated by a semicolon, got 1"),
        (";".join(["0,0,1,1,9"] * 5), "there must be 2 to 4 columns.*got 5"),
        (
            "0,0,1,1,9;0,0,1,1",
            "column 2 must be temperature, top_k, .*, max_new_tokens, then slide or nothing, got '0,0,1,1'",
        ),
        ("0,0,1,1,9,wrap;0,0,1,1,9", "column 1 must be .*got '0,0,1,1,9,wrap'"),
        ("0,0,1,1,9;-1,0,1,1,9", "column 2, '-1,0,1,1,9': temperature must be a finite number of at least 0, got -1"),
        ("0,0,1,1,9;nan,0,1,1,9", "temperature must be .*got nan"),
        ("0,0,1,1,9;1,2.5,1,1,9", "column 2, '1,2.5,1,1,9': top_k must be .*got 2.5"),
        ("0,0,0,1,9;1,2,1,1,9", "top_p must be a number above 0 and at most 1, got 0"),
        ("0,7,0,1,1,9;x", "column 1 must be .*got '0,7,0,1,1,9'"),
        ("0,0,1,1,9;0,7x,1,1,9", "top_k must be .*got '7x'"),
        ("<b>;x", "column 1 must be .*got '<b>'"),
        ("", "there must be 2 to 4 columns"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        read_columns(text)
