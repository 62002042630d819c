"""The strip without a browser: what it says about a record that cannot be read, and how it calls models."""

import pytest

from minigpt.inspection import sources
from minigpt.ui.frame import strip
from tests.pages.app import choose, open_app


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("q" * 200, "The record needs 201 positions; the context length is 64: leave out about 137 tokens"),
        ("", "The record is empty; type at least one character"),
    ],
)
def test_a_record_that_cannot_be_read_has_a_sentence(text: str, sentence: str):
    at = open_app("tokens", text=text)
    assert [error.value.replace("\\", "") for error in at.error] == [sentence]


def test_titles_begin_with_what_tells_models_apart(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        strip, "run_title", lambda id: {"a": "keys: mg-1, rate 0.01 · 1a2b"}.get(id, f"deleted run {id}")
    )
    assert strip.model_title("run-a") == "1a2b · keys: mg-1, rate 0.01"
    assert strip.model_title("run-b") == "deleted run b"
    assert strip.model_title("mg-1") == "MG-1, untrained"
    assert strip.model_title("mg-1~width=24~ffn_width=96") == "Untrained mg-1: width 24, ffn width 96"


def test_the_whole_of_a_long_title_is_in_the_tooltip_of_the_box():
    box = open_app("tokens", model="mg-1~width=24~heads=3~layers=2").selectbox(key="model_choice")
    assert box.help.replace("\\", "") == "Untrained mg-1: width 24, heads 3, layers 2"
    assert not open_app("tokens").selectbox(key="model_choice").help


@pytest.mark.parametrize("page", [None, "tokens", "stages", "attention", "logits", "sampling"])
def test_a_link_to_a_vast_model_has_a_sentence_and_the_page_goes_on(page: str | None, monkeypatch: pytest.MonkeyPatch):
    make = sources.MiniGPT
    monkeypatch.setattr(sources, "MiniGPT", None)  # to make a model would raise
    at = open_app(page, model="mg-1~context_length=20000000")
    sentence = "This model takes 2,560,104,856 bytes of memory, at most 1,500,000,000 are allowed here"
    assert [error.value.replace("\\", "") for error in at.error] == [sentence]
    monkeypatch.setattr(sources, "MiniGPT", make)
    at.selectbox(key="model_choice").set_value("mg-1").run()
    assert not at.error and not at.exception


def test_a_record_whose_stages_are_vast_makes_no_model(monkeypatch: pytest.MonkeyPatch):
    make = sources.MiniGPT
    monkeypatch.setattr(sources, "MiniGPT", None)
    at = open_app("attention", model="mg-1~context_length=20000~init_seed=4", text="ab c" * 4000)
    (error,) = at.error
    assert "of memory in this model, at most 3,500,000,000 are allowed here" in error.value.replace("\\", "")
    monkeypatch.setattr(sources, "MiniGPT", make)
    at.button(key="use_fitting").click().run()
    assert not at.error and not at.exception
    choose(at, text="ab c" * 4000)  # the model is there now, the record is refused all the same
    assert len(at.error) == 1
