"""The mask and softmax by hand, and the traced attention of each block against a scalar loop."""

from math import exp, sqrt

import pytest
import torch

from minigpt.config import ModelConfig
from minigpt.model.attention import CausalSelfAttention, masked_softmax, visible_keys
from minigpt.model.gpt import MiniGPT

IDS = torch.tensor([[3, 7, 7, 0, 19, 4], [5, 1, 9, 16, 8, 8]])
VALID = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])


def test_visible_keys_are_causal():
    assert visible_keys(3, 3)[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]


@pytest.mark.parametrize(
    ("queries", "keys", "rows"),
    [(1, 4, [[1, 1, 1, 1]]), (2, 5, [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]), (1, 1, [[1]])],
)
def test_last_query_stands_on_the_last_key(queries: int, keys: int, rows: list[list[int]]):
    visible = visible_keys(queries, keys)
    assert visible.shape == (1, 1, queries, keys)
    assert visible[0, 0].int().tolist() == rows


def test_padding_is_hidden_as_key_and_as_query():
    visible = visible_keys(3, 3, torch.tensor([[True, False, True], [False, True, True]]))
    assert visible.shape == (2, 1, 3, 3)
    assert visible[0, 0].int().tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 1]]
    assert visible[1, 0].int().tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]


def test_masked_softmax_by_hand():
    scores = torch.tensor([[0.0, 100.0], [0.0, torch.tensor(3.0).log().item()]], dtype=torch.float64)
    weights = masked_softmax(scores, torch.ones(2, 2).tril().bool())
    assert weights[0].tolist() == [1.0, 0.0]
    assert weights[1].tolist() == pytest.approx([0.25, 0.75], rel=1e-7)


def test_softmax_does_not_overflow():
    weights = masked_softmax(torch.tensor([[1e5, 1e5, -1e5]], dtype=torch.float64), torch.ones(1, 3).bool())
    assert weights.tolist() == [[0.5, 0.5, 0.0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_row_without_visible_key_is_zero(dtype: torch.dtype):
    scores = torch.randn(2, 4, 4, dtype=dtype, generator=torch.Generator().manual_seed(0), requires_grad=True)
    visible = torch.ones(4, 4).tril().bool()
    visible[0] = False
    weights = masked_softmax(scores, visible)
    (weights * torch.arange(4)).sum().backward()
    assert (weights[:, 0] == 0).all()
    assert weights[:, 1:].sum(-1).tolist() == pytest.approx([pytest.approx([1, 1, 1], rel=1e-6)] * 2)
    assert scores.grad.isfinite().all()
    assert (scores.grad[:, 0] == 0).all()
    assert (scores.grad[:, 2].abs() > 0)[:, :3].all()


def test_model_with_an_empty_first_row(small):
    """Four positions, two heads, position 0 is padding: plain path, trace and gradients agree on 0, never NaN."""
    model, ids = small(layers=2), torch.tensor([[1, 2, 3, 4]])
    valid = torch.tensor([[False, True, True, True]])
    trace = model.trace(ids, valid)
    for block in trace.blocks:
        assert (block.weights.values[0, :, 0] == 0).all()
        assert (block.mixtures.values[0, :, 0] == 0).all()
        assert (block.weights.values[0, :, 1:, 0] == 0).all()
    logits = model(ids, valid)
    assert torch.equal(logits, trace.logits.values)
    logits[valid].square().sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("length", [1, 8, 10])
def test_weights_above_the_diagonal_are_exactly_zero(grid_model: MiniGPT, length: int):
    ids = torch.arange(length)[None] * 2 % 20
    for block in grid_model.trace(ids).blocks:
        weights = block.weights.values
        assert (weights.triu(1) == 0).all()
        assert (weights.diagonal(dim1=-2, dim2=-1) > 0).all()
        assert (weights[:, :, 0] == torch.eye(length)[0]).all()
        assert (weights.sum(-1) - 1).abs().max() < 1e-6


def test_traced_attention_equals_a_scalar_loop(grid_model: MiniGPT, tolerance: float):
    trace = grid_model.trace(IDS, VALID)
    head_width = grid_model.config.head_width
    for block in trace.blocks:
        joined = torch.zeros_like(block.joined.values)
        for b in range(2):
            for h in range(grid_model.config.heads):
                q, k, v = (stage.values[b, h].tolist() for stage in (block.q_heads, block.k_heads, block.v_heads))
                for t in range(6):
                    keys = [s for s in range(t + 1) if VALID[b, s] and VALID[b, t]]
                    scores = [sum(q[t][d] * k[s][d] for d in range(head_width)) / sqrt(head_width) for s in keys]
                    powers = [exp(score) for score in scores]
                    weights = [0.0] * 6
                    for s, power in zip(keys, powers, strict=True):
                        weights[s] = power / sum(powers)
                    mixture = [sum(weights[s] * v[s][d] for s in range(6)) for d in range(head_width)]
                    found = block.weights.values[b, h, t].tolist()
                    assert found == pytest.approx(weights, rel=0, abs=tolerance)
                    assert block.mixtures.values[b, h, t].tolist() == pytest.approx(mixture, rel=0, abs=tolerance)
                    kept = [block.scores.values[b, h, t, s].item() for s in keys]
                    assert kept == pytest.approx(scores, rel=0, abs=tolerance * 10)
                    joined[b, t, h * head_width : (h + 1) * head_width] = torch.tensor(mixture)
        assert (block.joined.values - joined).abs().max() <= 1e-6


def test_head_owns_neighbouring_coordinates():
    config = ModelConfig(vocab_size=4, context_length=4, width=6, heads=3, layers=1, ffn_width=4)
    attention = CausalSelfAttention(config, 0, torch.float64)
    x = torch.arange(12).reshape(1, 2, 6)
    heads = attention.split(x)
    assert heads.shape == (1, 3, 2, 2)
    assert heads[0].tolist() == [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]


def test_equal_shapes_with_other_heads_give_other_logits(small):
    two, four = small(heads=2), small(heads=4)
    assert {n: t.shape for n, t in two.state_dict().items()} == {n: t.shape for n, t in four.state_dict().items()}
    assert (two(IDS) - four(IDS)).abs().max() > 1e-3
