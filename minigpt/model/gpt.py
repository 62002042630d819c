"""MiniGPT: ids to logits, in the order a class meets it.

Pre-Norm blocks after R. Xiong et al. (2020), On Layer Normalization in the Transformer Architecture;
decoder-only with learned positions after A. Radford et al. (2019), Language Models are Unsupervised
Multitask Learners. Weights are [inputs, outputs].
"""

import torch
from torch import nn
from torch.nn import functional

from minigpt.config import ModelConfig
from minigpt.model.attention import CausalSelfAttention, visible_keys
from minigpt.model.cache import KVCache
from minigpt.model.dropout import Dropout, SeededDropout, no_dropout
from minigpt.model.kernels.fused_attention import FusedAttention
from minigpt.model.linear import linear
from minigpt.model.trace import Recorder, Trace, pass_on
from minigpt.sentences import Refusal

ACTIVATION = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}


class RowNorm(nn.Module):
    """LayerNorm of each row: (x - mean) / sqrt(variance + epsilon) * scale + offset, over the last axis."""

    def __init__(self, width: int, epsilon: float, dtype: torch.dtype):
        super().__init__()
        self.epsilon = epsilon
        self.scale = nn.Parameter(torch.empty(width, dtype=dtype))
        self.offset = nn.Parameter(torch.empty(width, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., C) -> (..., C)."""
        return functional.layer_norm(x, self.scale.shape, self.scale, self.offset, self.epsilon)


class FeedForward(nn.Module):
    """Two matrices with an activation between, for each position by itself."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype):
        super().__init__()
        self.activation = config.activation
        self.w1 = nn.Parameter(torch.empty(config.width, config.ffn_width, dtype=dtype))
        self.b1 = nn.Parameter(torch.empty(config.ffn_width, dtype=dtype))
        self.w2 = nn.Parameter(torch.empty(config.ffn_width, config.width, dtype=dtype))
        self.b2 = nn.Parameter(torch.empty(config.width, dtype=dtype))

    def forward(self, x: torch.Tensor, keep) -> torch.Tensor:
        """(B, T, C) -> (B, T, C) through (B, T, F)."""
        hidden = keep("ffn_linear", linear(x, self.w1, self.b1))
        hidden = keep("ffn_activation", ACTIVATION[self.activation](hidden))
        return keep("ffn_output", linear(hidden, self.w2, self.b2))


class Block(nn.Module):
    """Attention and FFN, each on a normalised copy, each added to the residual, or in its place without one."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype):
        super().__init__()
        self.residual = config.residual
        self.norm1 = RowNorm(config.width, config.norm_epsilon, dtype)
        self.attention = CausalSelfAttention(config, dtype)
        self.norm2 = RowNorm(config.width, config.norm_epsilon, dtype)
        self.ffn = FeedForward(config, dtype)

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
        """(B, T, C) -> (B, T, C)."""
        normed = keep("norm1", self.norm1(x))
        attended = self.attention(normed, visible, keep, cache, block, dropout, fused)
        x = keep("residual1", dropout.added(x, attended) if self.residual else dropout(attended))
        normed = keep("norm2", self.norm2(x))
        thought = self.ffn(normed, keep)
        return keep("block_output", dropout.added(x, thought) if self.residual else dropout(thought))


class MiniGPT(nn.Module):
    """A decoder-only language model.

    `MiniGPT(config)` draws its weights from `config.init_seed`: equal configs give equal models, bit for
    bit. Calling it does not train it and changes nothing on it.
    """

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        dtype = getattr(torch, config.dtype)
        self.token_embedding = nn.Parameter(torch.empty(config.vocab_size, config.width, dtype=dtype))
        self.position_embedding = nn.Parameter(torch.empty(config.context_length, config.width, dtype=dtype))
        self.blocks = nn.ModuleList(Block(config, dtype) for _ in range(config.layers))
        self.final_norm = RowNorm(config.width, config.norm_epsilon, dtype)
        head = None if config.tied_head else nn.Parameter(torch.empty(config.width, config.vocab_size, dtype=dtype))
        self.head = head
        self.head_bias = nn.Parameter(torch.empty(config.vocab_size, dtype=dtype)) if config.head_bias else None
        if self.token_embedding.device.type != "meta":
            self.initialise()

    @torch.no_grad()
    def initialise(self) -> None:
        """Draw every matrix from one generator, in the order token, position, then per block Q, K, V, O,
        W1, W2, then the LM matrix; biases and norm offsets 0, norm scales 1."""
        generator = torch.Generator().manual_seed(self.config.init_seed)

        def draw(matrix: torch.Tensor) -> None:
            """Fill a contiguous matrix where it is: the numbers of torch.randn times the spread, without a copy."""
            matrix.normal_(generator=generator).mul_(
                float(self.config.init_std)
            )  # JSON may give an int too large for torch

        for name, parameter in self.named_parameters():
            if parameter.ndim == 1:
                parameter.fill_(1.0 if name.endswith("scale") else 0.0)
        draw(self.token_embedding)
        draw(self.position_embedding)
        width = self.config.width
        for block in self.blocks:
            drawn = block.attention.qkv.new_empty(width, width)  # the only copy: Q, K, V are columns side by side
            for columns in block.attention.qkv.split(width, dim=1):
                draw(drawn)
                columns.copy_(drawn)
            draw(block.attention.output)
            draw(block.ffn.w1)
            draw(block.ffn.w2)
        if self.head is not None:
            draw(self.head)

    @property
    def head_matrix(self) -> torch.Tensor:
        """W_LM, (C, V): a parameter of its own, or the token table transposed when tied."""
        return self.token_embedding.T if self.head is None else self.head

    def forward(
        self,
        ids: torch.Tensor,
        valid: torch.Tensor | None = None,
        cache: KVCache | None = None,
        keep=pass_on,
        generator: torch.Generator | None = None,
    ) -> torch.Tensor:
        """ids (B, T) long -> logits (B, T, V).

        `valid` (B, T) bool marks real slots; without it all are. With a `cache`, `ids` are the next T
        positions after the cached ones, all valid. `keep(name, tensor)` sees each stage. In training
        mode, dropout draws from `generator` (torch's global one without it), and attention is fused
        when no `keep` looks.
        Raises ValueError for ids outside the vocabulary, no position, or more than the context length.
        """
        states = self.final_states(ids, valid, cache, keep, generator)
        return keep("logits", linear(states, self.head_matrix, self.head_bias))  # (B, T, V)

    def next_logits(self, ids: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        """The logits (B, V) of the last of the positions `ids` (B, T): what comes next; see `forward`."""
        return linear(self.final_states(ids, cache=cache)[:, -1], self.head_matrix, self.head_bias)

    def final_states(
        self,
        ids: torch.Tensor,
        valid: torch.Tensor | None = None,
        cache: KVCache | None = None,
        keep=pass_on,
        generator: torch.Generator | None = None,
    ) -> torch.Tensor:
        """ids (B, T) long -> the normalised rows (B, T, C) that the LM head reads; see `forward`."""
        start = 0 if cache is None else cache.length
        self._check(ids, valid, cache, start)
        dropout = no_dropout
        if self.training and self.config.dropout:
            dropout = SeededDropout(self.config.dropout, generator)
        positions = ids.shape[1]
        tokens = keep("token_embedding", self.token_embedding[ids])  # (B, T, C)
        places = keep("position_embedding", self.position_embedding[start : start + positions])  # (T, C)
        x = keep("block_input", dropout(tokens + places))  # (B, T, C)
        visible = fused = None
        if self.training and keep is pass_on and cache is None and FusedAttention.serves(valid):
            fused = FusedAttention(positions, valid, x.dtype, dropout)
        else:
            visible = visible_keys(positions, start + positions, valid)  # (B or 1, 1, T, keys)
        for i, block in enumerate(self.blocks):
            x = x if i == 0 else keep("block_input", x)
            x = block(x, visible, keep, cache, i, dropout, fused)
        if cache is not None:
            cache.advance(positions)
        return keep("final_norm", self.final_norm(x))

    @torch.no_grad()
    def trace(self, ids: torch.Tensor, valid: torch.Tensor | None = None) -> Trace:
        """Every stage of one forward without dropout, copied; the former mode is restored.

        The stages are read off the very forward that `model(ids, valid)` runs.
        """
        valid = torch.ones_like(ids, dtype=torch.bool) if valid is None else valid
        recorder, training = Recorder(), self.training
        self.eval()
        try:
            self(ids, valid, keep=recorder)
        finally:
            self.train(training)
        return recorder.trace(self.config, ids, valid)

    def _check(self, ids: torch.Tensor, valid: torch.Tensor | None, cache: KVCache | None, start: int) -> None:
        if ids.ndim != 2 or ids.numel() == 0:
            raise Refusal(
                "ids must be (records, positions) with at least one of each, got {shape}", shape=tuple(ids.shape)
            )
        room = (self.config.context_length if cache is None else cache.capacity) - start
        if ids.shape[1] > room:
            raise Refusal("{shape} positions do not fit: {room} of the context are free", shape=ids.shape[1], room=room)
        low, high = (bound.item() for bound in ids.aminmax())
        if low < 0 or high >= self.config.vocab_size:
            wrong = low if low < 0 else high
            raise Refusal(
                "ids must be in 0..{vocab_size}, got {wrong}", vocab_size=self.config.vocab_size - 1, wrong=wrong
            )
        if cache is not None and cache.keys.shape[1] != len(ids):
            raise Refusal(
                "this cache is for {shape} records at once, got {count}", shape=cache.keys.shape[1], count=len(ids)
            )
        if valid is not None and cache is not None:
            raise Refusal("a cache takes records of equal length: leave out valid")
        if valid is not None and valid.shape != ids.shape:
            raise Refusal(
                "valid must have the shape of ids {shape}, got {shape2}",
                shape=tuple(ids.shape),
                shape2=tuple(valid.shape),
            )
