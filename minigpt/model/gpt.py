"""MiniGPT: ids to logits, in the order a class meets it.

Pre-Norm blocks after R. Xiong et al. (2020), On Layer Normalization in the Transformer Architecture;
decoder-only with learned positions after A. Radford et al. (2019), Language Models are Unsupervised
Multitask Learners. Weights are [inputs, outputs]. `forward` is the staged forward, which everything shown is
read from; training steps and decoding replace parts of it by the fast twins in `minigpt.model.kernels`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import torch
from torch import nn

from minigpt.config import ModelConfig
from minigpt.model.attention import CausalSelfAttention, visible_keys
from minigpt.model.cache import KVCache
from minigpt.model.dropout import Dropout, SeededDropout, no_dropout
from minigpt.model.forward_pass import ForwardPass, Hook, unhooked
from minigpt.model.kernels.fused_attention import FusedAttention
from minigpt.model.layers import FeedForward, linear, norm_layer
from minigpt.model.trace import Recorder, Trace
from minigpt.sentences import Refusal

OUTER_STAGES = ("token_embedding", "position_embedding", "final_norm", "logits")  # before and after the blocks


class Block(nn.Module):
    """Attention and FFN, each on a normalized copy, each added to the residual, or replacing it without one."""

    def __init__(self, config: ModelConfig, index: int, dtype: torch.dtype):
        super().__init__()
        self.residual = config.residual
        self.norm1 = norm_layer(config, dtype)
        self.attention = CausalSelfAttention(config, index, dtype)
        self.norm2 = norm_layer(config, dtype)
        self.ffn = FeedForward(config, dtype)

    def forward(self, x: torch.Tensor, run: ForwardPass) -> torch.Tensor:
        """(B, T, C) -> (B, T, C)."""
        hook, dropout = run.hook, run.dropout
        normed = hook("norm1", self.norm1(x))
        attended = self.attention(normed, run)
        x = hook("residual1", dropout.added(x, attended) if self.residual else dropout(attended))
        normed = hook("norm2", self.norm2(x))
        ffn_out = self.ffn(normed, hook)
        return hook("block_output", dropout.added(x, ffn_out) if self.residual else dropout(ffn_out))


class Blocks(nn.ModuleList):
    """The blocks, first to last."""

    def __iter__(self) -> Iterator[Block]:
        return cast(Iterator[Block], super().__iter__())

    def __getitem__(self, index: int) -> Block:  # type: ignore[override]  # never a slice
        return cast(Block, super().__getitem__(index))


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
        self.blocks = Blocks(Block(config, index, dtype) for index in range(config.layers))
        self.final_norm = norm_layer(config, dtype)
        head = None if config.tied_head else nn.Parameter(torch.empty(config.width, config.vocab_size, dtype=dtype))
        self.head = head
        self.head_bias = nn.Parameter(torch.empty(config.vocab_size, dtype=dtype)) if config.head_bias else None
        if self.token_embedding.device.type != "meta":
            self.initialise()

    @torch.no_grad()
    def initialise(self) -> None:
        """Draw every matrix from one generator, in the order token, position, then per block Q, K, V, O,
        W1, W2, then the LM matrix; biases 0, norm weights 1."""
        generator = torch.Generator().manual_seed(self.config.init_seed)

        def draw(matrix: torch.Tensor) -> None:
            """Fill a contiguous matrix where it is: the numbers of torch.randn times the spread, without a copy."""
            spread = float(self.config.init_std)  # JSON may give an int too large for torch
            matrix.normal_(generator=generator).mul_(spread)

        for name, parameter in self.named_parameters():
            if parameter.ndim == 1:
                parameter.fill_(1.0 if name.endswith("weight") else 0.0)
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
        """W_LM, (C, V): its own parameter, or the token table transposed when tied."""
        return self.token_embedding.T if self.head is None else self.head

    def forward(
        self,
        ids: torch.Tensor,
        valid: torch.Tensor | None = None,
        cache: KVCache | None = None,
        hook: Hook | None = None,
        generator: torch.Generator | None = None,
    ) -> torch.Tensor:
        """ids (B, T) long -> logits (B, T, V).

        `valid` (B, T) bool marks real slots; without it all are. With a `cache`, `ids` are the next T
        positions after the cached ones, all valid. `hook(name, tensor)` is called at every stage and may
        replace its value, in training too. In training mode, dropout draws from `generator` (torch's
        global one without it), and attention is fused when there is no hook.
        Raises ValueError for ids outside the vocabulary, no position, or more than the context length.
        """
        states = self.final_states(ids, valid, cache, hook, generator)
        hook = hook or unhooked
        return hook("logits", linear(states, self.head_matrix, self.head_bias))  # (B, T, V)

    def next_logits(self, ids: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        """The logits (B, V) of the last of the positions `ids` (B, T): what comes next; see `forward`."""
        return linear(self.final_states(ids, cache=cache)[:, -1], self.head_matrix, self.head_bias)

    def final_states(
        self,
        ids: torch.Tensor,
        valid: torch.Tensor | None = None,
        cache: KVCache | None = None,
        hook: Hook | None = None,
        generator: torch.Generator | None = None,
    ) -> torch.Tensor:
        """ids (B, T) long -> the normalized rows (B, T, C) that the LM head reads; see `forward`."""
        start = 0 if cache is None else cache.length
        self._check(ids, valid, cache, start)
        positions = ids.shape[1]
        run = self._forward_pass(positions, valid, cache, hook, generator)
        hook = run.hook
        tokens = hook("token_embedding", self.token_embedding[ids])  # (B, T, C)
        position_vectors = hook("position_embedding", self.position_embedding[start : start + positions])  # (T, C)
        x = hook("block_input", run.dropout(tokens + position_vectors))  # (B, T, C)
        for block in self.blocks:
            x = x if block is self.blocks[0] else hook("block_input", x)
            x = block(x, run)
        if cache is not None:
            cache.advance(positions)
        return hook("final_norm", self.final_norm(x))

    def _forward_pass(
        self,
        positions: int,
        valid: torch.Tensor | None,
        cache: KVCache | None,
        hook: Hook | None,
        generator: torch.Generator | None,
    ) -> ForwardPass:
        dropout: Dropout = no_dropout
        if self.training and self.config.dropout:
            dropout = SeededDropout(self.config.dropout, generator)
        if self.training and hook is None and cache is None and FusedAttention.serves(valid):
            dtype = self.token_embedding.dtype
            return ForwardPass(dropout=dropout, fused=FusedAttention(positions, valid, dtype, dropout))
        keys = positions if cache is None else cache.length + positions
        visible = visible_keys(positions, keys, valid)  # (B or 1, 1, T, keys)
        return ForwardPass(visible, hook or unhooked, cache, dropout)

    @torch.no_grad()
    def trace(self, ids: torch.Tensor, valid: torch.Tensor | None = None) -> Trace:
        """Every stage of one forward without dropout, copied; the former mode is restored.

        The stages are read off the very forward that `model(ids, valid)` runs.
        """
        valid = torch.ones_like(ids, dtype=torch.bool) if valid is None else valid
        recorder = Recorder()
        with evaluating(self):
            self(ids, valid, hook=recorder)
        return recorder.trace(self.config, ids, valid, OUTER_STAGES)

    def _check(self, ids: torch.Tensor, valid: torch.Tensor | None, cache: KVCache | None, start: int) -> None:
        if ids.ndim != 2 or ids.numel() == 0:
            raise Refusal(
                "ids must be (records, positions) with at least one of each, got {shape}", shape=tuple(ids.shape)
            )
        room = (self.config.context_length if cache is None else cache.capacity) - start
        if ids.shape[1] > room:
            positions = ids.shape[1]
            raise Refusal(
                "{positions} positions do not fit: {room} of the context are free", positions=positions, room=room
            )
        low, high = (bound.item() for bound in ids.aminmax())
        if low < 0 or high >= self.config.vocab_size:
            wrong = low if low < 0 else high
            raise Refusal("ids must be in 0..{last_id}, got {wrong}", last_id=self.config.vocab_size - 1, wrong=wrong)
        if cache is not None and cache.keys.shape[1] != len(ids):
            raise Refusal(
                "this cache is for {records} records at once, got {count}", records=cache.keys.shape[1], count=len(ids)
            )
        if valid is not None and cache is not None:
            raise Refusal("a cache takes records of equal length: leave out valid")
        if valid is not None and valid.shape != ids.shape:
            raise Refusal(
                "valid must have the shape of ids {ids_shape}, got {valid_shape}",
                ids_shape=tuple(ids.shape),
                valid_shape=tuple(valid.shape),
            )


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode inside the `with`; the former mode is restored."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
