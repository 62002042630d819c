"""The attention page, as a reader meets it, without a browser: sentences, tables and the causality test."""

import numpy as np
import pytest
import torch

from minigpt.corpus.batches import batch_records
from minigpt.inspection.attention_stats import read_query
from minigpt.inspection.edit import edit_token
from minigpt.inspection.sources import load_source
from minigpt.inspection.stages import SCORES, VISIBLE, WEIGHTS
from minigpt.ui.attention import attention_views, causality
from tests.pages.app import open_app, table_of

RED = "The key is red. Answer: red."
HOSTILE = "<b>1</b> $x$ **b** ![i](http://example.com/i.png)\n🙂"


FUTURE = "Can a position see the future?"


def panel(at, name: str):
    at.session_state["attention_panel"] = name
    return at.run()


def texts(at) -> str:
    return "\n".join(text.value for text in at.text)


def traced(name: str, step: int, text: str):
    model, tokenizer = load_source(name, step)
    batch = batch_records([text], tokenizer, model.config.context_length)
    return model, tokenizer, batch, model.trace(batch.ids, batch.valid)


def test_the_sentence_and_the_table_are_the_models_own_numbers():
    at = open_app("attention", text=RED, position="5", head="1")
    _, tokenizer, batch, trace = traced("mini-gpt", 100, RED)
    weights = trace.blocks[0].weights.at(5)[1, :15]
    row = read_query(weights, batch.ids[0, :15], 5)
    piece = tokenizer.piece_label(batch.ids[0, row.key].item())
    assert f"head 1: position 5, {tokenizer.piece_label(batch.ids[0, 5].item())}, gives {row.share:.1%}" in texts(at)
    assert f"to position {row.key}, {piece}." in texts(at)
    table = table_of(at)
    assert table["key"] == ["0", "1", "2", "3", "4", "5"]
    assert np.abs(np.array(table["weight"], float) - weights[:6].numpy()).max() < 1e-12
    assert [float(score) for score in table["score"]] == trace.blocks[0].scores.at(5)[1, :6].tolist()
    assert f"Query 5 and key {row.key} in numbers" in [heading.value for heading in at.subheader]


def test_the_products_of_a_cell_add_up_to_its_score():
    at = open_app("attention", text=RED, position="5")
    rows, key = at.code[1].value.splitlines(), int(at.subheader[0].value.split()[4])
    _, _, _, trace = traced("mini-gpt", 100, RED)
    products = np.array([[float(number) for number in row.split()[1:]] for row in rows[1:-1]])
    assert np.abs(products[:, 0] - trace.blocks[0].q_heads.at(5)[0].numpy()).max() < 1e-6
    assert np.abs(products[:, 1] - trace.blocks[0].k_heads.at(key)[0].numpy()).max() < 1e-6
    assert np.abs(products[:, 0] * products[:, 1] - products[:, 2]).max() < 1e-5
    score = trace.blocks[0].scores.at(5)[0, key].item()
    assert abs(products[:, 2].sum() / np.sqrt(8) - score) < 1e-5
    assert abs(float(rows[-1].split()[-1]) / np.sqrt(8) - score) < 1e-6
    assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("text", ["the cat the cat", "法国的首都叫巴黎。", "x", "\n", HOSTILE, "10 2 1E3"])
@pytest.mark.parametrize("model", ["mini-gpt", "chapter-7"])
def test_odd_records_are_drawn_and_nothing_before_the_edit_moves(model, text):
    at = open_app("attention", model=model, text=text, position="1")
    assert not at.error
    panel(at, FUTURE)
    assert "changed by exactly 0." in texts(at)
    assert len(at.get("bidi_component")) >= 4  # position chips, gallery, matrix, moved chips
    assert table_of(at)["key"] == ["0", "1"]
    for markdown in at.markdown:
        assert "onerror" not in markdown.value and "example.com" not in markdown.value


def test_a_chosen_edit_is_run_and_an_impossible_one_is_not_offered():
    at = panel(open_app("attention", text=RED), FUTURE)
    at.selectbox(key="edit_position").set_value(10).run()
    model, tokenizer, batch, _ = traced("mini-gpt", 100, RED)
    own = batch.ids[0, 10].item()
    assert tokenizer.piece_label(own) == "w"
    options = at.selectbox(key="edit_id").options
    assert len(options) == 290 and "w  (id 119)" not in options
    at.selectbox(key="edit_id").set_value(270).run()
    there = edit_token(model, batch, 10, 270).differences[10].item()
    assert "Position 10: w becomes red. Nothing before it moved" in texts(at)
    assert f"Position 10 moved: one of its logits changed by {there:.4g}." in texts(at)
    at.session_state["workspace"] = type(at.session_state["workspace"])(text="x", position=1)
    at.run()
    assert not at.exception and "Position 1: x becomes y. Position 0 did not move" in texts(at)


