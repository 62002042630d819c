"""One record through one model in plain numbers, and what is refused before any work."""

import json

import pytest
import torch

from minigpt.inspection.record import check_position, head_rows, inspect_record, logit_summary
from minigpt.inspection.sources import preset_model
from minigpt.limits import check_length

RED = "The key is red. Answer: red."


@pytest.fixture(scope="module")
def mg1():
    return preset_model("mg-1")


@pytest.fixture(scope="module")
def result(mg1) -> dict:
    return inspect_record(*mg1, RED, position=5)


def test_everything_is_plain_and_ordered(result: dict):
    assert json.loads(json.dumps(result)) == result
    assert list(result) == ["ids", "targets", "loss", "position", "stages", "heads", "logits"]
    assert len(result["stages"]) == 24
    assert (result["stages"][0]["name"], result["stages"][-1]["name"]) == ("token_embedding", "logits")
    assert all(stage["formula"] for stage in result["stages"])


def test_ids_and_targets_are_one_shift_apart(result: dict):
    assert result["ids"][0] == 256 and result["targets"][-1] == 257
    assert result["ids"][1:] == result["targets"][:-1]
    assert len(result["ids"]) == 15


def test_heads_are_rows_of_the_query(result: dict, mg1):
    model, tokenizer = mg1
    ids = torch.tensor([result["ids"]])
    trace = model.trace(ids)
    assert [(row["block"], row["head"]) for row in result["heads"]] == [(0, 0), (0, 1)]
    for row in result["heads"]:
        for name in ("scores", "weights"):
            expected = getattr(trace.blocks[0], name).values[0, row["head"], 5, :6].tolist()
            assert row[name] == pytest.approx(expected, abs=1e-14)
        assert sum(row["weights"]) == pytest.approx(1, abs=1e-12)
    assert [len(row["weights"]) for row in head_rows(trace, 0)] == [1, 1]


def test_prediction(result: dict):
    logits = result["logits"]
    assert logits["target"] == result["targets"][5] == 270
    assert logits["loss"] == pytest.approx(5.574375688, abs=1e-9)
    values = result["stages"][-1]["values"]
    assert (logits["max"], logits["logit"]) == (max(values), values[270])
    assert logits["top"] == values.index(max(values))


def test_top_of_equal_logits_is_the_lowest_id():
    summary = logit_summary(torch.tensor([0.0, 2.0, 1.0, 2.0], dtype=torch.float64), target=3)
    assert summary["top"] == 1
    assert summary["probability"] == pytest.approx(0.3995, abs=1e-4)


@pytest.mark.parametrize("position", [-1, 15, 64])
def test_positions_outside(mg1, position: int):
    with pytest.raises(ValueError, match=f"position must be 0 to 14 in this record, got {position}"):
        inspect_record(*mg1, RED, position)
    check_position(14, 15)


def test_texts_that_do_not_fit(mg1, monkeypatch: pytest.MonkeyPatch):
    for text, sentence in (("", "is empty"), ("q" * 64, "needs 65 positions")):
        with pytest.raises(ValueError, match=sentence):
            inspect_record(*mg1, text, 0)
    monkeypatch.setenv("MINIGPT_RECORD_CHARACTERS", "5")
    check_length("12345")
    with pytest.raises(ValueError, match="the text has 6 characters, at most 5 are allowed"):
        inspect_record(*mg1, "123456", 0)
