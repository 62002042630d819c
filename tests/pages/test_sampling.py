"""The sampling page as a reader meets it, without a browser: texts, draws, settings, links, exports."""

import json

import pytest
import torch

from minigpt.generation.compare import Comparison
from minigpt.generation.settings import PRESETS, SampleConfig, read_columns
from minigpt.generation.stepping import generate, prompt_ids
from minigpt.inspection.sources import load_source
from minigpt.ui.sampling import cache as sampling_cache
from minigpt.ui.sampling import columns as sampling_columns
from minigpt.ui.sampling import seeds as sampling_seeds
from minigpt.ui.sampling import setup as sampling_setup
from minigpt.ui.sampling import step as sampling_step
from tests.pages.app import choose, open_app, table_of

HOSTILE = "<img src=x onerror=alert(1)> $5 **b** :red[x] [a](b)"


def written(at) -> list[str]:
    return [code.value for code in at.code]


def text_of(step: int, prompt: str, settings: SampleConfig) -> str:
    model, tokenizer = load_source("mini-gpt", step)
    return tokenizer.decode([s.id for s in generate(model, tokenizer, prompt_ids(tokenizer, prompt), settings)])


def finished(at):
    """Reruns, as the fragment does, until every column has stopped."""
    for _ in range(200):
        if not any("so far" in caption.value for caption in at.caption):
            return at
        at.run()
    raise AssertionError("the columns never stopped")


def with_settings(at, *numbers: int):
    """The settings of these columns opened, as a click on their buttons does."""
    for number in numbers:
        at.session_state[f"settings_{number}"] = True
    return finished(at.run())


def test_the_columns_are_what_the_library_writes():
    at = open_app("sampling")
    columns = sampling_setup.Setup().columns
    assert written(finished(at)) == [text_of(100, "The ", settings) for settings in columns]
    assert any("differ from token" in markdown.value for markdown in at.markdown)
    assert read_columns(at.query_params["columns"]) == columns and at.query_params["prompt"] == "The "


def test_another_step_is_another_voice():
    at = finished(open_app("sampling"))
    before = written(at)
    choose(at, step=600)
    assert written(finished(at)) == [text_of(600, "The ", s) for s in sampling_setup.Setup().columns] != before


def test_a_link_gives_the_same_texts():
    columns = "0,0,1,1,9;1.5,5,0.9,77,30;0.8,0,1,3,12,slide;1,0,1,4,24"
    at = finished(open_app("sampling", prompt="A ", columns=columns, dice="5", step="50"))
    model, tokenizer = load_source("mini-gpt", 50)
    own = Comparison(model, tokenizer, "A ", read_columns(columns), dice_seed=5)
    own.advance(600)
    assert len(written(at)) == 4
    for shown, steps in zip(written(at), own.steps, strict=True):
        assert shown == sampling_columns.readable(tokenizer.decode_bytes(s.id for s in steps))
    assert at.toggle(key="same_dice").value and with_settings(at, 1).number_input(key="seed_1").value == 5


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"columns": "0,0,1,1,9;-1,0,1,1,9"}, "temperature must be a finite number of at least 0, got \\-1"),
        ({"columns": "x"}, "there must be 2 to 4 columns"),
        ({"dice": "-4"}, "seed must be"),
    ],
)
def test_a_damaged_link_is_named_and_the_page_stays(params: dict, words: str):
    at = open_app("sampling", **params)
    assert any(words in warning.value for warning in at.warning), [w.value for w in at.warning]
    assert len(written(at)) == 3


def test_what_cannot_be_generated_is_said_in_a_sentence():
    at = open_app("sampling", prompt="z" * 64)
    assert "The context must have 1 to 64 ids, BOS included, got 65" in at.error[0].value.replace("\\", "")
    at = open_app("sampling", columns="0,0,1,1,2000;0,0,1,1,9")
    assert "2,000 tokens, at most 1,000 are allowed" in at.error[0].value.replace("\\", "")


def test_presets_and_own_settings():
    at = finished(open_app("sampling"))
    at.selectbox(key="preset_0").set_value("top-k-50-top-p-0.95").run()
    assert with_settings(at, 0).number_input(key="top_k_0").value == 50
    assert written(at)[0] == text_of(100, "The ", PRESETS["top-k-50-top-p-0.95"])
    at.number_input(key="seed_0").set_value(3).run()
    at.number_input(key="temperature_0").set_value(0.5).run()
    settings = SampleConfig(0.5, top_k=50, top_p=0.95, seed=3)
    assert written(finished(at))[0] == text_of(100, "The ", settings)
    assert at.selectbox(key="preset_0").value == "custom"
    at.number_input(key="top_p_0").set_value(0.0).run()
    assert "Top\\-p must be a number above 0" in at.error[0].value and at.number_input(key="top_p_0").value == 0.95
    at.segmented_control(key="column_count").set_value(2).run()
    assert len(written(finished(at))) == 2
    at.segmented_control(key="column_count").set_value(4).run()
    assert len(written(finished(at))) == 4 and at.selectbox(key="preset_3").value == "top-p-0.9"


