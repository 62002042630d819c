"""The models page: every number on it is that of a real model, wrong values get a sentence, shapes go on from here."""

import json
from dataclasses import replace

import pandas as pd
import pytest
import torch

from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import component_counts, shape_only
from minigpt.presets import PRESETS, preset, shape_preset
from minigpt.sizing.untrained import untrained_loss
from minigpt.sizing.variants import variants
from minigpt.ui.base.workspace import STATE
from minigpt.ui.frame.strip import model_title
from minigpt.ui.models.cost import doubling_frame
from minigpt.ui.models.counts import areas, component_frame, convention_frame, measured
from minigpt.ui.models.variants import PLACES, parts, sentence, title
from minigpt.ui.training import controls as training_controls
from minigpt.ui.training import settings as training_settings
from tests.pages.app import open_app


def metrics(at) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def frame(at, first: str):
    """The table whose first column has this title."""
    tables = [json.loads(element.proto.json)["columns"] for element in components(at, "minigpt.table")]
    columns = next(columns for columns in tables if columns[0]["name"] == first)
    return pd.DataFrame({column["name"]: column["cells"] for column in columns})


def components(at, name: str) -> list:
    return [element for element in at.get("bidi_component") if element.proto.component_name == name]


def choose(at, **fields):
    name = at.session_state["models_preset"]
    for field, value in fields.items():
        key = f"models_{name}_{field}"
        kinds = (at.number_input, at.checkbox, at.selectbox)
        next(widget for kind in kinds for widget in kind if widget.key == key).set_value(value)
    at.run()
    assert not at.exception, at.exception[0].value
    return at


def show(at, name: str):
    at.segmented_control(key="models_preset").set_value(name).run()
    assert not at.exception, at.exception[0].value
    return at


def test_every_preset_shows_its_counts():
    at = open_app("models")
    for name, chosen in PRESETS.items():
        show(at, name)
        counts = component_counts(shape_only(chosen.model))
        assert metrics(at)["Parameters"] == f"{counts['total']:,}"
        assert frame(at, "part")["numbers"].tolist() == [f"{count:,}" for count in counts.values()]
        assert at.query_params["shape"] == name
        assert not at.error


def test_the_published_counts_of_gpt2_small():
    at = open_app("models", shape="gpt2-small")
    table = frame(at, "count")
    known = dict(zip(table["count"], table["known as"], strict=True))
    assert known["124,439,808"] == "GPT-2 Small as released"
    assert known["124,438,272"] == "the third text's figure"
    assert known["124,402,944"] == "the third text's code"
    assert {"163,037,184", "123,653,376"} <= {*known}
    words = " ".join(caption.value for caption in at.caption)
    assert "7,087,872" in words and "7,080,960" in words
    sizes = frame(at, "size")["parameters"].tolist()
    assert sizes[1].startswith("209,494,272 ") and sizes[2].startswith("418,748,928 ")
    assert "75,497,472" in frame(at, "what")["bytes"].tolist()


def test_overrides_of_the_fourth_text():
    at = open_app("models", shape="poems")
    choose(at, tied_head=False)
    assert metrics(at)["Parameters"] == f"{1_614_720 + 804_992:,}"
    choose(at, tied_head=True, layers=8, width=256, ffn_width=1024)
    assert metrics(at)["Parameters"] == "7,961,344"
    assert frame(at, "part")["share"].tolist()[0] == "20.2 %"
    assert shape_preset(at.query_params["shape"]).model == replace(
        preset("poems").model, layers=8, width=256, ffn_width=1024
    )


def about(at) -> str:
    return at.caption[1].value.replace("\\", "")


def test_the_caption_follows_the_shape():
    at = open_app("models", shape="mg-1")
    assert about(at).startswith("One block, two heads of 8")
    choose(at, width=24, heads=3, layers=2)
    assert about(at) == "Preset mg-1, changed: width = 24, heads = 3, layers = 2."
    at.button(key="models_back").click().run()
    assert about(at).startswith("One block, two heads of 8")


def test_groups_begin_at_two_and_one_is_multi_query():
    at = open_app("models", shape="chapter-7")
    at.segmented_control(key="models_variant").set_value("gqa").run()
    assert at.select_slider(key="models_groups").value == 2
    assert "**Multi-query attention**" in sentence(preset("chapter-7").model, "gqa", 1, 8, 2)
    assert "nothing changes" in sentence(preset("chapter-7").model, "gqa", 4, 8, 2)


