"""Dropout: in training only, from its own generator, unbiased."""

import pytest
import torch

from minigpt.model.dropout import NoDropout, SeededDropout, no_dropout
from minigpt.model.gpt import MiniGPT

IDS = torch.tensor([[3, 7, 7, 0, 19, 4]])


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def model(small) -> MiniGPT:
    return small(layers=2, dropout=0.2)


def test_evaluation_is_the_model_without_dropout(model: MiniGPT, small):
    assert torch.equal(model(IDS), model(IDS))
    assert torch.equal(model(IDS), small(layers=2, dropout=0.0)(IDS))


def test_two_training_forwards_differ(model: MiniGPT):
    model.train()
    own = generator(7)
    assert not torch.equal(model(IDS, generator=own), model(IDS, generator=own))
    assert not torch.equal(model(IDS), model(IDS))


def test_equal_seeds_give_equal_forwards(model: MiniGPT):
    model.train()
    assert torch.equal(model(IDS, generator=generator(7)), model(IDS, generator=generator(7)))
    assert not torch.equal(model(IDS, generator=generator(7)), model(IDS, generator=generator(8)))


def test_global_generator_is_untouched(model: MiniGPT):
    model.train()
    state = torch.get_rng_state()
    model(IDS, generator=generator(7))
    model.trace(IDS)
    model.eval()(IDS)
    assert torch.equal(torch.get_rng_state(), state)


def test_traces_are_identical_and_the_mode_is_restored(model: MiniGPT):
    for training in (True, False):
        model.train(training)
        first, second = model.trace(IDS), model.trace(IDS)
        assert all(torch.equal(a.values, b.values) for a, b in zip(first.stages, second.stages, strict=True))
        assert all(module.training is training for module in model.modules())
    assert torch.equal(first.logits.values, model(IDS))


def test_mode_is_restored_after_a_refused_trace(model: MiniGPT):
    model.train()
    with pytest.raises(ValueError, match="ids must be in"):
        model.trace(torch.tensor([[99]]))
    assert model.training


def test_kept_numbers_are_scaled_up():
    x = torch.ones(100_000, dtype=torch.float64)
    dropped = SeededDropout(0.2, generator(1))(x)
    assert sorted(set(dropped.tolist())) == pytest.approx([0.0, 1.25], rel=1e-4)
    assert dropped.mean().item() == pytest.approx(1, abs=0.01)


def test_no_dropout_is_the_identity():
    x = torch.ones(3)
    assert no_dropout(x) is x
    assert torch.equal(NoDropout().added(x, 2 * x), 3 * x)


def test_added_is_the_sum_in_value_and_gradient():
    x, branch = torch.randn(2, 5, 7, dtype=torch.float64, generator=generator(2))
    results = []
    for sum in (lambda drop, a, b: drop.added(a, b), lambda drop, a, b: a + drop(b)):
        leaves = [tensor.clone().requires_grad_() for tensor in (x, branch)]
        total = sum(SeededDropout(0.3, generator(1)), *leaves)
        (total * total).sum().backward()
        results.append([total, *(leaf.grad for leaf in leaves)])
    for one, other in zip(*results, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-14)


def test_four_places_drop(small, monkeypatch: pytest.MonkeyPatch):
    """The embeddings, and in each block the attention weights and both branch outputs."""
    drawn = []  # (rate, numbers) of each place

    class Noted(SeededDropout):
        def mask(self, shape: torch.Size, dtype: torch.dtype) -> torch.Tensor:
            drawn.append((round(1 - 1 / self.scale, 4), shape.numel()))
            return super().mask(shape, dtype)

    monkeypatch.setattr("minigpt.model.gpt.SeededDropout", Noted)
    small(layers=2, dropout=0.2).train()(IDS)
    assert drawn == [(0.2, 6 * 8), *[(0.2, 2 * 6 * 6), (0.2, 6 * 8), (0.2, 6 * 8)] * 2]
    drawn.clear()
    small(layers=2, dropout=0.0).train()(IDS)
    assert drawn == []


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rate_scale_and_dtype(rate: float, dtype: torch.dtype):
    x = torch.full((401, 251), 3.0, dtype=dtype)
    dropped = SeededDropout(rate, generator(1))(x)
    kept = dropped[dropped != 0]
    assert dropped.dtype == dtype and dropped.shape == x.shape
    assert 1 - kept.numel() / x.numel() == pytest.approx(rate, abs=0.01)
    assert (kept / (3 / (1 - rate)) - 1).abs().max().item() <= 1e-4


def test_neighbours_drop_independently():
    """Of two neighbours, in rows and in columns, both are dropped as often as chance has it."""
    dropped = SeededDropout(0.5, generator(3))(torch.ones(400, 401)) == 0
    for pairs in (dropped[:, 1:] & dropped[:, :-1], dropped[1:] & dropped[:-1], dropped[:, 4:] & dropped[:, :-4]):
        assert pairs.double().mean().item() == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("rate", [0.001, 0.2, 0.9, 0.9997])
def test_the_mean_stays_even_where_the_rate_is_rounded(rate):
    ones = torch.ones(1 << 22)
    dropped = SeededDropout(rate, generator(1))(ones)
    kept = (dropped > 0).float().mean().item()
    assert dropped.max().item() * kept == pytest.approx(dropped.mean().item(), rel=1e-5)
    assert dropped.mean().item() == pytest.approx(1.0, abs=6 * (rate / (1 - rate) / len(ones)) ** 0.5)