def test_closed_settings_and_tables_are_not_drawn():
    at = finished(open_app("sampling"))
    assert not at.number_input and not at.dataframe and not at.get("plotly_chart")
    assert [box.proto.popover.label for box in at.get("popover")][-3:] == ["Settings"] * 3
    at = with_settings(at, 1)
    assert len(at.number_input) == 5 and at.toggle(key="slide_1").value is False
    at.number_input(key="temperature_1").set_value(0.5).run()
    assert "T 0.5 · seed 31415" in [caption.value for caption in finished(at).caption]
    assert at.number_input(key="temperature_1").value == 0.5
    at.session_state["settings_1"] = False
    assert not finished(at.run()).number_input and at.session_state["sampling"].columns[1].temperature == 0.5
    assert with_settings(at, 0, 1).number_input(key="temperature_1").value == 0.5
    assert len(at.number_input) == 10
    at.session_state["draw_all"] = True
    step = sampling_columns.chosen(at.session_state[sampling_setup.COMPARISON][2])
    assert at.run().dataframe[0].value["drawn"].tolist().index("◀") == step.rank - 1


def test_the_bars_are_the_numbers_of_the_draw_shown():
    at = finished(open_app("sampling", columns="0,0,1,1,9;1.5,12,0.9,1,30", step="50"))
    at.session_state[sampling_columns.CHOSEN] = (1, 0)
    at.run()
    shown, comparison = table_of(at), at.session_state[sampling_setup.COMPARISON][2]
    step = comparison.steps[1][0]
    place = shown["piece"].index(comparison.tokenizer.piece_label(step.id))
    assert list(shown) == ["piece", "raw", "temperature 1.5", "top-k 12", "top-p 0.9 = drawn from"]
    assert float(shown["raw"][place]) == step.raw_probability
    assert float(shown["top-p 0.9 = drawn from"][place]) == step.probability
    assert [shown[name][-1] for name in list(shown)[2:]] == ["removed"] * 3


def test_other_seeds_and_same_dice():
    at = finished(open_app("sampling"))
    at.button(key="other_seeds").click().run()
    with_settings(at, 0, 1, 2)
    assert [at.number_input(key=f"seed_{number}").value for number in range(3)] == [31416] * 3
    at.toggle(key="same_dice").set_value(True).run()
    finished(at)
    assert any("same random number for all columns" in markdown.value for markdown in at.markdown)
    assert len(at.get("plotly_chart")) == 1
    at.button(key="other_seeds").click().run()
    assert at.session_state["sampling"].dice == 31417


def test_token_by_token():
    at = finished(open_app("sampling"))
    whole = written(at)
    at.toggle(key="by_hand").set_value(True).run()
    assert written(at) == [" "] * 3 and any("Press Next token" in info.value for info in at.info)
    for count in range(1, 30):
        if at.button(key="next_token").disabled:
            break
        at.button(key="next_token").click().run()
        longest = max(len(steps) for steps in at.session_state[sampling_setup.COMPARISON][2].steps)
        assert longest == count
    assert written(at) == whole
    at.button(key="from_start").click().run()
    assert written(at) == [" "] * 3


def test_the_draw_shown_is_the_distribution_drawn_from():
    model, tokenizer = load_source("mini-gpt", 50)
    columns = [PRESETS["greedy"], SampleConfig(0.8, top_k=10, top_p=0.9, seed=2)]
    comparison = Comparison(model, tokenizer, "The ", columns)
    comparison.advance(600)
    for steps in comparison.steps:
        for step in steps:
            rows = sampling_step.stage_rows(comparison, step)
            raw = model(torch.tensor([step.context_ids]))[0, -1].softmax(-1)
            drawn = next(row for row in rows if row.drawn)
            assert drawn.shares[0] == pytest.approx(raw[step.id].item(), abs=1e-12)
            assert drawn.shares[3] == step.probability > 0
            for stage in range(4):
                assert sum(row.shares[stage] or 0 for row in rows) == pytest.approx(1, abs=1e-12)
            assert rows[-1].label == "2 blocked" and rows[-1].shares[1:] == (None, None, None)
            frame = sampling_step.numbers_frame(comparison, step)
            final = frame["final probability"]
            assert final.sum() == pytest.approx(1, abs=1e-12) and (final[frame["removed by"] != ""] == 0).all()
            assert frame["drawn"].tolist().count("◀") == 1
            parts = sampling_step.bar_parts(comparison, step)
            assert sum(part.share for part in parts) == pytest.approx(1, abs=1e-12)
    assert sampling_step.sentence(comparison, comparison.steps[0][0]).count("*greedy*") == 1
    assert "*sampled*, rank" in sampling_step.sentence(comparison, comparison.steps[1][0])


@pytest.mark.parametrize(
    ("total", "dtype", "words"),
    [
        (1.0, torch.float32, "1"),
        (1.00000003304, torch.float32, "1 (within 3.3e−8, the rounding of float32)"),
        (1.0 - 2**-53, torch.float64, "1 (within 1.1e−16, the rounding of float64)"),
        (1.001, torch.float32, "1.001"),
        (1.00000003304, torch.float64, "1.00000003304"),
    ],
)
def test_a_sum_is_told_in_the_precision_of_its_numbers(total: float, dtype: torch.dtype, words: str):
    assert sampling_step.sum_words(total, 40, dtype) == words


