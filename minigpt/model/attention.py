"""Causal self-attention with several heads, each step a named stage.

Attention exists in four forms. This one is the definition, with a stage for each step. Its fast twins in
`minigpt.model.kernels` are tested equal to it: `fused_attention` for training steps without a hook, by torch's
scaled_dot_product_attention or, with dropout, by a gradient written by hand; `decode` for one new position after
a cache.

Source: A. Vaswani et al. (2017), Attention Is All You Need, section 3.2.
"""

from math import sqrt

import torch
from torch import nn

from minigpt.config import ModelConfig
from minigpt.model.forward_pass import ForwardPass
from minigpt.model.layers import linear


def visible_keys(queries: int, keys: int, valid: torch.Tensor | None = None) -> torch.Tensor:
    """Which keys a query may read: (B, 1, queries, keys) bool, shared by the heads (B is 1 without `valid`).

    The last query is at the position of the last key, so `queries` new positions after a cache see all
    cached keys. A key is visible if it is not later than the query and both are valid; the row of a query
    that is not valid is empty.
    """
    causal = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)[None, None]
    if valid is None:
        return causal
    return causal & valid[:, None, None, :] & valid[:, None, :, None]


def masked_softmax(scores: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
    """Softmax over the visible keys (last axis); hidden keys get exactly 0, an empty row is all 0, never NaN."""
    hidden = ~visible
    filled = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    return filled.softmax(-1).masked_fill(hidden, 0.0)


class CausalSelfAttention(nn.Module):
    """Q, K, V, scores, weights, mixtures and the output projection.

    `qkv` is (C, 3 C), the matrices W_Q, W_K, W_V side by side: one product serves the three.
    """

    def __init__(self, config: ModelConfig, index: int, dtype: torch.dtype):
        super().__init__()
        self.index = index  # of the block, from 0
        self.heads, self.head_width = config.heads, config.head_width
        self.qkv = nn.Parameter(torch.empty(config.width, 3 * config.width, dtype=dtype))
        self.output = nn.Parameter(torch.empty(config.width, config.width, dtype=dtype))
        self.qkv_bias = nn.Parameter(torch.empty(3 * config.width, dtype=dtype)) if config.attention_bias else None
        self.output_bias = nn.Parameter(torch.empty(config.width, dtype=dtype)) if config.attention_bias else None

    def forward(self, x: torch.Tensor, run: ForwardPass) -> torch.Tensor:
        """x (B, T, C) -> (B, T, C); `run.fused` replaces the stages between the first product and the last."""
        qkv = linear(x, self.qkv, self.qkv_bias)  # (B, T, 3C)
        if run.fused is not None:
            return linear(run.fused(qkv, self.heads), self.output, self.output_bias)
        hook = run.hook
        q, k, v = qkv.chunk(3, dim=-1)
        q = hook("q_projection", q)  # (B, T, C)
        k = hook("k_projection", k)
        v = hook("v_projection", v)
        q = hook("q_heads", self.split(q))  # (B, H, T, D)
        k = hook("k_heads", self.split(k))
        v = hook("v_heads", self.split(v))
        if run.cache is not None:
            k, v = run.cache.append(self.index, k, v)  # (B, H, keys, D)
        scores = hook("scores", q @ k.transpose(-2, -1) / sqrt(self.head_width))  # (B, H, T, keys)
        assert run.visible is not None, "the stages need the mask"
        visible = hook("visible", run.visible)
        weights = hook("weights", masked_softmax(scores, visible))  # (B, H, T, keys)
        mixtures = hook("mixtures", run.dropout(weights) @ v)  # (B, H, T, D)
        joined = hook("joined", mixtures.transpose(1, 2).reshape(x.shape))  # (B, T, C)
        return hook("attention_output", linear(joined, self.output, self.output_bias))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """(B, T, C) -> (B, H, T, D): head h owns the coordinates h D .. h D + D - 1."""
        return x.unflatten(-1, (self.heads, self.head_width)).transpose(1, 2)
