"""Links as earlier versions wrote them reproduce the same view."""

import pytest

from minigpt.generation.settings import read_columns
from tests.pages.app import open_app

TEXT = "The key is red."


@pytest.mark.parametrize("page", [None, "tokens", "stages", "attention", "logits"])
def test_a_record_in_a_model_at_a_step(page: str | None):
    at = open_app(page, model="mini-gpt", step="50", text=TEXT, position="3", block="0", head="1", stage="q_heads")
    kept = {"step": "50", "text": TEXT, "position": "3", "head": "1", "stage": "q_heads"}
    assert {name: at.query_params[name] for name in kept} == kept
    assert not at.warning and not at.error


@pytest.mark.parametrize(
    ("stage", "heading"), [("ffn_relu", "ffn_relu"), ("ffn_activation", "ffn_relu"), ("block_input", "block_input")]
)
def test_a_stage_by_its_published_name(stage: str, heading: str):
    at = open_app("stages", text=TEXT, position="3", stage=stage)
    assert at.subheader[0].value.replace("\\", "").startswith(f"{heading}:") and not at.warning


def test_a_link_without_a_stage_shows_what_enters_the_block():
    at = open_app("stages", text=TEXT, position="3")
    assert at.subheader[0].value.replace("\\", "").startswith("block_input:") and not at.warning


def test_a_shape_and_columns():
    at = open_app("stages", model="mg-1~layers=2~width=24~heads=3", text=TEXT, position="3", block="1", stage="weights")
    assert at.query_params["model"] == "mg-1~layers=2~width=24~heads=3" and not at.warning and not at.error
    columns = read_columns("0,0,1,31415,24;0.8,50,0.95,31415,24")
    assert [column.temperature for column in columns] == [0.0, 0.8] and columns[1].top_k == 50