def test_a_model_that_sees_the_future_is_not_called_causal(monkeypatch):
    monkeypatch.setattr(
        "minigpt.model.gpt.visible_keys",
        lambda queries, keys, valid=None: torch.ones(queries, keys, dtype=torch.bool)[None, None],
    )
    model, tokenizer, batch, trace = traced("mini-gpt", 100, RED)

    class Seen:
        pass

    Seen.label = tokenizer.piece_label
    said = causality.sentence(Seen, edit_token(model, batch, 14, 84))
    assert "did not move" not in said and "Before it, logits moved by up to" in said


def test_switches_draw_scores_mask_padding_and_every_head():
    at = open_app("attention", model="chapter-7", text=RED, block="3", head="2")
    for kind in (spec.kind for spec in attention_views.PICTURES):
        at.segmented_control(key="picture").set_value(kind).run()
        assert not at.exception
    at.toggle(key="padding").set_value(True).run()
    assert any(caption.value.startswith("Slots 15 to 127 are padding") for caption in at.caption)
    at.toggle(key="together").set_value(True).run()
    table = table_of(at)
    assert list(table) == ["key", "piece", "head 0", "head 1", "head 2", "head 3"]
    assert all(abs(sum(map(float, table[f"head {head}"])) - 1) < 1e-6 for head in range(4))
    assert not at.dataframe
    heads = panel(at, "All heads in numbers").dataframe[-1].value
    assert len(heads) == 16 and heads["keys visible"].unique().tolist() == [8.5]


def test_a_clicked_cell_behind_the_mask_marks_no_key():
    at = open_app("attention", text=RED, position="5")
    at.session_state[attention_views.CELL] = (RED, 5, 5, 9)
    at.run()
    assert not at.exception and "Query 5 and key 9 in numbers" in [heading.value for heading in at.subheader]


def test_a_record_that_fills_the_context_has_no_padding_to_draw():
    at = open_app("attention", text="z" * 63)
    assert at.toggle(key="padding").disabled
    assert "The record fills all 64 slots: there is no padding." in [caption.value for caption in at.caption]


class Chosen:
    """What `attending` reads of a view, around a real trace."""

    def __init__(self, name: str, text: str, block: int = 0, head: int = 0):
        self.model, self.tokenizer, self.batch, self.trace = traced(name, 0, text)
        self.block, self.head, self.length = block, head, self.batch.target_count
        self.slots = self.batch.ids.shape[1]
        self.label = self.tokenizer.piece_label


def test_pictures_have_integer_labels_hidden_cells_and_one_limit_a_block():
    view = Chosen("mg-1", "the cat the cat", head=1)
    labels = attention_views.slot_labels(view, view.length)
    assert len(set(labels)) == view.length == len(labels) and labels[0].startswith("0  ")
    scores = attention_views.picture(view, SCORES, view.length)
    hidden = np.triu(np.ones((view.length, view.length), bool), 1)
    assert (scores.masked == hidden).all() and scores.palette == "signed"
    both = view.trace.blocks[0].scores.values[0, :, : view.length, : view.length].numpy()
    assert scores.limit == np.abs(both[:, ~hidden]).max() and (scores.values == both[1]).all()
    weights = attention_views.picture(view, WEIGHTS, view.length)
    assert (weights.values[hidden] == 0).all() and weights.limit == 1.0
    padded = attention_views.picture(view, VISIBLE, view.slots)
    assert padded.masked[view.length :].all() and padded.masked[:, view.length :].all()
    assert padded.values.sum() == view.length * (view.length + 1) / 2


@pytest.mark.parametrize(("query", "key", "reason"), [(2, 3, "later"), (2, 2, ""), (20, 3, "slot 20 is padding")])
def test_a_hidden_cell_says_why(query, key, reason):
    view = Chosen("mg-1", "the cat")
    score, weight = attention_views.cell_work(view, query, key)
    assert reason in attention_views.hidden_sentence(weight, query, key)
    assert (attention_views.hidden_sentence(weight, query, key) == "") == (reason == "")
    assert abs(score.value - score.shown) < 1e-12 and abs(weight.value - weight.shown) < 1e-12


def test_an_untrained_head_is_said_to_spread_evenly():
    view = Chosen("chapter-7", "the cat the cat")
    assert "head 0 spreads its weight almost evenly" in attention_views.head_sentence(view)
