"""The trace: every stage of a forward, with name, formula, shape, values and the line that computed it.

The stages are not computed here: `Recorder` stands in for `keep` in the one forward of `gpt.py` and
`attention.py`, and notes what passes by.
"""

import linecache
import sys
from dataclasses import dataclass, fields
from pathlib import Path

import torch

from minigpt.config import ModelConfig
from minigpt.sentences import Refusal
from minigpt.storage.paths import ROOT


def pass_on(name: str, values: torch.Tensor) -> torch.Tensor:
    """The `keep` of a forward that nobody traces."""
    return values


@dataclass(frozen=True)
class Source:
    """The line of this project that computed a stage."""

    file: str  # relative to the project, with forward slashes
    line: int
    text: str


@dataclass(frozen=True)
class Stage:
    """One named array of the forward. `values` is a copy: a later training step does not change it."""

    name: str
    block: int | None  # None before and after the blocks
    formula: str
    source: Source
    values: torch.Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    def at(self, position: int, record: int = 0) -> torch.Tensor:
        """The values at one position: (C,), (F,) or (V,), by head (H, D), or over the keys (H or 1, keys)."""
        if self.name == "position_embedding":  # (T, C), shared by the records
            return self.values[position]
        return self.values[record].select(-2, position)


@dataclass(frozen=True)
class BlockTrace:
    """The stages of one block, in order; shapes with B records, T positions, H heads of D, width C."""

    block_input: Stage  # (B, T, C)
    norm1: Stage  # (B, T, C)
    q_projection: Stage  # (B, T, C)
    k_projection: Stage  # (B, T, C)
    v_projection: Stage  # (B, T, C)
    q_heads: Stage  # (B, H, T, D)
    k_heads: Stage  # (B, H, T, D)
    v_heads: Stage  # (B, H, T, D)
    scores: Stage  # (B, H, T, T), before the mask
    visible: Stage  # (B, 1, T, T) bool
    weights: Stage  # (B, H, T, T)
    mixtures: Stage  # (B, H, T, D)
    joined: Stage  # (B, T, C)
    attention_output: Stage  # (B, T, C)
    residual1: Stage  # (B, T, C)
    norm2: Stage  # (B, T, C)
    ffn_linear: Stage  # (B, T, F)
    ffn_activation: Stage  # (B, T, F), named ffn_relu, ffn_gelu or ffn_gelu_tanh
    ffn_output: Stage  # (B, T, C)
    block_output: Stage  # (B, T, C)

    @property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True)
class Trace:
    """All stages of one forward over `ids` (B, T) with `valid` (B, T)."""

    config: ModelConfig
    ids: torch.Tensor
    valid: torch.Tensor
    token_embedding: Stage  # (B, T, C)
    position_embedding: Stage  # (T, C)
    blocks: tuple[BlockTrace, ...]
    final_norm: Stage  # (B, T, C)
    logits: Stage  # (B, T, V)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Every stage in the order of computation: 4 + 20 a block."""
        inner = [stage for block in self.blocks for stage in block.stages]
        return (self.token_embedding, self.position_embedding, *inner, self.final_norm, self.logits)

    def stage(self, name: str, block: int | None = None) -> Stage:
        """The stage called `name` (of `block`); ValueError that lists the names otherwise."""
        for stage in self.stages:
            if (stage.name, stage.block) == (name, block):
                return stage
        names = ", ".join(dict.fromkeys(stage.name for stage in self.stages))
        raise Refusal(
            "there is no stage {name!r} in block {block}; stages: {names}", name=name, block=block, names=names
        )


BLOCK_STAGES = tuple(field.name for field in fields(BlockTrace))


class Recorder:
    """A `keep` that copies each stage and notes the line it was called from."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, torch.Tensor, str, int]] = []

    def __call__(self, name: str, values: torch.Tensor) -> torch.Tensor:
        caller = sys._getframe(1)
        self.kept.append((name, values.detach().clone(), caller.f_code.co_filename, caller.f_lineno))
        return values

    def trace(self, config: ModelConfig, ids: torch.Tensor, valid: torch.Tensor) -> Trace:
        """The kept stages as a Trace."""
        before, inner, after = self.kept[:2], self.kept[2:-2], self.kept[-2:]
        size = len(BLOCK_STAGES)
        assert [name for name, *_ in inner] == list(BLOCK_STAGES) * config.layers, "the forward changed its stages"
        blocks = []
        for number in range(config.layers):
            part = inner[number * size : (number + 1) * size]
            blocks.append(BlockTrace(**{kept[0]: _stage(config, number, *kept) for kept in part}))
        outer = {kept[0]: _stage(config, None, *kept) for kept in before + after}
        return Trace(config, ids.clone(), valid.clone(), blocks=tuple(blocks), **outer)


def _stage(config: ModelConfig, block: int | None, name: str, values: torch.Tensor, file: str, line: int) -> Stage:
    source = Source(Path(file).relative_to(ROOT).as_posix(), line, linecache.getline(file, line).strip())
    formula = stage_formula(name, block, config)
    if name == "ffn_activation":
        name = f"ffn_{config.activation}"
    return Stage(name, block, formula, source, values)


def stage_formula(name: str, block: int | None, config: ModelConfig) -> str:
    """The formula of a stage in the letters of the package docstring, with biases only where there are some."""
    bias = " + b_{}" if config.attention_bias else ""
    root = f"√{config.head_width}"
    formulas = {
        "token_embedding": "E = token table[ids]",
        "position_embedding": "P = position table[0 .. T-1]",
        "block_input": "X = E + P" if not block else f"X = block_output of block {block - 1}",
        "norm1": "N = (X - mean) / √(variance + ε) · scale + offset",
        "q_projection": "Q = N · W_Q" + bias.format("Q"),
        "k_projection": "K = N · W_K" + bias.format("K"),
        "v_projection": "V = N · W_V" + bias.format("V"),
        "q_heads": "q of head h = coordinates h·D .. h·D + D-1 of Q",
        "k_heads": "k of head h = coordinates h·D .. h·D + D-1 of K",
        "v_heads": "v of head h = coordinates h·D .. h·D + D-1 of V",
        "scores": f"S[query, key] = q[query] · k[key] / {root}",
        "visible": "visible[query, key] = key ≤ query, and both are valid",
        "weights": "A[query, key] = exp(S[query, key]) / Σ exp(S[query, visible keys]); hidden keys 0",
        "mixtures": "M[query] = Σ A[query, key] · v[key]",
        "joined": "J = the mixtures of all heads, side by side",
        "attention_output": "O = J · W_O" + bias.format("O"),
        "residual1": "R = X + O" if config.residual else "R = O",
        "norm2": "N = (R - mean) / √(variance + ε) · scale + offset",
        "ffn_linear": "U = N · W_1 + b_1",
        "ffn_activation": _activation_formula(config.activation),
        "ffn_output": "G = A · W_2 + b_2",
        "block_output": "Y = R + G" if config.residual else "Y = G",
        "final_norm": "N = (Y - mean) / √(variance + ε) · scale + offset",
        "logits": f"Z = N · {'token tableᵀ' if config.tied_head else 'W_LM'}{' + b_LM' if config.head_bias else ''}",
    }
    return formulas[name]


def _activation_formula(activation: str) -> str:
    return {
        "relu": "A = max(0, U)",
        "gelu": "A = U · (1 + erf(U / √2)) / 2",
        "gelu_tanh": "A = U · (1 + tanh(√(2/π) · (U + 0.044715 · U³))) / 2",
    }[activation]
