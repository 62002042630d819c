"""The overview and the frame around every page, as a reader meets them, without a browser."""

from math import log

import pytest

from minigpt.inspection import sources
from minigpt.inspection.record import inspect_record
from minigpt.inspection.sources import load_source
from minigpt.training.loop import Evaluation
from minigpt.ui.overview.experiments_table import SENTENCES
from tests.pages.app import choose, open_app, table_of

RED = "The key is red. Answer: red."


def metrics(at) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def test_the_first_screen_is_filled_and_shows_the_models_own_numbers():
    at = open_app()
    model, tokenizer = load_source("mini-gpt", 100)
    expected = inspect_record(model, tokenizer, RED, 5)
    shown = metrics(at)
    assert shown["Mean loss of the record"] == f"{expected['loss']:.6f} nats"
    assert shown["If all pieces were equal"] == f"{log(291):.6f} nats"
    assert shown["Probability of the right piece"] == f"{expected['logits']['probability']:.4%}"
    assert shown["Parameters"] == "13,875"
    assert len(at.get("bidi_component")) >= 2  # chips and pipeline


def test_a_link_reproduces_the_view():
    at = open_app(model="mg-1", text=RED, position="5")
    model, tokenizer = load_source("mg-1", 0)
    assert metrics(at)["Mean loss of the record"] == f"{inspect_record(model, tokenizer, RED, 5)['loss']:.6f} nats"
    assert {key: at.query_params[key] for key in ("model", "step", "position")} == {
        "model": "mg-1",
        "step": "0",
        "position": "5",
    }


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"text": ""}, "empty"),
        ({"text": "法" * 30}, "context length is 64"),
        ({"text": "a" * 200_001}, "200,001 characters"),
        ({"model": "gpt-9"}, "mini-gpt, mg-1"),
    ],
)
def test_a_record_or_model_that_cannot_be_used_gets_a_sentence_and_the_page_stays_usable(params, words):
    at = open_app(**params)
    assert len(at.error) == 1
    assert words in at.error[0].value.replace("\\", "")
    choose(at, text=RED)
    at.selectbox(key="model_choice").set_value("mini-gpt").run()
    assert not at.error and not at.exception
    assert metrics(at)["Parameters"] == "13,875"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"step": "77"}, "Step 77 is not saved; showing step 64"),
        ({"position": "40"}, "no position 40 here (0 to 14); showing 14"),
        ({"head": "2"}, "no head 2 here (0 to 1); showing 1"),
        ({"block": "x"}, "block = x; it must be a whole number"),
        ({"block": "-1"}, "block = -1; it must be a whole number"),
    ],
)
def test_a_link_with_a_wrong_value_says_which_and_shows_the_nearest(params, words):
    at = open_app(**params)
    assert [words in warning.value.replace("\\", "") for warning in at.warning] == [True]


def test_hostile_text_from_a_link_is_escaped_in_the_sentence():
    at = open_app(model="<img src=x onerror=alert(1)>**b**")
    assert "<img" not in at.error[0].value.replace(r"\<", "")
    assert r"\<img" in at.error[0].value and r"\*\*b\*\*" in at.error[0].value


def test_changing_record_model_and_step():
    at = open_app()
    choose(at, text="法国的首都叫巴黎。", position=2)
    assert at.query_params["text"] == "法国的首都叫巴黎。" and at.query_params["position"] == "2"
    at.select_slider(key="step_choice").set_value(0).run()
    untrained = metrics(at)["Mean loss of the record"]
    at.selectbox(key="model_choice").set_value("mg-1").run()
    assert metrics(at)["Mean loss of the record"] == untrained  # step 0 of the run is the untrained preset
    at.selectbox(key="model_choice").set_value("chapter-7").run()
    assert not at.exception and metrics(at)["Parameters"] == "884,224"
    at.selectbox(key="model_choice").set_value("mini-gpt").run()
    assert at.query_params["step"] == "600"


def test_the_experiments_run_on_request_and_belong_to_what_is_shown():
    at = open_app()
    at.button(key="run_checks").click().run()
    found = table_of(at)
    assert found["Experiment"] == list(SENTENCES.values()) and found["Result"] == ["passed"] * len(SENTENCES)
    assert all(float(a) <= float(b) for a, b in zip(found["Difference"], found["Allowed"], strict=True))
    at.select_slider(key="step_choice").set_value(0).run()
    with pytest.raises(IndexError):
        table_of(at)


def test_a_newcomer_is_told_where_a_text_of_ones_own_goes():
    links = open_app().get("page_link")
    assert [(link.proto.label, link.proto.page) for link in links] == [
        ("Train a model on your own text: Corpus", "corpus"),
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (None, "From step 100 on it only memorizes"),  # the shipped run
        ([(5.7, 5.7), (4.9, 5.0), (4.2, 4.6586)], "still improving: the last validation loss, 4.6586 nats at step 100"),
        ([(5.7, 5.7), (2.7, 3.77), (2.0, 3.86), (3.0, 3.97)], "3.7700 nats at step 50; at step 150 it is 3.9700"),
        ([(5.7, None), (2.7, None)], "no validation texts"),
    ],
)
def test_the_sentence_about_learning_is_what_the_curve_shows(monkeypatch, rows, words):
    if rows is not None:
        found = [Evaluation(50 * at, train, new, best=False) for at, (train, new) in enumerate(rows)]
        monkeypatch.setattr(sources, "source_evaluations", lambda name: found)
    said = "\n".join(caption.value.replace("\\", "") for caption in open_app().caption)
    assert words in said
    assert ("memorizes" in said) == (rows is None)
