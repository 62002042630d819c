"""Attention in fewer kernels, for training steps, when no stage is shown.

The same function as the stages of `attention.py`, in other roundings: 1e-12 in float64 at most. It
serves batches without padding or with padding only after the text, as all of ours are: a real query
never sees such padding, because it comes later.
"""

from math import sqrt
from typing import Any

import torch
from torch.nn import functional

from minigpt.model.dropout import Dropout, NoDropout, SeededDropout

QUERIES = 64  # worked on together: the first ones need only the first keys


class FusedAttention:
    """qkv (B, T, 3C), Q, K and V side by side -> joined (B, T, C), causal; 0 for queries that are not `valid`."""

    def __init__(self, positions: int, valid: torch.Tensor | None, dtype: torch.dtype, dropout: Dropout):
        self.valid = None if valid is None or valid.all() else valid[:, :, None].to(dtype)  # (B, T, 1)
        self.dropout = dropout
        if not isinstance(dropout, NoDropout):
            hidden = torch.full((positions, positions), float("-inf"), dtype=dtype)
            self.mask = hidden.triu(1)  # added to the scores: 0 or minus infinity

    @staticmethod
    def serves(valid: torch.Tensor | None) -> bool:
        """Whether `valid` (B, T) has padding after the text only."""
        return valid is None or bool((valid[:, 1:] <= valid[:, :-1]).all())

    def __call__(self, qkv: torch.Tensor, heads: int) -> torch.Tensor:
        if isinstance(self.dropout, NoDropout):
            q, k, v = split_heads(qkv, heads)
            mixtures = functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # (B, H, T, D)
            joined = mixtures.transpose(1, 2).flatten(2)  # (B, T, C)
        else:
            joined = _DroppedAttention.apply(qkv, heads, self.mask, self.dropout)
        return joined if self.valid is None else joined * self.valid


def split_heads(qkv: torch.Tensor, heads: int) -> tuple[torch.Tensor, ...]:
    """(B, T, 3C) -> q, k, v, views of (B, H, T, D): head h owns the coordinates h D .. h D + D - 1 of each."""
    return qkv.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)


class _DroppedAttention(torch.autograd.Function):
    """Softmax attention with dropout on the weights: forward and gradient in few passes over few copies.

    Queries are taken some at a time, which need no later key: a portion has the queries from `start` to
    before `end` and as many keys as `end`. The copies of Q and V hold 1 / sqrt(D) and dropout's scale.
    The gradient of the softmax needs, of each row, the sum of weight times gradient: it is the mixture
    times its own gradient (T. Dao et al. (2022), FlashAttention, appendix B), so that no mask is kept.
    """

    @staticmethod
    def forward(ctx: Any, qkv: torch.Tensor, heads: int, hidden: torch.Tensor, dropout: SeededDropout) -> torch.Tensor:
        copied = torch.stack(split_heads(qkv, heads)).flatten(1, 2)  # (3, B H, T, D)
        q, k, v = copied
        q.mul_(1 / sqrt(q.shape[-1]))
        v.mul_(dropout.scale)
        mixtures, kept = torch.empty_like(q), []
        for start, end in _portions(q.shape[1]):
            keys = k[:, :end].transpose(1, 2)
            weights = torch.baddbmm(hidden[start:end, :end], q[:, start:end], keys).softmax(-1)  # (B H, queries, keys)
            dropped = dropout.mask(weights.shape, weights.dtype).mul_(weights)
            mixtures[:, start:end] = dropped @ v[:, :end]
            kept += [weights, dropped]
        ctx.save_for_backward(copied, mixtures, *kept)
        ctx.heads, ctx.scale = heads, dropout.scale
        return mixtures.unflatten(0, (-1, heads)).transpose(1, 2).flatten(2)  # (B, T, C)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        copied, mixtures, *kept = ctx.saved_tensors
        q, k, v = copied
        given = gradient.unflatten(-1, (ctx.heads, -1)).transpose(1, 2).flatten(0, 1)  # (B H, T, D)
        sums = (given * mixtures).sum(-1, keepdim=True)  # (B H, T, 1)
        to_q, to_k, to_v = found = torch.zeros_like(copied)
        for number, (start, end) in enumerate(_portions(q.shape[1])):
            weights, dropped = kept[2 * number : 2 * number + 2]
            some = given[:, start:end]  # (B H, queries, D)
            to_v[:, :end].baddbmm_(dropped.transpose(1, 2), some)
            to_scores = (some @ v[:, :end].transpose(1, 2)).mul_(dropped)
            to_scores.addcmul_(weights, sums[:, start:end], value=-1)
            to_k[:, :end].baddbmm_(to_scores.transpose(1, 2), q[:, start:end])
            to_q[:, start:end] = to_scores @ k[:, :end]
        to_q.mul_(1 / sqrt(q.shape[-1]))
        to_v.mul_(ctx.scale)
        batch = found.unflatten(1, (-1, ctx.heads))  # (3, B, H, T, D)
        return batch.permute(1, 3, 0, 2, 4).flatten(2), None, None, None  # (B, T, 3C)


def _portions(positions: int) -> list[tuple[int, int]]:
    return [(start, min(positions, start + QUERIES)) for start in range(0, positions, QUERIES)]