def test_a_link_is_the_shape():
    at = open_app("models", shape="mg-1~layers=3~residual=false")
    assert at.segmented_control(key="models_preset").value == "mg-1"
    assert at.number_input(key="models_mg-1_layers").value == 3
    assert at.checkbox(key="models_mg-1_residual").value is False
    assert metrics(at)["Parameters"] == f"{13_875 + 2 * 3_216:,}"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("gpt-9", "preset must be one of mg-1"),
        ("mg-1~width=17", "width must be divisible by heads"),
        (f"mg-1~init_seed={2**60}", "init_seed must be at most"),
        ("mg-1~layers=<b>x</b>", "layers must be a whole number"),
    ],
)
def test_a_wrong_link_is_named_and_the_page_stays(link: str, words: str):
    at = open_app("models", shape=link)
    assert words in at.warning[0].value.replace("\\", "")
    assert metrics(at)["Parameters"] == "13,875"


def test_each_fault_has_a_sentence_and_nothing_typed_is_lost():
    at = choose(open_app("models"), heads=0, layers=-1, width=7)
    assert len(at.error) == 2 and metrics(at)["Parameters"] == "13,875", "the last shape that worked stays"
    assert any("last shape that works" in said.value for said in at.caption)
    said = " ".join(error.value.replace("\\", "") for error in at.error)
    assert "Heads H must be a whole number of at least 1, got 0" in said and "Blocks L must be" in said
    assert at.number_input(key="models_mg-1_width").value == 7
    choose(at, heads=2, layers=1)
    assert [error.value.replace("\\", "") for error in at.error] == [
        "Width must be divisible by heads, got width 7 and 2 heads; the nearest widths that work are 6 and 8"
    ]
    choose(at, heads=7)
    assert not at.error and at.number_input(key="models_mg-1_width").value == 7
    assert "width = 7, heads = 7" in about(at)
    choose(at, ffn_width=10**9)
    assert "at most 500,000,000 are allowed" in at.error[0].value.replace("\\", "")
    at.button(key="models_back").click().run()
    assert metrics(at)["Parameters"] == "13,875" and not at.error


def test_values_are_kept_for_each_preset_and_over_pages():
    at = choose(open_app("models"), layers=2)
    show(at, "poems")
    show(at, "mg-1")
    assert at.number_input(key="models_mg-1_layers").value == 2
    at.switch_page("pages/overview.py").run()
    at.switch_page("pages/models.py").run()
    assert at.number_input(key="models_mg-1_layers").value == 2


def test_the_loss_before_training_is_measured():
    at = open_app("models", shape="poems")
    found = untrained_loss(preset("poems").model)
    assert metrics(at)["Untrained loss"] == f"{found.loss:.4f}"
    assert metrics(at)["ln V"] == "8.7466"
    choose(at, init_std=0.3)
    assert any("far from ln V" in warning.value for warning in at.warning)


def test_a_large_model_is_measured_on_request():
    at = open_app("models", shape="poems~layers=8~width=256~ffn_width=1024")
    assert "Untrained loss" not in metrics(at)
    at.button(key="models_measure").click().run()
    config = replace(preset("poems").model, layers=8, width=256, ffn_width=1024)
    assert metrics(at)["Untrained loss"] == f"{untrained_loss(config).loss:.4f}"
    choose(at, layers=7)
    assert "Untrained loss" not in metrics(at)


def test_a_vast_model_is_counted_and_not_made():
    at = open_app("models", shape="mg-1~context_length=20000000")
    assert metrics(at)["Parameters"] == "320,012,851"
    sentence = "This model takes 2,560,104,856 bytes of memory, at most 1,500,000,000 are allowed here"
    assert [error.value.replace("\\", "") for error in at.error] == [sentence]
    assert "Untrained loss" not in metrics(at)
    assert "models_measure" not in [button.key for button in at.button]


def test_a_changed_block_shows_its_numbers():
    at = open_app("models", shape="gpt2-small")
    at.segmented_control(key="models_variant").set_value("gqa").run()
    at.select_slider(key="models_groups").set_value(4).run()
    expected = {each.name: each for each in variants(preset("gpt2-small").model, 4, 8, 2)}
    table = frame(at, "change")
    assert table["parameters"].tolist() == [f"{each.parameters:,}" for each in expected.values()]
    assert table["cache bytes per token"].tolist()[3] == f"{18_432 * 4 // 3:,}"
    sent = json.loads(components(at, "minigpt.anatomy")[0].proto.json)
    assert sent["selected"] == "gqa" and sent["heads"] == [12, 4]
    at.segmented_control(key="models_variant").set_value("experts").run()
    at.select_slider(key="models_experts").set_value(2).run()
    assert not at.exception
    assert max(at.select_slider(key="models_used").options) == "2"
    show(at, "mg-1")
    at.segmented_control(key="models_variant").set_value("gqa").run()
    assert not at.exception, "4 groups do not divide 2 heads"


@pytest.mark.parametrize("name", [None, *PLACES])
def test_every_change_has_words_and_boxes(name):
    config = preset("mg-1").model
    assert sentence(config, name, 1, 8, 2)
    boxes = parts(config, name, 1, 8, 2)
    changed = {place for place, part in boxes.items() if part.changed or part.gone}
    assert changed == set(PLACES.get(name, ()))
    assert name is None or title(name)[0].isdecimal()


