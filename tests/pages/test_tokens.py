"""The tokens page, as a reader meets it, without a browser."""

import json

import pytest

from minigpt.inspection.record import inspect_record
from minigpt.inspection.sources import load_source
from tests.pages.app import choose, open_app, table_of

RED = "The key is red. Answer: red."
HOSTILE = "<img src=x onerror=alert(1)> $x$ **b**\n🙂"
PANELS = ["Inputs and targets", "Slots and padding", "Special ids", "Vocabulary"]


def open_panel(at, name: str):
    at.session_state["tokens_panel"] = name
    at.run()
    assert not at.exception, [exception.value for exception in at.exception]
    return at


def test_the_table_of_inputs_and_targets_is_the_records_own():
    at = open_app("tokens", model="mg-1", text=RED)
    model, tokenizer = load_source("mg-1", 0)
    expected, table = inspect_record(model, tokenizer, RED, 5), table_of(at)
    inputs, targets = ([int(id) for id in table[name]] for name in ("input id", "target id"))
    assert (inputs, targets) == (expected["ids"], expected["targets"]) and inputs[1:] == targets[:-1]
    assert 256 not in targets and table["target piece"][-1] == "‹EOS›"
    assert sum(map(float, table["loss (nats)"])) / 15 == pytest.approx(expected["loss"], abs=1e-12)
    assert table["input bytes"][2] == "68 65 20"


def test_slots_say_what_the_mean_divides_by():
    at = open_panel(open_app("tokens", model="mg-1", text=RED), "Slots and padding")
    assert any("Scored positions: 15. Padding slots: 49." in text.value for text in at.markdown)
    loss = {metric.label: float(metric.value.split()[0]) for metric in at.metric}
    right, wrong = loss["Sum of losses ÷ 15 scored positions"], loss["Wrong: ÷ all 64 slots"]
    assert right * 15 == pytest.approx(wrong * 64, abs=1e-7)
    rows = json.loads(at.get("plotly_chart")[0].proto.spec)["data"]
    assert len(rows) == 3 and all(len(row["hovertext"]) == 64 for row in rows)


def test_the_replay_steps_through_the_merges_and_starts_over_with_a_new_text():
    at = open_app("tokens", text=RED)
    assert at.slider(key="replay_step").value == 0
    assert at.button(key="replay_back").disabled
    at.button(key="replay_next").click().run()
    at.button(key="replay_next").click().run()
    assert at.slider(key="replay_step").value == 2
    at.button(key="replay_back").click().run()
    assert at.slider(key="replay_step").value == 1
    at.slider(key="replay_step").set_value(12).run()
    assert at.button(key="replay_next").disabled
    choose(at, text="er", position=0)
    assert at.slider(key="replay_step").value == 0


def test_a_text_that_no_merge_fits_has_no_controls():
    at = open_app("tokens", text="法")
    assert not [slider for slider in at.slider if slider.key == "replay_step"]
    assert any("one character with up to four bytes" in caption.value for caption in at.caption)


def test_the_vocabulary_lists_every_id():
    at = open_panel(open_app("tokens", text=RED), "Vocabulary")
    table = at.dataframe[0].value
    assert table["id"].tolist() == list(range(291))
    assert table["in this record"].tolist()[270] == 2 and table["in this record"].sum() == 16  # BOS, 14 pieces, EOS
    assert {metric.label: metric.value for metric in at.metric}["Bytes per token"] == "2.000"


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize(("model", "text"), [("mini-gpt", HOSTILE), ("chapter-7", "法国的首都叫巴黎。"), ("mg-1", " ")])
def test_every_panel_takes_any_text(panel: str, model: str, text: str):
    at = open_panel(open_app("tokens", model=model, text=text), panel)
    assert at.title[0].value == "How does text become ids and targets?"


def test_a_text_too_long_for_the_context_ends_the_page_with_a_sentence():
    at = open_app("tokens", text="a" * 100)
    assert not at.title
    assert "101 positions" in at.error[0].value and "64" in at.error[0].value


CHINESE = "明月照高楼，流光正徘徊。"
BOXES = {
    "tokens": PANELS,
    "attention": ["One cell in numbers", "Can a position see the future?", "All heads in numbers"],
    "logits": ["Softmax in numbers", "Whole distribution", "After each block", "All positions"],
    "sampling": ["One draw in numbers", "The columns in numbers", "With and without cache"],
}


@pytest.mark.parametrize("page", BOXES)
@pytest.mark.parametrize(("model", "text"), [("poems", CHINESE), ("poems", "a red key"), ("numpy-demo", RED)])
def test_presets_of_characters_and_of_bytes_work_on_every_panel(page: str, model: str, text: str):
    at = open_app(page, model=model, text=text, position="2", block="3", head="1")
    for panel in BOXES[page]:
        at.session_state[f"{page}_panel"] = panel
        at.run()
        assert not at.exception and not at.error, panel


def test_characters_are_tokens_and_nothing_is_merged():
    at = open_app("tokens", model="poems", text=CHINESE)
    assert any("Every character of a known alphabet is one token" in caption.value for caption in at.caption)
    assert not at.slider and not [button for button in at.button if button.key == "replay_next"]
    assert table_of(at)["input piece"] == ["‹BOS›", *CHINESE]
    open_panel(at, "Vocabulary")
    assert {metric.label: metric.value for metric in at.metric}["Vocabulary"] == "6,289"
    at.text_input(key="vocabulary_search").set_value("月").run()
    assert at.dataframe[0].value["made by"].tolist() == ["character"]
    assert at.dataframe[0].value["in this record"].tolist() == [1]


def test_a_character_without_an_id_is_named_with_its_place_and_one_click_leads_on():
    at = open_app("tokens", model="poems", text="红色🙂的")
    assert not at.title
    assert "2 '🙂'" in at.error[0].value.replace("\\", "")
    assert at.session_state["workspace"].text == "红色🙂的"
    at.button(key="use_fitting").click().run()
    assert not at.error and not at.exception and at.title
    assert at.session_state["workspace"].text in at.query_params["text"]


def test_a_record_that_another_model_cannot_hold_keeps_its_text_until_the_click():
    at = open_app("tokens", model="chapter-7", text="a" * 100)
    at.selectbox(key="model_choice").set_value("mg-1").run()
    assert "101 positions" in at.error[0].value and at.session_state["workspace"].text == "a" * 100
    at.button(key="use_fitting").click().run()
    assert not at.error and at.session_state["workspace"].text == "In France the capital is Paris."


def test_examples_are_those_that_the_model_can_read():
    at = open_app("tokens", model="poems", text=CHINESE)
    at.session_state["examples_box"] = True
    at.run()
    assert not at.exception and not at.error
