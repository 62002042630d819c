"""The logits page, as a reader meets it, without a browser."""

import json

import pytest

from minigpt.figures.theme import TARGET
from minigpt.inspection.record import inspect_record
from minigpt.inspection.sources import load_source
from tests.pages.app import choose, open_app

RED = "The key is red. Answer: red."
HOSTILE = "<img src=x onerror=alert(1)> $x$ **b** :red[c]\n🙂"
PANELS = ["Softmax in numbers", "Whole distribution", "After each block", "All positions"]


def open_panel(at, name: str):
    at.session_state["logits_panel"] = name
    at.run()
    assert not at.exception, [exception.value for exception in at.exception]
    return at


def chart(at, number: int) -> list[dict]:
    return json.loads(at.get("plotly_chart")[number].proto.spec)["data"]


def losses(at) -> list[dict]:
    return json.loads(at.get("echarts_chart")[0].proto.spec)["series"][0]["data"]


def numbers(at) -> list[float]:
    """The third column of the softmax table."""
    table = next(text.value for text in at.markdown if text.value.startswith("| Step"))
    return [float(line.split(" | ")[2].replace("−", "-")) for line in table.splitlines()[2:]]


def test_the_sentence_gives_the_published_prediction():
    at = open_app("logits", model="mg-1", text=RED, position="5")
    said = at.markdown[0].value
    assert "The target **red** gets 0.379 %: rank 29 of 291, loss 5.5744 nats." in said


def test_a_target_in_first_place_is_told_once():
    at = open_app("logits", model="mini-gpt", step="600", text=RED, position="5")
    assert "expects **red** with 77.5 %. That is the target: rank 1 of 291" in at.markdown[0].value


def test_bars_are_the_models_probabilities_and_the_strip_is_all_of_them():
    at = open_app("logits", model="mg-1", text=RED, position="5")
    strip, bars = chart(at, 0)
    model, tokenizer = load_source("mg-1", 0)
    expected = inspect_record(model, tokenizer, RED, 5)["logits"]
    assert len(bars["x"]) == 11  # ten candidates and the target, which is 29th
    assert bars["x"][-1] == pytest.approx(expected["probability"], abs=1e-12)
    assert sum(strip["x"]) == pytest.approx(1, abs=1e-12)
    assert strip["hovertext"][-1].startswith("280 other ids")


def test_the_number_of_candidates_is_chosen():
    at = open_app("logits", model="mg-1", text=RED, position="5")
    at.segmented_control(key="candidates_shown").set_value(50).run()
    assert len(chart(at, 0)[1]["x"]) == 50
    assert sum(chart(at, 0)[0]["x"]) == pytest.approx(1, abs=1e-12)


def test_losses_follow_the_position():
    at = open_app("logits", model="mg-1", text=RED, position="5")
    model, tokenizer = load_source("mg-1", 0)
    before = losses(at)
    choose(at, position=9)
    after = losses(at)
    assert [bar["value"] for bar in before] == [bar["value"] for bar in after] and len(after) == 15
    mean = sum(bar["value"] for bar in after) / 15
    assert mean == pytest.approx(inspect_record(model, tokenizer, RED, 5)["loss"], abs=1e-12)
    assert [at for at, bar in enumerate(after) if bar["itemStyle"]["color"] == TARGET] == [9]


def test_softmax_in_numbers_is_the_published_arithmetic():
    at = open_app("logits", model="mg-1", text=RED, position="5")
    found = numbers(at)
    assert found[1] == pytest.approx(0.20936204844775802, abs=1e-12)
    assert found[4] == pytest.approx(236.07843517556194, abs=1e-11)
    assert found[5:] == pytest.approx([0.003793843386, 5.574375688], abs=5e-10)
    assert found[3] / found[4] == pytest.approx(found[5], abs=1e-16)


def test_the_lens_ends_with_the_models_own_prediction():
    at = open_panel(open_app("logits", model="chapter-7", text=RED, position="5"), "After each block")
    table = at.dataframe[0].value
    assert table["after"].tolist() == ["embeddings", "block 0", "block 1", "block 2", "block 3"]
    model, tokenizer = load_source("chapter-7", 0)
    own = inspect_record(model, tokenizer, RED, 5)["logits"]
    assert table["loss (nats)"].tolist()[-1] == f"{own['loss']:.4f}"


def test_all_positions_have_their_rank():
    at = open_panel(open_app("logits", model="mg-1", text=RED, position="5"), "All positions")
    table = at.dataframe[0].value
    assert len(table) == 15 and table["rank"].tolist()[5] == 29
    assert table["target"].tolist()[-1] == "‹EOS›"


def test_the_map_by_id_stands_beside_the_curve():
    at = open_panel(open_app("logits", text=RED), "Whole distribution")
    before = len(at.get("bidi_component"))
    assert len(at.get("plotly_chart")) == 2
    at.segmented_control(key="order").set_value("id").run()
    assert len(at.get("plotly_chart")) == 1 and len(at.get("bidi_component")) == before + 1


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize(("model", "text"), [("mini-gpt", HOSTILE), ("chapter-7", "法国的首都叫巴黎。"), ("mg-1", " ")])
def test_every_panel_takes_any_text_at_both_ends(panel: str, model: str, text: str):
    at = open_panel(open_app("logits", model=model, text=text, position="0"), panel)
    last = len(losses(at)) - 1
    choose(at, position=last)
    assert at.title[0].value == "What would it say next?"
