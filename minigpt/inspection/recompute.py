"""Every stage a second time, by other means: NumPy in float64, from the shown inputs and the stored weights.

Nothing of the model's forward runs here, and no torch operation: a stage is recomputed at one position from
the earlier stages of the trace, as they are shown, so that an error of one stage stays with that stage.
NumPy serves for wide and narrow stages alike (one rule a stage, 50,257 logits in some 40 ms). Which rule
belongs to which stage is declared in `minigpt.inspection.stages`.
"""

import math
from collections.abc import Callable

import numpy as np

from minigpt.inspection.stage_at import StageAt, floats

Rule = Callable[[StageAt], np.ndarray | list[float]]


def token_row(here: StageAt) -> np.ndarray:
    return floats(here.model.token_embedding[here.token])


def position_row(here: StageAt) -> np.ndarray:
    return floats(here.model.position_embedding[here.position])


def added(here: StageAt) -> np.ndarray:
    return np.sum([here.at(stage) for stage in here.inputs], axis=0)


def projected(here: StageAt) -> np.ndarray:
    """row (inputs,) times matrix (inputs, outputs); einsum converts to float64 as it goes and calls no BLAS."""
    total = np.einsum("i,ij->j", here.row, here.projection.matrix)
    return total if here.projection.bias is None else total + here.projection.bias


def split_heads(here: StageAt) -> np.ndarray:
    row, width = here.row, here.trace.config.head_width
    return np.array([row[first : first + width] for first in range(0, len(row), width)])


def scores(here: StageAt) -> np.ndarray:
    q, k = here.row, here.everywhere(here.inputs[1])  # (H, D), (H, T, D)
    return np.einsum("hd,htd->ht", q, k) / math.sqrt(here.trace.config.head_width)


def visible(here: StageAt) -> np.ndarray:
    return here.visible[None]


def weights(here: StageAt) -> np.ndarray:
    row, seen = here.row, here.at(here.inputs[1])[0] == 1.0
    found = np.zeros_like(row)
    if seen.any():
        kept = row[:, seen]
        powers = np.exp(kept - kept.max(axis=1, keepdims=True))
        found[:, seen] = powers / powers.sum(axis=1, keepdims=True)
    return found


def mixtures(here: StageAt) -> np.ndarray:
    return np.einsum("ht,htd->hd", here.row, here.everywhere(here.inputs[1]))


def joined(here: StageAt) -> np.ndarray:
    return np.concatenate(list(here.row))


def activate(kind: str, x: float) -> float:
    """ReLU, GELU or its tanh approximation of one number: `activate("gelu", 1.0)` is 0.8413447460685429."""
    if kind == "relu":
        return max(0.0, x)
    if kind == "gelu":
        return x * (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0
    return x * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))) / 2.0


def activated(here: StageAt) -> list[float]:
    return [activate(here.trace.config.activation, x) for x in here.row.tolist()]
