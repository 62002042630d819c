"""Cross-entropy in nats per scored position: padding and other ignored slots never count.

Targets are already shifted by `batch_records`; nothing is shifted here.
"""

import torch
from torch.nn import functional

from minigpt.sentences import Refusal

IGNORE = -100  # the target of a slot that is not scored; not an id


def loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean of -ln p(target) over the scored positions: logits (B, T, V), targets (B, T) -> scalar.

    Raises ValueError when every target is IGNORE: there is no mean of nothing.
    Uniform logits over 291 ids give ln 291 = 5.673323267 for any number of padding slots.
    """
    total, scored = summed_loss(logits, targets)
    if not scored:
        raise Refusal("no position is scored: all {numel} targets are {ignore}", numel=targets.numel(), ignore=IGNORE)
    return total / scored


def summed_loss(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, int]:
    """(sum of -ln p(target), number of scored positions); (0, 0) when all targets are IGNORE."""
    total = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE, reduction="sum")
    return total, int((targets != IGNORE).sum())


def position_losses(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """-ln p(target) at each position, (B, T); NaN where the target is IGNORE, so that no mean can use it."""
    losses = functional.cross_entropy(logits.transpose(1, 2), targets, ignore_index=IGNORE, reduction="none")
    return losses.masked_fill(targets == IGNORE, torch.nan)
