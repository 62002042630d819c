"""What one stage reads at one position of one record: numbers as float64, no arithmetic."""

from dataclasses import dataclass

import numpy as np
import torch

from minigpt.model.gpt import MiniGPT
from minigpt.model.trace import Stage, Trace


@dataclass(frozen=True)
class Projection:
    """The matrix (inputs, outputs) and bias (outputs,) of an affine map, with their letters in the formulas."""

    matrix: np.ndarray
    bias: np.ndarray | None
    names: tuple[str, ...]  # matrix, and bias if there is one


@dataclass(frozen=True)
class NormParameters:
    """Weight and bias (C,) of a norm; the bias is None where the norm has none."""

    weight: np.ndarray
    bias: np.ndarray | None

    @property
    def names(self) -> tuple[str, ...]:
        return ("weight",) if self.bias is None else ("weight", "bias")


@dataclass(frozen=True)
class StageAt:
    """A stage of a trace at a position, with the stages it is computed from and the parameters it multiplies with.

    Made by `minigpt.inspection.stages.stage_at`, which checks that they belong together.
    """

    model: MiniGPT
    trace: Trace
    stage: Stage
    position: int
    record: int
    inputs: tuple[Stage, ...]
    parameters: Projection | NormParameters | None

    def at(self, stage: Stage) -> np.ndarray:
        """A stage at this position: (C,), (F,), (V,), (H, D) or (H, keys)."""
        return floats(stage.at(self.position, self.record))

    def everywhere(self, stage: Stage) -> np.ndarray:
        """A stage by heads at all positions of the record: (H, T, D)."""
        return floats(stage.values[self.record])

    @property
    def row(self) -> np.ndarray:
        """The first input at this position."""
        return self.at(self.inputs[0])

    @property
    def shown(self) -> np.ndarray:
        """The model's own numbers at this position."""
        return self.at(self.stage)

    @property
    def visible(self) -> np.ndarray:
        """Which keys this position may read: (T,) bool, from the rule and the valid slots."""
        valid = self.trace.valid[self.record].numpy()
        return (np.arange(len(valid)) <= self.position) & valid & valid[self.position]

    @property
    def token(self) -> int:
        """The id at this position."""
        return int(self.trace.ids[self.record, self.position])

    @property
    def projection(self) -> Projection:
        """The matrix and bias of a stage that has them."""
        assert isinstance(self.parameters, Projection)
        return self.parameters

    @property
    def norm(self) -> NormParameters:
        """The parameters of a stage that is a norm."""
        assert isinstance(self.parameters, NormParameters)
        return self.parameters


def floats(tensor: torch.Tensor) -> np.ndarray:
    """The same numbers as float64; every float32 and bool is one exactly."""
    return tensor.detach().numpy().astype(np.float64)
