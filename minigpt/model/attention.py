"""Causal self-attention with several heads, each step a named stage.

Source: A. Vaswani et al. (2017), Attention Is All You Need, section 3.2.
"""

from math import sqrt

import torch
from torch import nn

from minigpt.config import ModelConfig
from minigpt.model.cache import KVCache
from minigpt.model.dropout import Dropout, no_dropout
from minigpt.model.kernels.fused_attention import FusedAttention
from minigpt.model.linear import linear


def visible_keys(queries: int, keys: int, valid: torch.Tensor | None = None) -> torch.Tensor:
    """Which keys a query may read: (B, 1, queries, keys) bool, shared by the heads (B is 1 without `valid`).

    The last query stands on the last key, so `queries` new positions after a cache see all cached
    keys. A key is visible if it is not later than the query and both are valid; the row of a query
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

    def __init__(self, config: ModelConfig, dtype: torch.dtype):
        super().__init__()
        self.heads, self.head_width = config.heads, config.head_width
        self.qkv = nn.Parameter(torch.empty(config.width, 3 * config.width, dtype=dtype))
        self.output = nn.Parameter(torch.empty(config.width, config.width, dtype=dtype))
        self.qkv_bias = nn.Parameter(torch.empty(3 * config.width, dtype=dtype)) if config.attention_bias else None
        self.output_bias = nn.Parameter(torch.empty(config.width, dtype=dtype)) if config.attention_bias else None

    def forward(
        self,
        x: torch.Tensor,
        visible: torch.Tensor | None,
        keep,
        cache: KVCache | None = None,
        block: int = 0,
        dropout: Dropout = no_dropout,
        fused: FusedAttention | None = None,
    ) -> torch.Tensor:
        """x (B, T, C) and visible (B or 1, 1, T, keys) -> (B, T, C); `fused` takes the place of the stages
        between the first product and the last."""
        qkv = linear(x, self.qkv, self.qkv_bias)  # (B, T, 3C)
        if fused is not None:
            return linear(fused(qkv, self.heads), self.output, self.output_bias)
        q, k, v = qkv.chunk(3, dim=-1)
        q = keep("q_projection", q)  # (B, T, C)
        k = keep("k_projection", k)
        v = keep("v_projection", v)
        q = keep("q_heads", self.split(q))  # (B, H, T, D)
        k = keep("k_heads", self.split(k))
        v = keep("v_heads", self.split(v))
        if cache is not None:
            k, v = cache.append(block, k, v)  # (B, H, keys, D)
        scores = keep("scores", q @ k.transpose(-2, -1) / sqrt(self.head_width))  # (B, H, T, keys)
        keep("visible", visible)
        weights = keep("weights", masked_softmax(scores, visible))  # (B, H, T, keys)
        mixtures = keep("mixtures", dropout(weights) @ v)  # (B, H, T, D)
        joined = keep("joined", mixtures.transpose(1, 2).reshape(x.shape))  # (B, T, C)
        return keep("attention_output", linear(joined, self.output, self.output_bias))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """(B, T, C) -> (B, H, T, D): head h owns the coordinates h D .. h D + D - 1."""
        return x.unflatten(-1, (self.heads, self.head_width)).transpose(1, 2)