@pytest.mark.parametrize("name", PRESETS)
def test_areas_and_tables_add_up(name: str):
    config = preset(name).model
    found, conventions, block, _ = measured(config)
    whole = areas(config, found, block)
    leaves = [area for area in whole if area.component]
    assert sum(area.count for area in leaves) == found["total"] == whole[0].count
    for component in ("attention", "ffn", "norms", "token_table", "position_table", "lm_head"):
        assert sum(area.count for area in leaves if area.component == component) == found[component]
    assert component_frame(config, found)["numbers"].tolist()[-1] == f"{found['total']:,}"
    assert convention_frame(config, conventions)["difference"].tolist()[0] == "0"


def test_the_rules_in_the_table_are_right():
    v, t, c, h, f = 291, 64, 16, 3, 64
    config = replace(preset("mg-1").model, layers=h, attention_bias=True)
    found, *_ = measured(config)
    assert component_frame(config, found)[["rule", "numbers"]].values.tolist()[:-1] == [
        ["V·C = 291·16", f"{v * c:,}"],
        ["T·C = 64·16", f"{t * c:,}"],
        ["L·(4·C² + 4·C)", f"{h * (4 * c**2 + 4 * c):,}"],
        ["L·(2·C·F + F + C)", f"{h * (2 * c * f + f + c):,}"],
        ["(2·L + 1)·2·C", f"{(2 * h + 1) * 2 * c:,}"],
        ["V·C + V", f"{v * c + v:,}"],
    ]
    tied = replace(config, attention_bias=False, tied_head=True)
    rows = component_frame(tied, measured(tied)[0])[["rule", "numbers"]].values.tolist()
    assert rows[2] == ["L·(4·C²)", f"{h * 4 * c**2:,}"] and rows[5] == ["the token table + V", f"{v}"]
    bare = replace(tied, head_bias=False)
    assert component_frame(bare, measured(bare)[0])["rule"].tolist()[5] == "the token table"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list:
    """The presets of the runs that Start would begin."""
    presets = []

    def begin(preset, *rest):
        presets.append(preset)
        raise ValueError("recorded")

    monkeypatch.setattr(training_controls, "begin", begin)
    monkeypatch.setattr(training_settings, "tokenizer", lambda found: object())
    return presets


def test_train_this_hands_the_whole_shape_over(started: list):
    at = open_app("models", shape="poems~layers=2~tied_head=false~residual=false~ffn_width=300~dropout=0.0")
    at.session_state["train_more"] = True
    at.button(key="models_train").click().run()
    assert at.selectbox(key="train_preset").value == "poems", "the page has changed"
    at.switch_page("pages/training.py").run()  # AppTest goes back to the page it opened at its next run
    assert not at.exception
    assert at.selectbox(key="train_preset").value == "poems"
    assert at.number_input(key="train_poems_layers").value == 2
    note = next(said.value for said in at.caption if "From the Models page" in said.value).replace("\\", "")
    assert note == "From the Models page: ffn_width=300, tied_head=false, residual=false."
    at.button(key="train_start").click().run()
    changes = {"layers": 2, "tied_head": False, "residual": False, "ffn_width": 300, "dropout": 0.0}
    assert started[-1].model == replace(preset("poems").model, **changes)
    assert started[-1].tokenizer == preset("poems").tokenizer
    at.button(key="train_shape_drop").click().run()
    at.button(key="train_start").click().run()
    assert started[-1].model == preset("poems").model
    assert not any("From the Models page" in said.value for said in at.caption)


def test_a_handed_shape_keeps_its_ratio_when_the_width_is_changed(started: list):
    at = open_app("models", shape="mg-1~ffn_width=32")
    at.session_state["train_more"] = True
    at.button(key="models_train").click().run()
    at.switch_page("pages/training.py").run()
    at.number_input(key="train_mg-1_width").set_value(32).run()
    at.button(key="train_start").click().run()
    assert (started[-1].model.width, started[-1].model.ffn_width) == (32, 64)


def test_explore_it_untrained():
    at = open_app("models", shape="mg-1~layers=2~residual=false")
    at.button(key="models_explore").click().run()
    assert not at.exception and not at.error
    assert at.session_state[STATE].model == "mg-1~layers=2~residual=false"
    assert model_title(at.selectbox(key="model_choice").value) == "Untrained mg-1: layers 2, residual false"
    assert metrics(at)["Parameters"] == f"{13_875 + 3_216:,}"


def test_doubling_is_counted_from_models():
    torch.set_num_threads(1)
    config = preset("mg-1").model
    from minigpt.sizing.variants import doublings

    table = doubling_frame(doublings(config))
    wider = MiniGPT(replace(config, width=32, ffn_width=128))
    assert table["parameters"].tolist()[2].startswith(f"{sum(p.numel() for p in wider.parameters()):,} ")
