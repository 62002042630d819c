"""The stages page, walked through without a browser: every number in writing is the trace's."""

import pytest
import torch

from minigpt.corpus.batches import batch_records
from minigpt.inspection.sources import load_source
from minigpt.inspection.stages import derive, formula
from minigpt.ui.base.workspace import DEFAULT_TEXT
from minigpt.ui.stages import grid as stage_grid
from tests.pages.app import open_app

HOSTILE = "<b>1</b> $x$ **b** :red[d]\n`c` ![i](http://example.com/i.png)"


def trace_of(model_name: str, step: int = 0, text: str = DEFAULT_TEXT):
    torch.set_num_threads(1)
    model, tokenizer = load_source(model_name, step)
    batch = batch_records([text], tokenizer, model.config.context_length)
    return model, model.trace(batch.ids, batch.valid), batch


def first_place(kind: str, batch, position: int):
    """The number the page works out before the reader has clicked any."""
    if kind == "logits":
        return batch.targets[0, position].item()
    if kind in ("scores", "visible", "weights"):
        return 0, position
    return (0, 0) if kind in ("q_heads", "k_heads", "v_heads", "mixtures") else 0


def address(at, name: str) -> str:
    """A parameter of the URL; AppTest gives a list, or the text that the script itself has just written."""
    value = at.query_params[name]
    return value if isinstance(value, str) else value[0]


def exact(at) -> str:
    """The number in the line above the arithmetic."""
    line = next(markdown.value for markdown in at.markdown if markdown.value.startswith("**"))
    number = line.rsplit(" ", 1)[1]
    assert "-" not in number  # the minus sign is that of the arithmetic below
    return number.replace("\\", "").replace("−", "-")


@pytest.mark.parametrize("model_name", ["mg-1", "chapter-7"])
def test_walking_through_all_stages_shows_the_traces_numbers(model_name):
    model, trace, batch = trace_of(model_name)
    at = open_app("stages", model=model_name, stage="token_embedding")
    at.session_state["stage_code"] = True
    at.run()
    assert at.button(key="stage_previous").disabled
    for number, stage in enumerate(trace.stages, start=1):
        assert not at.exception
        place = first_place(stage.kind, batch, 5)
        work = derive(model, trace, stage, 5, place)
        assert address(at, "stage") == stage.name
        assert stage.block is None or address(at, "block") == str(stage.block)
        assert at.subheader[0].value.startswith(stage.name.replace("_", r"\_"))
        assert float(exact(at)) == stage.at(5)[place].item()
        assert at.code[0].value == "\n".join([work.symbols, *work.steps, work.expression])
        captions = " ".join(caption.value for caption in at.caption).replace("\\", "")
        assert f"step {number} of {len(trace.stages)} · [{', '.join(map(str, stage.shape))}]" in captions
        assert "Recomputed by NumPy from" in captions
        assert at.code[1].value == formula(stage, trace.config)
        assert at.code[2].value == f"# {stage.source.file}:{stage.source.line}\n{stage.source.text}"
        if stage is not trace.stages[-1]:
            at.button(key="stage_next").click().run()
    assert at.button(key="stage_next").disabled
    at.button(key="stage_previous").click().run()
    assert address(at, "stage") == trace.stages[-2].name


@pytest.mark.parametrize("step", [0, 100, 600])
def test_the_tables_of_a_saved_step(step):
    model, trace, _ = trace_of("mini-gpt", step)
    at = open_app("stages", step=str(step), stage="weights", position="9", head="1")
    for key in ("stage_terms", "stage_all", "stage_record", "stage_parameters"):
        at.session_state[key] = True
    at.run()
    assert not at.exception
    terms, numbers, record, parameters = (table.value for table in at.dataframe)
    weights = trace.blocks[0].weights.at(9)[1]
    assert [float(x) for x in terms.iloc[:, -1]] == pytest.approx(weights[:10].tolist(), abs=1e-15)
    assert [float(x) for x in numbers.iloc[1, 1:11]] == weights[:10].tolist()
    assert numbers.iloc[1, 11] == "0.0 (masked)"
    assert list(record["stage"]) == [stage.name for stage in trace.stages]
    assert all(float(a) <= float(b) for a, b in zip(record["difference"], record["allowed"], strict=True))
    sentences = " ".join(markdown.value for markdown in at.markdown).replace("\\", "")
    assert "24 of 24 stages agree with NumPy at position 9." in sentences
    assert "= 13,875 numbers in" in sentences and parameters["numbers"].sum() == 13875


def test_the_block_is_chosen_and_kept():
    at = open_app("stages", model="chapter-7", stage="ffn_relu", block="1")
    assert at.subheader[0].value == r"ffn\_gelu: the FFN's activation"
    at.button_group(key="stage_block").set_value(3).run()
    assert not at.exception and address(at, "block") == "3"
    assert at.subheader[0].value == r"ffn\_gelu: the FFN's activation"


def test_a_chosen_key_that_is_later_says_that_it_is_masked():
    at = open_app("stages", stage="weights")
    at.session_state["stage_numbers"] = {"key": 8}
    at.run()
    sentences = " ".join(markdown.value for markdown in at.markdown).replace("\\", "")
    assert "Key 8 comes later than query 5" in sentences
    assert at.code[0].value.endswith("8 > 5 ⇒ 0")


def test_a_chosen_number_beyond_another_stage_moves_to_its_last():
    _, trace, _ = trace_of("mini-gpt", 100)
    at = open_app("stages", stage="norm1")
    at.session_state["stage_numbers"] = {"flat": 99, "key": 99, "head": 99, "hidden": 99}
    for name, place in {"norm1": 15, "k_heads": (0, 7), "scores": (0, 14), "ffn_relu": 63}.items():
        at.session_state["workspace"] = at.session_state["workspace"].__class__(stage=name)
        at.run()
        stage = trace.stage(name, 0)
        assert not at.exception and float(exact(at)) == stage.at(5)[place].item()


def test_an_unknown_stage_gets_a_sentence():
    at = open_app("stages", stage="**nonsense**")
    assert [r"\*\*nonsense\*\*" in warning.value for warning in at.warning] == [True]
    assert at.subheader[0].value.startswith(r"block\_input") and address(at, "stage") == "block_input"


@pytest.mark.parametrize("text", [HOSTILE, "法国的首都叫巴黎。", "a"])
@pytest.mark.parametrize("stage", ["token_embedding", "scores", "visible", "weights", "mixtures", "logits"])
def test_any_record_stays_text(text, stage):
    at = open_app("stages", text=text, stage=stage, position="0" if text == "a" else "12")
    at.session_state["stage_terms"] = True
    at.run()
    assert not at.exception
    for element in (*at.markdown, *at.caption):
        assert not any(mark in element.value for mark in ("<b>", " $x", " `", "!["))


def test_a_vector_too_long_for_the_screen_can_be_jumped_in(monkeypatch):
    _, trace, _ = trace_of("chapter-7")
    monkeypatch.setattr(stage_grid, "MOST", 128)
    at = open_app("stages", model="chapter-7", stage="ffn_gelu")
    at.number_input(key="stage_jump").set_value(300).run()
    assert not at.exception
    assert float(exact(at)) == trace.blocks[0].ffn_activation.at(5)[300].item()
    at.session_state["stage_all"] = True
    at.run()
    assert list(at.dataframe[0].value["from"]) == ["256", "288", "320", "352"]
