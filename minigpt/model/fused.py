"""Attention in fewer kernels, for training steps, when nobody looks at the stages.

The same function as the stages of `attention.py`, in other roundings: 1e-12 in float64 at most. It
serves batches without padding or with padding only after the text, as all of ours are: a real query
never sees such padding, because it comes later.
"""

from math import sqrt

import torch
from torch.nn import functional

from minigpt.model.dropout import Dropout, no_dropout

QUERIES = 64  # worked on together: the first ones need only the first keys


class FusedAttention:
    """q, k, v (B, H, T, D) -> mixtures (B, H, T, D), causal; 0 for queries that are not `valid`."""

    def __init__(self, positions: int, valid: torch.Tensor | None, dtype: torch.dtype, dropout: Dropout):
        self.valid = None if valid is None else valid[:, None, :, None].to(dtype)
        self.dropout = dropout
        if dropout is not no_dropout:
            hidden = torch.full((positions, positions), float("-inf"), dtype=dtype)
            self.mask = hidden.triu(1)  # added to the scores: 0 or minus infinity

    @staticmethod
    def serves(valid: torch.Tensor | None) -> bool:
        """Whether `valid` (B, T) has padding after the text only."""
        return valid is None or bool((valid[:, 1:] <= valid[:, :-1]).all())

    def __call__(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if self.dropout is no_dropout:
            mixtures = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            starts = range(0, q.shape[2], QUERIES)
            mixtures = torch.cat([self._some(q, k, v, start, start + QUERIES) for start in starts], dim=2)
        return mixtures if self.valid is None else mixtures * self.valid

    def _some(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, start: int, end: int) -> torch.Tensor:
        """Mixtures of the queries from `start` to before `end`, which need no later key.

        Mask and scale ride along in the product.
        """
        hidden, keys = self.mask[start:end, :end], k[:, :, :end].flatten(0, 1).transpose(1, 2)
        queries = q[:, :, start:end].flatten(0, 1)  # (B H, queries, D)
        scores = torch.baddbmm(hidden, queries, keys, alpha=1 / sqrt(q.shape[-1]))  # (B H, queries, keys)
        weights = scores.softmax(-1).unflatten(0, q.shape[:2])  # (B, H, queries, keys)
        return self.dropout(weights) @ v[:, :, :end]
