"""Dropout: in training only, from its own generator, unbiased."""

import pytest
import torch

from minigpt.model.dropout import no_dropout, seeded_dropout
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
    dropped = seeded_dropout(0.2, generator(1))(x)
    assert set(dropped.tolist()) == {0.0, 1.25}
    assert dropped.mean().item() == pytest.approx(1, abs=0.01)


def test_no_dropout_is_the_identity():
    x = torch.ones(3)
    assert no_dropout(x) is x


def test_four_places_drop(small):
    """Embeddings, attention weights and both branch outputs: 1 + 3 a block draws from the generator."""
    model = small(layers=1, dropout=0.2).train()
    own, counted = generator(7), generator(7)
    model(IDS, generator=own)
    for shape in ((1, 6, 8), (1, 2, 6, 6), (1, 6, 8), (1, 6, 8)):
        torch.empty(shape, dtype=torch.float64).bernoulli_(0.8, generator=counted)
    assert torch.equal(own.get_state(), counted.get_state())
