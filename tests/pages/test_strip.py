"""The strip without a browser: what it says about a record that cannot be read, and how it calls models."""

import pytest

from minigpt.ui import strip
from tests.pages.app import open_app


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
