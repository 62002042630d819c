"""Dropout with its own generator, so that runs and samplers in one process never disturb each other."""

from typing import Any

import torch

LEVELS = 1 << 16  # a number is kept or not by 16 random bits


class NoDropout:
    """The identity: outside training, or with rate 0."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x

    def added(self, x: torch.Tensor, branch: torch.Tensor) -> torch.Tensor:
        """x + branch."""
        return x + branch


class SeededDropout:
    """Zeroes each number with probability `rate` and multiplies the others by `scale`, so that the mean stays.

    Bits are drawn from `generator` 64 at a time and serve four numbers, which is several times faster
    than a draw each; `rate` is rounded to a multiple of 1 / 65536, for the draw and `scale` alike.
    """

    def __init__(self, rate: float, generator: torch.Generator | None):
        self.kept, self.generator = max(1, round((1 - rate) * LEVELS)), generator
        self.scale = LEVELS / self.kept

    def mask(self, shape: torch.Size, dtype: torch.dtype) -> torch.Tensor:
        """Fresh zeros (dropped) and ones (kept)."""
        mask = torch.empty(shape, dtype=dtype)
        words = torch.empty(-(-mask.numel() // 4), dtype=torch.int64)
        bits = words.random_(-(1 << 63), None, generator=self.generator).view(torch.int16)  # -32768 .. 32767
        return torch.lt(bits[: mask.numel()].view(shape), self.kept - LEVELS // 2, out=mask)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.mask(x.shape, x.dtype).mul_(self.scale)

    def added(self, x: torch.Tensor, branch: torch.Tensor) -> torch.Tensor:
        """x + dropout(branch), in one pass."""
        return _MaskedSum.apply(x, branch, self.mask(branch.shape, branch.dtype).mul_(self.scale))


Dropout = NoDropout | SeededDropout
no_dropout = NoDropout()


class _MaskedSum(torch.autograd.Function):
    """x + branch * mask; addcmul's own gradient would multiply the mask once more."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, branch: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(mask)
        return torch.addcmul(x, branch, mask)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (mask,) = ctx.saved_tensors
        return gradient, gradient * mask, None
