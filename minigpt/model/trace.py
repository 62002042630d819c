"""The trace: every stage of a forward, with its name, shape, values and the line that computed it.

The stages are not computed here, and not listed here: `Recorder` is the hook of the one forward in `gpt.py`,
`attention.py` and `layers.py`, and notes what passes by. What a stage means is in `minigpt.inspection.stages`.
"""

import linecache
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from minigpt.config import ModelConfig
from minigpt.model.layers import published_name
from minigpt.sentences import Refusal
from minigpt.storage.paths import ROOT


@dataclass(frozen=True)
class Source:
    """The line of this project that computed a stage."""

    file: str  # relative to the project, with forward slashes
    line: int
    text: str


@dataclass(frozen=True)
class Stage:
    """One named array of the forward. `values` is a copy: a later training step does not change it.

    `kind` is the name in the forward. `name` is the published one: it differs for the activation, which is
    called ffn_relu, ffn_gelu or ffn_gelu_tanh by what it computes.
    """

    kind: str
    name: str
    block: int | None  # None before and after the blocks
    source: Source
    values: torch.Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    def at(self, position: int, record: int = 0) -> torch.Tensor:
        """The values at one position: (C,), (F,) or (V,), by head (H, D), or over the keys (H or 1, keys)."""
        if self.values.ndim == 2:  # (T, C), the position vectors: shared by the records
            return self.values[position]
        return self.values[record].select(-2, position)


class StageGroup:
    """Stages in the order of computation, each an attribute by its kind: `block.scores`, `trace.logits`."""

    _by_kind: dict[str, Stage]

    def __getattr__(self, kind: str) -> Stage:
        try:
            return self.__dict__["_by_kind"][kind]
        except KeyError:
            raise AttributeError(f"there is no stage {kind}") from None


@dataclass(frozen=True)
class BlockTrace(StageGroup):
    """The stages of one block."""

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_kind", {stage.kind: stage for stage in self.stages})


@dataclass(frozen=True)
class Trace(StageGroup):
    """All stages of one forward over `ids` (B, T) with `valid` (B, T).

    `stages` are in the order of computation; `blocks` group those of each block, and the others are
    attributes of the trace.
    """

    config: ModelConfig
    ids: torch.Tensor
    valid: torch.Tensor
    stages: tuple[Stage, ...]
    blocks: tuple[BlockTrace, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_kind", {stage.kind: stage for stage in self.stages if stage.block is None})

    def stage(self, name: str, block: int | None = None) -> Stage:
        """The stage called `name` (of `block`); ValueError that lists the names otherwise."""
        for stage in self.stages:
            if (stage.name, stage.block) == (name, block):
                return stage
        names = ", ".join(dict.fromkeys(stage.name for stage in self.stages))
        raise Refusal(
            "there is no stage {name!r} in block {block}; stages: {names}", name=name, block=block, names=names
        )


class Recorder:
    """A hook that copies each stage and notes the line it was called from."""

    def __init__(self) -> None:
        self.passed: list[tuple[str, torch.Tensor, Source]] = []

    def __call__(self, name: str, values: torch.Tensor) -> torch.Tensor:
        caller = sys._getframe(1)
        file, line = caller.f_code.co_filename, caller.f_lineno
        source = Source(Path(file).relative_to(ROOT).as_posix(), line, linecache.getline(file, line).strip())
        self.passed.append((name, values.detach().clone(), source))
        return values

    def trace(self, config: ModelConfig, ids: torch.Tensor, valid: torch.Tensor, outer: Sequence[str]) -> Trace:
        """What passed by as a Trace. `outer` are the stages before and after the blocks; any other is of a block,
        and passes once in each, from the first block to the last."""
        stages: list[Stage] = []
        counts: dict[str, int] = {}
        for kind, values, source in self.passed:
            block = None if kind in outer else counts.get(kind, 0)
            counts[kind] = counts.get(kind, 0) + 1
            stages.append(Stage(kind, published_name(kind, config), block, source, values))
        blocks = [
            BlockTrace(tuple(stage for stage in stages if stage.block == number)) for number in range(config.layers)
        ]
        return Trace(config, ids.clone(), valid.clone(), tuple(stages), tuple(blocks))
