"""The cells of a stage, its words, and the order of stages, for one model with wide and one with narrow vectors."""

import numpy as np
import pytest
import torch

from minigpt.config import ModelConfig
from minigpt.inspection.sources import preset_tokenizer
from minigpt.inspection.stages import derive, explain, shape_text, spec_of
from minigpt.model.gpt import MiniGPT
from minigpt.ui.base.view import View, trace_record
from minigpt.ui.base.workspace import Workspace
from minigpt.ui.stages import choice as stage_choice
from minigpt.ui.stages.grid import MOST, grid


def seen(position: int = 3, block: int = 0, head: int = 0, stage: str = "norm1", **changes) -> View:
    torch.set_num_threads(1)
    tokenizer = preset_tokenizer("mg-1")
    sizes = {"vocab_size": 291, "context_length": 16, "width": 12, "heads": 3, "layers": 2, "ffn_width": 20}
    model = MiniGPT(ModelConfig(**sizes | changes)).eval()
    text = "the cat the cat"
    traced = trace_record(model, tokenizer, text)
    space = Workspace("none", 0, text, position, block, head, stage)
    return View(space, tokenizer, traced.batch, traced.losses, lambda: (model, tokenizer), lambda: traced)


@pytest.mark.parametrize("changes", [{}, {"ffn_width": 300, "activation": "gelu", "dtype": "float32"}])
def test_every_cell_is_the_number_at_its_place(changes):
    view = seen(block=1, **changes)
    for stage in view.trace.stages:
        shown = stage.at(3)
        place = 0 if shown.ndim == 1 else (0, 0)
        cells = grid(view, stage, place)
        assert (len(cells.rows), len(cells.columns)) == cells.values.shape
        assert cells.values.dtype in (np.float64, np.dtype(view.trace.config.dtype))
        found = {}
        for row, column in np.argwhere(~np.isnan(cells.values)).tolist():
            place = cells.place(row, column)
            assert cells.cell(place) == (row, column)
            found[place] = cells.values[row, column]
            assert found[place] == shown[place].item()
        assert len(found) == shown.numel() // shown.shape[-1] * min(shown.shape[-1], _drawn(view, stage))


def _drawn(view: View, stage) -> int:
    """Keys of padding are not drawn."""
    return view.length if stage.name in ("scores", "visible", "weights") else stage.at(0).shape[-1]


def test_rows_of_a_vector():
    view = seen(ffn_width=300)
    assert grid(view, view.trace.blocks[0].norm1, 0).values.shape == (1, 12)
    wide = grid(view, view.trace.blocks[0].ffn_linear, 0)
    assert wide.values.shape == (10, 32) and np.isnan(wide.values[9, 12:]).all() and wide.rows[9] == "288"
    assert wide.whole and wide.cell(299) == (9, 11)


def test_a_very_long_vector_shows_the_part_around_the_chosen_number():
    view = seen(ffn_width=MOST + 40)
    stage = view.trace.blocks[0].ffn_linear
    cells = grid(view, stage, MOST + 3)
    assert not cells.whole and cells.rows == [str(MOST), str(MOST + 32)]
    assert cells.cell(MOST + 3) == (0, 3) and cells.place(1, 7) == MOST + 39
    assert cells.values[0, 3] == stage.at(3)[MOST + 3].item()


def test_scores_come_before_the_mask():
    view = seen(position=4)
    scores = view.trace.blocks[0].scores
    cells = grid(view, scores, (0, 0))
    assert cells.masked is None
    assert cells.values.tolist() == scores.at(4)[:, : view.length].tolist()
    assert explain(view, scores).startswith("Head 0: of the 5 keys it may read, key ")
    assert explain(view, scores).endswith("Later keys have scores too; the mask comes with the weights.")
    last = seen(position=view.length - 1)
    assert "Later" not in explain(last, last.trace.blocks[0].scores)


