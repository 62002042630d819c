"""Dropout with its own generator, so that runs and samplers in one process never disturb each other."""

from collections.abc import Callable

import torch

Dropout = Callable[[torch.Tensor], torch.Tensor]
LEVELS = 1 << 16  # a number is kept or not by 16 random bits


def no_dropout(x: torch.Tensor) -> torch.Tensor:
    """The identity: outside training, or with rate 0."""
    return x


def seeded_dropout(rate: float, generator: torch.Generator | None) -> Dropout:
    """Zeroes each number with probability `rate` and divides the others by 1 - rate, so that the mean stays.

    Bits are drawn from `generator` 64 at a time and serve four numbers, which is several times faster
    than a draw each; `rate` is rounded to a multiple of 1 / 65536, for the draw and the division alike.
    """
    kept = max(1, round((1 - rate) * LEVELS))

    def dropout(x: torch.Tensor) -> torch.Tensor:
        words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(1 << 63), None, generator=generator)
        bits = words.view(torch.int16)[: x.numel()].view(x.shape)  # -32768 .. 32767
        return x * (bits < kept - LEVELS // 2).to(x.dtype).mul_(LEVELS / kept)

    return dropout
