"""Adam by hand, against torch's own, and AdamW's decay on matrices only."""

from math import sqrt

import pytest
import torch
from torch import nn

from minigpt.config import ModelConfig, TrainConfig
from minigpt.model.gpt import MiniGPT
from minigpt.training.optimizer import Adam

SIZES = {"vocab_size": 20, "context_length": 10, "width": 8, "heads": 2, "layers": 2, "ffn_width": 12}


def filled_model(**changes) -> MiniGPT:
    """A model without a single 0 or 1 among its parameters."""
    model = MiniGPT(ModelConfig(**SIZES | {"attention_bias": True} | changes))
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, dtype=torch.float64, generator=generator) + 3)
    return model


def put_gradients(model: nn.Module, generator: torch.Generator) -> None:
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, dtype=parameter.dtype, generator=generator)


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("tied", [False, True])
def test_equals_torch(decay: float, tied: bool):
    from torch import optim  # the library itself never needs it

    config = TrainConfig(optimizer="adamw" if decay else "adam", weight_decay=decay, beta1=0.8, beta2=0.95)
    ours, theirs = filled_model(tied_head=tied), filled_model(tied_head=tied)
    groups = [
        {"params": [p for p in theirs.parameters() if p.ndim == 2], "weight_decay": decay},
        {"params": [p for p in theirs.parameters() if p.ndim != 2], "weight_decay": 0.0},
    ]
    kind = optim.AdamW if decay else optim.Adam
    reference, optimizer = kind(groups, lr=0.01, betas=(0.8, 0.95), eps=1e-8), Adam(ours, config)
    generators = torch.Generator().manual_seed(9), torch.Generator().manual_seed(9)
    for step in range(1, 21):
        rate = 0.01 * step
        for group in reference.param_groups:
            group["lr"] = rate
        put_gradients(ours, generators[0])
        put_gradients(theirs, generators[1])
        optimizer.update(step, rate)
        reference.step()
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert (one - other).abs().max() < 1e-12


@pytest.mark.parametrize("tied", [False, True])
def test_decay_without_gradient(tied: bool):
    """Learning rate 0.1, decay 0.1, gradients 0: matrices become 0.99 of themselves, nothing else moves."""
    model = filled_model(tied_head=tied)
    before = {name: tensor.detach().clone() for name, tensor in model.named_parameters()}
    optimizer = Adam(model, TrainConfig(optimizer="adamw", weight_decay=0.1))
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.update(1, 0.1)
    for name, tensor in model.named_parameters():
        if tensor.ndim == 2:
            assert (tensor - 0.99 * before[name]).abs().max() < 1e-12, name
        else:
            assert torch.equal(tensor, before[name]), name
    matrices = {name for name, tensor in before.items() if tensor.ndim == 2}
    assert ("head" in matrices) is not tied
    assert {"token_embedding", "position_embedding", "blocks.1.ffn.w2"} <= matrices


def test_every_parameter_exactly_once():
    model = filled_model(tied_head=True)
    optimizer = Adam(model, TrainConfig())
    pointers = [tensor.data_ptr() for tensor in optimizer.parameters.values()]
    assert len(pointers) == len(set(pointers)) == len(list(model.parameters()))
    for moments in (optimizer.first, optimizer.second):
        assert {n: t.shape for n, t in moments.items()} == {n: t.shape for n, t in optimizer.parameters.items()}


def test_first_two_updates_by_hand():
    layer = nn.Module()
    layer.w = nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
    optimizer = Adam(layer, TrainConfig(beta1=0.9, beta2=0.99, epsilon=1e-8))
    layer.w.grad = torch.tensor([4.0], dtype=torch.float64)
    optimizer.update(1, 0.5)
    first = 1 - 0.5 * 4 / (4 + 1e-8)  # the bias correction makes both moments the gradient itself
    assert layer.w.item() == pytest.approx(first, abs=1e-14)
    layer.w.grad = torch.tensor([-2.0], dtype=torch.float64)
    optimizer.update(2, 0.5)
    mean = (0.9 * 0.1 * 4 + 0.1 * -2) / (1 - 0.9**2)
    square = (0.99 * 0.01 * 16 + 0.01 * 4) / (1 - 0.99**2)
    assert layer.w.item() == pytest.approx(first - 0.5 * mean / (sqrt(square) + 1e-8), abs=1e-13)


def test_gradients_are_left_alone():
    model = filled_model()
    put_gradients(model, torch.Generator().manual_seed(1))
    before = [parameter.grad.clone() for parameter in model.parameters()]
    Adam(model, TrainConfig()).update(1, 0.1)
    assert all(torch.equal(a, p.grad) for a, p in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_float32_takes_one_kernel_that_does_the_same(decay: float):
    config = TrainConfig(optimizer="adamw" if decay else "adam", weight_decay=decay, beta1=0.8, beta2=0.95)
    exact, model = filled_model(tied_head=True), filled_model(tied_head=True).float()
    reference, optimizer = Adam(exact, config), Adam(model, config)
    generator = torch.Generator().manual_seed(9)
    for step in range(1, 21):
        put_gradients(exact, generator)
        for one, other in zip(model.parameters(), exact.parameters(), strict=True):
            one.grad = other.grad.float()
        reference.update(step, 0.01 * step)
        optimizer.update(step, 0.01 * step)
    for one, other in zip(model.parameters(), exact.parameters(), strict=True):
        assert (one - other).abs().max() < 1e-5
    for name, moment in optimizer.second.items():
        assert (moment - reference.second[name]).abs().max() < 1e-5 and moment.dtype == torch.float32
