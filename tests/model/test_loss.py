"""Loss in nats per scored position, whatever stands beside them."""

from math import log

import pytest
import torch

from minigpt.model.loss import IGNORE, loss, position_losses, summed_loss


def two_records(slots: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Record A has 10 targets of loss 1, record B has 2 of loss 4; the other slots hold noise and IGNORE."""
    logits = torch.randn(2, slots, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    targets = torch.full((2, slots), IGNORE)
    for row, (scored, nats) in enumerate([(10, 1.0), (2, 4.0)]):
        p = torch.tensor(-nats, dtype=torch.float64).exp()
        logits[row, :scored] = torch.stack([p, (1 - p) / 2, (1 - p) / 2]).log()
        targets[row, :scored] = 0
    return logits, targets


@pytest.mark.parametrize("slots", [10, 16, 64])
def test_mean_over_scored_positions(slots: int):
    logits, targets = two_records(slots)
    assert loss(logits, targets).item() == pytest.approx(1.5, abs=1e-12)
    total, scored = summed_loss(logits, targets)
    assert (total.item(), scored) == (pytest.approx(18, abs=1e-12), 12)


def test_position_losses():
    logits, targets = two_records(16)
    losses = position_losses(logits, targets)
    assert losses[0, :10].tolist() == pytest.approx([1.0] * 10)
    assert losses[1, :2].tolist() == pytest.approx([4.0] * 2)
    assert losses.isnan().equal(targets == IGNORE)
    assert losses.nansum().item() == pytest.approx(18)


def test_nothing_scored():
    logits, targets = torch.zeros(2, 3, 5, requires_grad=True), torch.full((2, 3), IGNORE)
    total, scored = summed_loss(logits, targets)
    assert (total.item(), scored) == (0.0, 0)
    total.backward()
    assert (logits.grad == 0).all()
    with pytest.raises(ValueError, match="no position is scored: all 6 targets are -100"):
        loss(logits, targets)
    assert position_losses(logits, targets).isnan().all()


def test_by_hand():
    logits = torch.tensor([[[0.0, log(3.0)], [log(4.0), 0.0]]], dtype=torch.float64)
    targets = torch.tensor([[1, 1]])
    assert position_losses(logits, targets)[0].tolist() == pytest.approx([log(4 / 3), log(5)])
    assert loss(logits, targets).item() == pytest.approx((log(4 / 3) + log(5)) / 2)


def test_large_logits_stay_finite():
    assert loss(torch.tensor([[[1000.0, 0.0]]]), torch.tensor([[1]])).item() == 1000.0


def test_another_ignore_number_is_an_error():
    with pytest.raises(IndexError):
        loss(torch.zeros(1, 2, 5), torch.tensor([[1, -1]]))


def test_targets_are_not_shifted_again():
    """The prediction at slot t is scored against targets[t]: a confident, right model has loss near 0."""
    targets = torch.tensor([[3, 1, 4, 1, 2]])
    logits = torch.nn.functional.one_hot(targets, 5) * 50.0
    assert loss(logits, targets).item() < 1e-9
