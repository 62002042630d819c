"""The generate command: its JSON is the library's own numbers, its errors are one sentence."""

import json

import pytest

from minigpt.__main__ import main
from minigpt.cli.generation_text import readable
from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import generate, prompt_ids
from minigpt.inspection.sources import BUNDLED_RUN, run_model

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
        (("--temperature", "0,7"), "temperature is '0,7'; allowed: 0 (greedy) or a finite number above 0"),
        (("--temperature", "nan"), "temperature is nan; allowed"),
        (("--top-k", "2.5"), "top_k is 2.5; allowed: a whole number from 0 (0 is off)"),
        (("--top-p", "0"), "top_p is 0; allowed: a number in (0, 1]"),
        (("--seed", "-1"), "seed is -1; allowed: a whole number from 0 to 4294967295"),
        (("--max-new", "0"), "max_new_tokens is 0; allowed: a whole number from 1"),
        (("--at-context-length", "wrap"), "at_context_length is 'wrap'; allowed: 'stop' or 'slide'"),
        (("--prompt", "z" * 64), "the context has 65 ids, BOS included; allowed: 1 to 64, the context length"),
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
