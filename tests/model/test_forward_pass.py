"""The hook: what it returns is what the forward goes on with, at every stage, in evaluation and in training."""

from collections import Counter

import pytest
import torch

from minigpt.inspection.stages import STAGES
from minigpt.model.attention import masked_softmax
from minigpt.model.loss import loss

IDS = torch.tensor([[3, 7, 7, 0, 19, 4], [5, 1, 9, 16, 8, 8]])
TARGETS = torch.tensor([[7, 7, 0, 19, 4, 1], [1, 9, 16, 8, 8, 1]])
NAMES = [spec.kind for spec in STAGES]
OUTER = ("token_embedding", "position_embedding", "final_norm", "logits")


class Replace:
    """Notes what arrives at each stage, and puts `change(value)` in the place of one stage of one block."""

    def __init__(self, name: str, block: int, change):
        self.name, self.number, self.change = name, 0 if name in OUTER else block, change
        self.passed, self.arrived = Counter(), []
        self.at = None

    def __call__(self, name: str, values: torch.Tensor) -> torch.Tensor:
        number, self.passed[name] = self.passed[name], self.passed[name] + 1
        self.arrived.append((name, number, values.detach().clone()))
        if (name, number) != (self.name, self.number):
            return values
        self.at = len(self.arrived) - 1
        return self.change(values)


def other(values: torch.Tensor) -> torch.Tensor:
    """Another value: the mask lets every query see its own position only, any other stage is moved at random."""
    if values.dtype == torch.bool:
        return values & torch.eye(*values.shape[-2:], dtype=torch.bool)
    return values + torch.randn(values.shape, dtype=values.dtype, generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_replaced_value_moves_what_follows_and_nothing_before(small, name: str, training: bool):
    model = small(layers=3).train(training)
    plain, changed = Replace(name, 1, lambda values: values), Replace(name, 1, other)
    before, after = model(IDS, hook=plain), model(IDS, hook=changed)
    assert len(plain.arrived) == 4 + 20 * 3
    for (_, _, one), (_, _, two) in zip(plain.arrived[: changed.at + 1], changed.arrived, strict=False):
        assert torch.equal(one, two)
    assert not torch.equal(before, after)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "visible"])
@pytest.mark.parametrize("block", [0, 2])
def test_gradients_flow_into_a_replacement_and_past_it(small, name: str, block: int):
    model, leaf = small(layers=3).train(), []

    def change(values: torch.Tensor) -> torch.Tensor:
        leaf.append(other(values).detach().requires_grad_())
        return leaf[0]

    loss(model(IDS, hook=Replace(name, block, change)), TARGETS).backward()
    assert leaf[0].grad.abs().sum() > 0
    if name != "logits":
        assert model.head_matrix.grad.abs().sum() > 0


def test_a_replaced_mask_masks(small):
    """By hand: the weights are the softmax over the keys that the hook leaves, the mixture is the value itself."""
    model = small(layers=1)
    hook = Replace("visible", 0, other)
    model(IDS, hook=hook)
    values = {name: tensor for name, _, tensor in hook.arrived}
    expected = masked_softmax(values["scores"], other(values["visible"]))
    assert torch.equal(values["weights"], expected)
    assert torch.equal(values["weights"], torch.eye(6, dtype=expected.dtype).expand_as(expected))
    assert torch.equal(values["mixtures"], values["v_heads"])


def test_replaced_numbers_by_hand(small):
    model = small(layers=1)
    c = model.config
    hook = Replace("residual1", 0, torch.zeros_like)
    model(IDS, hook=hook)
    values = {name: tensor for name, _, tensor in hook.arrived}
    assert torch.equal(values["norm2"], model.blocks[0].norm2.bias.expand(2, 6, c.width))
    assert torch.equal(values["block_output"], values["ffn_output"])
    zeroed = Replace("final_norm", 0, torch.zeros_like)
    assert torch.equal(model(IDS, hook=zeroed), model.head_bias.expand(2, 6, c.vocab_size))


@pytest.mark.parametrize("training", [False, True])
def test_a_hook_that_changes_nothing_changes_nothing(small, training: bool):
    model = small(layers=3).train(training)
    hooked, plain = model(IDS, hook=lambda name, values: values), model(IDS)
    assert (hooked - plain).abs().max() <= 1e-12
