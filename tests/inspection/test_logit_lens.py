"""The logit lens, against models that really end at the depth it reads."""

from dataclasses import replace

import pytest
import torch

from minigpt.config import ModelConfig
from minigpt.corpus.batches import batch_records
from minigpt.inspection.logit_lens import logit_lens, read_residual, residuals
from minigpt.inspection.sources import load_source
from minigpt.model.gpt import MiniGPT

SMALL = ModelConfig(
    vocab_size=11, context_length=6, width=8, heads=2, layers=3, ffn_width=16, activation="gelu", init_std=0.5
)
IDS = torch.tensor([[1, 4, 9, 0, 7], [2, 2, 3, 10, 5]])


@pytest.mark.parametrize("changes", [{}, {"tied_head": True, "head_bias": False}, {"attention_bias": True}])
def test_each_row_is_what_a_model_cut_at_that_depth_says(changes: dict):
    model = MiniGPT(replace(SMALL, **changes)).eval()
    trace = model.trace(IDS)
    lens = logit_lens(model, trace, range(5), record=1)
    assert lens.logits.shape == (4, 5, 11)
    for depth in range(1, 4):
        cut = MiniGPT(replace(model.config, layers=depth)).eval()
        own = {name: value for name, value in model.state_dict().items() if name in cut.state_dict()}
        cut.load_state_dict(own)
        with torch.no_grad():
            assert torch.allclose(lens.logits[depth], cut(IDS)[1], rtol=0, atol=1e-12)
    assert not torch.allclose(lens.logits[0], lens.logits[3], atol=1e-3)


def test_the_first_row_is_read_off_the_sum_of_the_embeddings():
    model = MiniGPT(SMALL).eval()
    lens = logit_lens(model, model.trace(IDS), [2])
    x = model.token_embedding[9] + model.position_embedding[2]
    normed = (x - x.mean()) / (x.var(unbiased=False) + SMALL.norm_epsilon).sqrt()
    assert torch.allclose(lens.logits[0, 0], normed @ model.head, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "step"), [("mg-1", 0), ("mini-gpt", 600), ("chapter-7", 0)])
def test_the_last_row_is_the_models_own(name: str, step: int):
    model, tokenizer = load_source(name, step)
    batch = batch_records(["The key is red. Answer: red."], tokenizer, model.config.context_length)
    trace = model.trace(batch.ids, batch.valid)
    lens = logit_lens(model, trace, [0, 5])
    assert torch.equal(lens.logits[-1], trace.logits.values[0, [0, 5]])
    assert lens.difference <= (1e-12 if model.config.dtype == "float64" else 1e-5)
    assert torch.equal(read_residual(model, residuals(trace)[-1].values), trace.logits.values)


def test_the_trace_is_not_changed():
    model = MiniGPT(SMALL).eval()
    trace = model.trace(IDS)
    before = trace.logits.values.clone()
    logit_lens(model, trace, range(5)).logits.zero_()
    assert torch.equal(trace.logits.values, before)


@pytest.mark.parametrize(
    ("positions", "message"),
    [([], "at least one position"), ([5], "position must be a whole number from 0 to 4, got 5")],
)
def test_refused_positions(positions, message):
    model = MiniGPT(SMALL).eval()
    with pytest.raises(ValueError, match=message):
        logit_lens(model, model.trace(IDS), positions)


def test_another_model_is_refused():
    trace = MiniGPT(SMALL).eval().trace(IDS)
    with pytest.raises(ValueError, match="another config"):
        logit_lens(MiniGPT(replace(SMALL, layers=2)).eval(), trace, [0])
