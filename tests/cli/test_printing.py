"""What `generate` and `models` print: the JSON is the library's own numbers, errors are one sentence."""

import json

import pytest

from minigpt.__main__ import main
from minigpt.cli.printing import preset_objects, readable
from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig, from_dict
from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import generate, prompt_ids
from minigpt.inspection.sources import BUNDLED_RUN, run_model
from minigpt.model.gpt import MiniGPT
from minigpt.presets import PRESETS

RUN = ("--run", str(BUNDLED_RUN), "--step", "100")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["generate", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_json_is_the_librarys_own(capsys: pytest.CaptureFixture[str]):
    options = ("--temperature", "0.8", "--top-k", "20", "--top-p", "0.95", "--seed", "7", "--max-new", "12")
    result = json.loads(answer(capsys, *RUN, "--prompt", "The key ", *options, "--json"))
    model, tokenizer = run_model(BUNDLED_RUN, 100)
    settings = SampleConfig(0.8, top_k=20, top_p=0.95, seed=7, max_new_tokens=12)
    steps = list(generate(model, tokenizer, prompt_ids(tokenizer, "The key "), settings))
    assert result["ids"] == [step.id for step in steps]
    assert result["text"] == tokenizer.decode(result["ids"])
    assert bytes.fromhex(result["bytes"]).decode() == result["text"]
    assert result["stop"] == steps[-1].stop == result["steps"][-1]["stop"]
    assert result["settings"] == settings.to_dict()
    for row, step in zip(result["steps"], steps, strict=True):
        assert (row["id"], row["probability"], row["rank"]) == (step.id, step.probability, step.rank)
        assert len(row["candidates"]) == 5 and row["context"] == len(step.context_ids)


def test_greedy_for_people(capsys: pytest.CaptureFixture[str]):
    text = answer(capsys, *RUN, "--prompt", "The key is red. Answer: ", "--temperature", "0")
    assert text.startswith("The key is red. Answer: red.\n")
    assert text.endswith("  ‹EOS›\nstopped: eos\n")


def test_an_untrained_preset_and_an_empty_prompt(capsys: pytest.CaptureFixture[str]):
    for name in ("mg-1", "chapter-7"):
        result = json.loads(answer(capsys, "--preset", name, "--prompt", "", "--max-new", "5", "--json"))
        assert len(result["ids"]) == len(result["steps"]) <= 5
        assert result["steps"][0]["context"] == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--temperature", "0,7"), "temperature must be a finite number of at least 0, got '0,7'"),
        (("--temperature", "nan"), "temperature must be a finite number of at least 0, got nan"),
        (("--top-k", "2.5"), "top_k must be a whole number of at least 0, got 2.5"),
        (("--top-p", "0"), "top_p must be a number above 0 and at most 1, got 0"),
        (("--seed", "-1"), "seed must be a whole number from 0 to 4294967295, got -1"),
        (("--max-new", "0"), "max_new_tokens must be a whole number of at least 1, got 0"),
        (("--at-context-length", "wrap"), "at_context_length must be one of stop, slide, got 'wrap'"),
        (("--prompt", "z" * 64), "the context must have 1 to 64 ids, BOS included, got 65"),
        (("--step", "3"), "--step needs --run"),
    ],
)
def test_refusals_are_one_sentence(capsys: pytest.CaptureFixture[str], options: tuple, sentence: str):
    assert main(["generate", "--prompt", "a", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith(f"minigpt: {sentence}") and captured.err.count("\n") == 1


def test_bytes_that_are_no_text_are_written_in_hex():
    assert readable("é法".encode()[:-1] + b"\n a") == "é‹E6›‹B3›\n a"
    assert readable(b"\x00\x7f a\t\xc2\x85") == "‹00›‹7F› a\t‹85›"
    assert readable(b"") == ""


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
