"""The fused attention of training steps is the attention of the stages, in value and gradient."""

from dataclasses import replace

import pytest
import torch

from minigpt.model.dropout import SeededDropout
from minigpt.model.forward_pass import unhooked
from minigpt.model.gpt import MiniGPT
from minigpt.model.kernels import fused_attention
from minigpt.model.kernels.fused_attention import FusedAttention
from minigpt.model.loss import loss
from minigpt.presets import preset

SMALL = replace(
    preset("chapter-7").model, vocab_size=31, width=16, layers=2, dtype="float64", init_std=0.5, dropout=0.0
)


class Even(SeededDropout):
    """Keeps every number; multiplies it by `scale`."""

    def __init__(self, scale: float):
        self.scale = scale

    def mask(self, shape: torch.Size, dtype: torch.dtype) -> torch.Tensor:
        return torch.ones(shape, dtype=dtype)


def inspection_batch(name, values):
    """A `keep` that changes nothing, but has the stages computed."""
    return values


def case(lengths: list[int] | None, positions: int = 9) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor]:
    """ids, valid and targets of random records; `lengths` None means full ones without `valid`."""
    generator = torch.Generator().manual_seed(3)
    ids, targets = torch.randint(31, (2, 3, positions), generator=generator)
    if lengths is None:
        return ids, None, targets
    valid = torch.arange(positions) < torch.tensor(lengths)[:, None]
    return ids, valid, targets.masked_fill(~valid, -100)


@pytest.mark.parametrize("lengths", [None, [9, 9, 9], [9, 4, 1]])
@pytest.mark.parametrize("queries", [4, 64])
@pytest.mark.parametrize("path", ["kernel", "product"])
def test_logits_and_gradients_equal_those_of_the_stages(lengths, queries, path, monkeypatch):
    monkeypatch.setattr(fused_attention, "QUERIES", queries)
    if path == "product":  # the branch with dropout, with a dropout that drops nothing
        monkeypatch.setattr("minigpt.model.gpt.no_dropout", Even(1.0))
    ids, valid, targets = case(lengths)
    results = []
    for keep in (unhooked, inspection_batch):
        model = MiniGPT(SMALL).train()
        logits = model(ids, valid, hook=keep)
        loss(logits, targets).backward()
        results.append([logits, *(parameter.grad for parameter in model.parameters())])
    for one, other in zip(*results, strict=True):
        assert (one - other).abs().max() < 1e-12


def test_only_unwatched_training_is_fused(monkeypatch):
    calls = []
    monkeypatch.setattr(FusedAttention, "__call__", lambda self, qkv, heads: calls.append(1) or qkv[..., :16])
    ids, valid, _ = case([9, 4, 1])
    model = MiniGPT(SMALL)
    model.eval()(ids, valid)
    model.trace(ids, valid)
    model.train()(ids, valid, hook=inspection_batch)
    assert not calls
    model(ids, valid)
    assert len(calls) == SMALL.layers


def test_padding_elsewhere_takes_the_stages():
    valid = torch.tensor([[False, True, True], [True, True, False]])
    assert not FusedAttention.serves(valid)
    assert FusedAttention.serves(valid[1:])
    assert FusedAttention.serves(None)
    ids, model = torch.tensor([[1, 2, 3], [4, 5, 6]]), MiniGPT(SMALL)
    assert torch.equal(model.train()(ids, valid), model.eval()(ids, valid))


def test_dropped_weights_are_the_dropout_of_the_softmax():
    qkv = torch.randn(2, 5, 24, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    halved = FusedAttention(5, None, torch.float64, Even(0.5))
    whole = FusedAttention(5, None, torch.float64, Even(1.0))
    assert torch.allclose(2 * halved(qkv, 2), whole(qkv, 2), rtol=0, atol=1e-15)


@pytest.mark.parametrize("queries", [3, 8])
def test_dropped_attention_and_its_gradient_by_definition(queries, monkeypatch):
    """Against softmax, the same bits, and automatic differentiation; 8 positions are a portion, or three."""
    monkeypatch.setattr(fused_attention, "QUERIES", queries)
    generator = torch.Generator().manual_seed(5)
    qkv = torch.randn(2, 8, 24, dtype=torch.float64, generator=generator).requires_grad_()
    direction = torch.randn(2, 8, 8, dtype=torch.float64, generator=generator)
    drop = SeededDropout(0.4, torch.Generator().manual_seed(6))
    joined = FusedAttention(8, None, torch.float64, drop)(qkv, 2)
    (joined * direction).sum().backward()
    drop, found = SeededDropout(0.4, torch.Generator().manual_seed(6)), qkv.grad.clone()
    masks = torch.zeros(4, 8, 8, dtype=torch.float64)
    for start in range(0, 8, queries):
        end = min(8, start + queries)
        masks[:, start:end, :end] = drop.mask(torch.Size([4, end - start, end]), torch.float64)
    q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in qkv.chunk(3, -1))
    scores = (q @ k.transpose(-2, -1) / 2).masked_fill(torch.ones(8, 8).triu(1).bool(), float("-inf"))
    expected = ((scores.softmax(-1) * masks.view(2, 2, 8, 8) * drop.scale) @ v).transpose(1, 2).flatten(2)
    qkv.grad = None
    (expected * direction).sum().backward()
    assert (joined - expected).abs().max() < 1e-14
    assert (found - qkv.grad).abs().max() < 1e-14