def test_tokens_are_counted_from_one_with_the_end():
    model, tokenizer = load_source("mini-gpt", 600)
    comparison = Comparison(model, tokenizer, "The ", [PRESETS["greedy"], SampleConfig(2.0, seed=5)])
    comparison.advance(600)
    steps = comparison.steps[0]
    assert steps[-1].stop == "eos"
    assert sampling_columns.stop_sentence(steps) == f"The model ended the text: {len(steps)} tokens, the last one EOS."
    assert sampling_columns.stop_sentence(steps[:1]) == "1 token so far …"
    assert f"token {len(steps)}: " in sampling_step.sentence(comparison, steps[-1])
    assert f"they differ from token {comparison.first_difference + 1} (" in sampling_columns.difference_sentence(
        comparison
    )


def test_a_clicked_token_is_shown_and_stays_within_the_text():
    at = finished(open_app("sampling"))
    at.session_state[sampling_columns.CHOSEN] = (2, 3)
    at.run()
    assert any("Column **C**, token 4" in markdown.value for markdown in at.markdown)
    at.session_state[sampling_columns.CHOSEN] = (2, 400)
    at.segmented_control(key="column_count").set_value(2).run()
    assert not at.exception


def test_numbers_name_the_record_copied_from():
    at = open_app("sampling")
    at.session_state["sampling_panel"] = "The columns in numbers"
    finished(at.run())
    table = at.dataframe[0].value
    assert list(table.columns) == ["measure", "A", "B", "C"]
    cells = dict(zip(table["measure"], table["A"], strict=True))
    assert cells["longest copy"].endswith("train-05") and cells["memorized or invented"] == "all of it memorized"
    assert cells["stop"] == "end of the text"


def test_twenty_seeds_with_cancel(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sampling_seeds, "SLICE", 0.0)  # one round or one text a run
    at = open_app("sampling", columns="0,0,1,1,6;0.8,0,1,7,6")
    at.session_state["sampling_panel"] = "Twenty seeds"
    finished(at.run())
    at.button(key="seeds_start").click().run()
    at.button(key="seeds_cancel").click().run()
    assert at.button(key="seeds_start") is not None
    at.button(key="seeds_start").click().run()
    for _ in range(200):
        if at.dataframe:
            break
        at.run()
    table = at.dataframe[0].value
    assert table.iloc[0].tolist() == ["different texts", "1 of 20", table.iloc[0]["B"]]
    at.session_state["seeds_texts"] = True
    assert len(at.run().dataframe[1].value) == 40 and not at.exception


def test_the_cache_is_measured_and_equal():
    at = open_app("sampling", columns="0,0,1,1,6;0.8,0,1,7,6")
    at.session_state["sampling_panel"] = "With and without cache"
    finished(at.run())
    at.button(key="cost_start").click().run()
    for _ in range(200):
        if at.dataframe:
            break
        at.run()
    assert any("times faster with the cache" in markdown.value for markdown in at.markdown)
    cells = dict(zip(*[at.dataframe[0].value[name] for name in ("what", "measured")], strict=True))
    assert cells["bytes held by a full context"] == "16,384"
    assert any("2 (key and value) × 1 block × 2 heads × 8 numbers × 64" in c.value for c in at.caption)


def test_hostile_prompts_and_outputs_are_only_text():
    at = finished(open_app("sampling", prompt=HOSTILE, step="0"))
    assert not at.error
    for markdown in at.markdown:
        assert "onerror" not in markdown.value
    for chart in at.get("plotly_chart"):
        assert "<img" not in json.dumps(json.loads(chart.proto.spec), ensure_ascii=False)


def test_gpt2s_shape_is_offered_with_a_clear_note():
    at = open_app("sampling", columns="0,0,1,1,6;0.8,0,1,7,6")
    at.session_state["sampling_panel"] = "With and without cache"
    finished(at.run())
    at.segmented_control(key="cost_model").set_value(sampling_cache.BIG).run()
    assert any("124,439,808 random parameters" in caption.value for caption in at.caption)


def test_one_reader_at_a_time_measures_the_large_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sampling_cache, "shared_model", lambda name, step: load_source("chapter-7", 0)[0])
    monkeypatch.setattr(sampling_cache, "SLICE", 0.0)  # one token a run
    readers = []
    for _ in range(2):
        at = open_app("sampling", columns="0,0,1,1,6;0.8,0,1,7,6")
        at.session_state["sampling_panel"] = "With and without cache"
        finished(at.run())
        at.segmented_control(key="cost_model").set_value(sampling_cache.BIG).run()
        at.button(key="cost_start").click().run()
        readers.append(at)
    first, second = readers
    assert "another reader is measuring" in second.error[0].value.lower()
    first.button(key="cost_cancel").click().run()
    second.button(key="cost_start").click().run()
    assert not second.error and second.button(key="cost_cancel") is not None
    second.button(key="cost_cancel").click().run()