def test_later_keys_are_masked():
    view = seen(position=4)
    block = view.trace.blocks[0]
    for stage in (block.weights, block.visible):
        cells = grid(view, stage, (0, 0))
        assert cells.masked.shape == cells.values.shape
        assert (cells.masked == (np.arange(view.length) > 4)).all()
        assert cells.columns[4] == f"4 {view.labels[4]}"


def test_the_walk_meets_every_stage_once():
    view = seen()
    stage, names = view.trace.stages[0], []
    while stage is not None:
        names.append((stage.name, stage.block))
        stage = stage_choice.neighbour(view.trace, stage, 1)
    assert names == [(stage.name, stage.block) for stage in view.trace.stages]
    assert stage_choice.neighbour(view.trace, view.trace.stages[0], -1) is None


def test_the_rail_holds_the_chosen_block_and_what_is_outside():
    view = seen(block=1)
    items, stages = stage_choice.rail(view)
    assert [item.text for item in items if item.kind == "group"][1] == "Block 1 of 0–1"
    assert [stage.block for stage in stages if stage is not None] == [None, None, *[1] * 20, None, None]
    for item, stage in zip(items, stages, strict=True):
        assert (item.kind == "group") == (stage is None)


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh"])
def test_an_activation_in_a_link_is_that_of_the_model(activation):
    for name in ("ffn_activation", "ffn_relu", "ffn_gelu"):
        assert stage_choice.chosen(seen(stage=name, block=1, activation=activation)).name == f"ffn_{activation}"
    assert stage_choice.chosen(seen(stage="norm3")) is None


@pytest.mark.parametrize("changes", [{}, {"activation": "gelu"}, {"init_std": 0.0}, {"init_std": 3.0}])
@pytest.mark.parametrize("position", [0, 6])
def test_every_stage_has_a_sentence(changes, position):
    view = seen(position=position, head=2, **changes)
    for stage in view.trace.stages:
        words = explain(view, stage)
        assert len(words) > 20 and "{" not in words and "nan" not in words, words


def test_sentences_count_right():
    view = seen(position=6)
    block = view.trace.blocks[0]
    zero = int((block.ffn_linear.at(6) < 0).sum())
    assert 0 < zero < 20 and explain(view, block.ffn_activation) == f"ReLU set {zero} of 20 numbers to zero."
    assert explain(view, block.visible).startswith(f"7 of 16 slots may be read: {view.length - 7} of the record")
    weights = block.weights.at(6)[0]
    most = int(weights.argmax())
    assert f"{weights[most]:.1%} of its weight to key {most} " in explain(view, block.weights)
    row = block.block_input.at(6)
    factor = 1 / (row.var(correction=0) + 1e-5).sqrt().item()
    assert explain(view, block.norm1).endswith(f"stretches this vector by {factor:.4g}.")


def test_shapes_have_one_letter_an_axis():
    view = seen()
    assert shape_text(view.trace.blocks[0].scores) == "[1, 3, 16, 16] = B, H, T, T"
    sizes = {"B": 1, "T": 16, "C": 12, "H": 3, "D": 4, "F": 20, "V": 291, "1": 1}
    for stage in view.trace.stages:
        letters = shape_text(stage).split(" = ")[1].split(", ")
        assert tuple(sizes[letter] for letter in letters) == stage.shape


def test_every_first_number_can_be_worked_out():
    view = seen(position=6, head=2, block=1)
    for stage in view.trace.stages:
        place = stage_choice.coordinate(view, stage)
        assert derive(view.model, view.trace, stage, 6, place).shown == stage.at(6)[place].item()


def test_without_residual_connections_no_sentence_speaks_of_adding():
    view = seen(residual=False)
    block = view.trace.blocks[1]
    assert explain(view, block.attention_output).startswith("It replaces a vector of length ")
    assert explain(view, block.block_output).startswith("Without residual connections nothing is added: length ")
    assert spec_of(block.ffn_output).title_in(view.trace.config) == "what the FFN makes of it"
    usual = seen()
    assert explain(usual, usual.trace.blocks[1].block_output).startswith("The addition turns the vector")
    assert spec_of(usual.trace.blocks[1].ffn_output).title_in(usual.trace.config) == "what the FFN adds"
