"""`python -m minigpt models`: the presets, whose components add up to what a real model holds."""

import json

import pytest

from minigpt.__main__ import main
from minigpt.cli.catalogue import preset_objects
from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig, from_dict
from minigpt.model.gpt import MiniGPT
from minigpt.presets import PRESETS

COUNTS = {"mg-1": 13_875, "chapter-7": 884_224, "poems": 1_614_720, "numpy-demo": 832_256, "gpt2-small": 124_439_808}


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["models", *arguments]) == 0
    return capsys.readouterr().out


def test_json_lists_every_preset(capsys: pytest.CaptureFixture[str]):
    objects = json.loads(printed(capsys, "--json"))
    assert {each["name"]: each["parameters"] for each in objects} == COUNTS
    for each in objects:
        assert sum(each["components"].values()) == each["parameters"]
        preset = PRESETS[each["name"]]
        assert from_dict(ModelConfig, each["config"]) == preset.model
        assert from_dict(TokenizerConfig, each["tokenizer"]) == preset.tokenizer
        assert from_dict(TrainConfig, each["training"]) == preset.training


@pytest.mark.parametrize("name", [name for name in COUNTS if name != "gpt2-small"])
def test_counts_are_those_of_real_weights(name: str):
    found = next(each for each in preset_objects() if each["name"] == name)
    assert found["parameters"] == sum(tensor.numel() for tensor in MiniGPT(PRESETS[name].model).parameters())


def test_the_table_for_people(capsys: pytest.CaptureFixture[str]):
    lines = printed(capsys).splitlines()
    assert lines[0].split()[:2] == ["preset", "parameters"]
    by_name = {line.split()[0]: line.split()[1:] for line in lines[1:6]}
    assert {name: int(row[0].replace(",", "")) for name, row in by_name.items()} == COUNTS
    for row in by_name.values():
        total, *parts = (int(text.replace(",", "")) for text in row)
        assert total == sum(parts)
    assert len({len(line) for line in lines[:6]}) == 1
    assert "A tied LM head is the token table and counts once." in lines
    assert [line.split()[0] for line in lines[-5:]] == list(COUNTS)
