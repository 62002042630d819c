"""Dropout with its own generator, so that runs and samplers in one process never disturb each other."""

from collections.abc import Callable

import torch

Dropout = Callable[[torch.Tensor], torch.Tensor]


def no_dropout(x: torch.Tensor) -> torch.Tensor:
    """The identity: outside training, or with rate 0."""
    return x


def seeded_dropout(rate: float, generator: torch.Generator | None) -> Dropout:
    """Zeroes each number with probability `rate` and divides the others by 1 - rate; draws from `generator`."""

    def dropout(x: torch.Tensor) -> torch.Tensor:
        return x * torch.empty_like(x).bernoulli_(1 - rate, generator=generator) / (1 - rate)

    return dropout
