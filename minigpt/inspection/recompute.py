"""Every stage a second time, by other means: NumPy in float64, from the shown inputs and the stored weights.

Nothing of the model's forward runs here, and no torch operation: a stage is recomputed at one position from
the earlier stages of the trace, as they are shown, so that an error of one stage stays with that stage.
NumPy serves for wide and narrow stages alike (one rule a stage, 50,257 logits in some 40 ms);
`minigpt.inspection.derivation` does single coordinates in plain Python numbers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from minigpt.model.gpt import MiniGPT
from minigpt.model.trace import BlockTrace, Stage, Trace
from minigpt.sentences import Refusal
from minigpt.validation import check_int

# Both are times the greatest shown |value| when that exceeds 1. Float64: the acceptance limit of the first text.
# Float32: the rounding of a sum of n products grows like √n · 2⁻²⁴ (Wilkinson), 3.3e-6 for the 3,072 of the
# widest FFN here; 1e-5 leaves a factor of three.
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}


@dataclass(frozen=True)
class Recomputed:
    """A stage at one position by NumPy, and how far the model's numbers are from it."""

    values: np.ndarray  # float64, shaped as `stage.at(position)`
    difference: float  # greatest |recomputed - shown|; inf where one of the two is not finite
    tolerance: float
    inputs: tuple[Stage, ...]  # the stages read, in order
    weights: tuple[str, ...]  # the parameters read, by their letters in the formulas

    @property
    def agrees(self) -> bool:
        return self.difference <= self.tolerance


@dataclass(frozen=True)
class Affine:
    """The matrix (inputs, outputs) and bias (outputs,) of a projection, with their letters in the formulas."""

    matrix: np.ndarray
    bias: np.ndarray | None
    names: tuple[str, ...]  # matrix, and bias if there is one


@dataclass(frozen=True)
class RowNormWeights:
    """Scale and offset (C,) of a LayerNorm."""

    scale: np.ndarray
    offset: np.ndarray
    names: tuple[str, ...] = ("scale", "offset")


class StageAt:
    """What one stage reads at one position of one record: numbers as float64, no arithmetic.

    Raises ValueError for a stage that is not of this trace, a model of another config, and a position or
    record outside it.
    """

    def __init__(self, model: MiniGPT, trace: Trace, stage: Stage, position: int, record: int = 0):
        records, positions = trace.ids.shape
        check_int("position", position, least=0, most=positions - 1)
        check_int("record", record, least=0, most=records - 1)
        if model.config != trace.config:
            raise Refusal("the trace is of a model with another config; trace this model first")
        trace.stage(stage.name, stage.block)
        self.model, self.trace, self.stage = model, trace, stage
        self.position, self.record = position, record
        self.kind = stage_kind(trace, stage)
        self.inputs = stage_inputs(trace, stage)

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

    def weights(self) -> Affine | RowNormWeights | None:
        """The parameters of this stage other than the embedding tables."""
        return stage_weights(self.model, self.kind, self.stage.block)


def recompute(model: MiniGPT, trace: Trace, stage: Stage, position: int, record: int = 0) -> Recomputed:
    """`stage` at `position` by NumPy in float64, from the shown inputs of the stage and `model`'s weights.

    Works for every config, and at padding positions (where attention weights are 0). The weights are
    those the model has now: after a training step, or with a changed weight, the numbers part.
    MG-1, position 5: norm1 differs by less than 1e-15. Raises ValueError as `StageAt` does.
    """
    here = StageAt(model, trace, stage, position, record)
    values, shown = np.asarray(_RULES[here.kind](here), dtype=np.float64), here.shown
    greatest = np.abs(shown[np.isfinite(shown)]).max(initial=1.0)
    tolerance = TOLERANCE[trace.config.dtype] * float(greatest)
    return Recomputed(values, _difference(values, shown), tolerance, here.inputs, weight_names(here))


def floats(tensor: torch.Tensor) -> np.ndarray:
    """The same numbers as float64; every float32 and bool is one exactly."""
    return tensor.detach().numpy().astype(np.float64)


def stage_kind(trace: Trace, stage: Stage) -> str:
    """The stage's name in `BlockTrace`: `ffn_activation` for ffn_relu and the like."""
    return "ffn_activation" if stage.name == f"ffn_{trace.config.activation}" else stage.name


_INPUTS = {
    "norm1": ("block_input",),
    "q_projection": ("norm1",),
    "k_projection": ("norm1",),
    "v_projection": ("norm1",),
    "q_heads": ("q_projection",),
    "k_heads": ("k_projection",),
    "v_heads": ("v_projection",),
    "scores": ("q_heads", "k_heads"),
    "visible": (),
    "weights": ("scores", "visible"),
    "mixtures": ("weights", "v_heads"),
    "joined": ("mixtures",),
    "attention_output": ("joined",),
    "residual1": ("block_input", "attention_output"),
    "norm2": ("residual1",),
    "ffn_linear": ("norm2",),
    "ffn_activation": ("ffn_linear",),
    "ffn_output": ("ffn_activation",),
    "block_output": ("residual1", "ffn_output"),
}


def stage_inputs(trace: Trace, stage: Stage) -> tuple[Stage, ...]:
    """The stages that `stage` is computed from; none for the embeddings and for `visible`."""
    kind = stage_kind(trace, stage)
    if kind in ("token_embedding", "position_embedding"):
        return ()
    if kind == "block_input":
        outer = (trace.token_embedding, trace.position_embedding)
        return (trace.blocks[stage.block - 1].block_output,) if stage.block else outer
    if kind == "final_norm":
        return (trace.blocks[-1].block_output,)
    if kind == "logits":
        return (trace.final_norm,)
    block: BlockTrace = trace.blocks[stage.block]
    names = _INPUTS[kind]
    if kind in ("residual1", "block_output") and not trace.config.residual:
        names = names[1:]  # the branch alone
    return tuple(getattr(block, name) for name in names)


def stage_weights(model: MiniGPT, kind: str, block: int | None) -> Affine | RowNormWeights | None:
    """The parameters a stage multiplies with; None where it has none of its own."""
    if kind == "logits":
        tied = model.config.tied_head
        matrix = model.token_embedding.T if tied else model.head
        return _affine(matrix, model.head_bias, "token tableᵀ" if tied else "W_LM", "b_LM")
    if kind == "final_norm":
        return RowNormWeights(_raw(model.final_norm.scale), _raw(model.final_norm.offset))
    if block is None or kind == "block_input":
        return None
    layer, width = model.blocks[block], model.config.width
    if kind in ("norm1", "norm2"):
        norm = getattr(layer, kind)
        return RowNormWeights(_raw(norm.scale), _raw(norm.offset))
    if kind.endswith("_projection"):
        first = "qkv".index(kind[0]) * width
        part, attention, letter = slice(first, first + width), layer.attention, kind[0].upper()
        bias = None if attention.qkv_bias is None else attention.qkv_bias[part]
        return _affine(attention.qkv[:, part], bias, f"W_{letter}", f"b_{letter}")
    parts = {
        "attention_output": (layer.attention.output, layer.attention.output_bias, "W_O", "b_O"),
        "ffn_linear": (layer.ffn.w1, layer.ffn.b1, "W_1", "b_1"),
        "ffn_output": (layer.ffn.w2, layer.ffn.b2, "W_2", "b_2"),
    }
    return _affine(*parts[kind]) if kind in parts else None


def weight_names(here: StageAt) -> tuple[str, ...]:
    """The letters of the parameters a stage reads, tables included."""
    tables = {"token_embedding": ("token table",), "position_embedding": ("position table",)}
    weights = here.weights()
    return tables.get(here.kind, ()) if weights is None else weights.names


def _affine(matrix: torch.Tensor, bias: torch.Tensor | None, name: str, bias_name: str) -> Affine:
    return Affine(_raw(matrix), None if bias is None else _raw(bias), (name,) if bias is None else (name, bias_name))


def _raw(parameter: torch.Tensor) -> np.ndarray:
    return parameter.detach().numpy()


def _difference(values: np.ndarray, shown: np.ndarray) -> float:
    if np.isfinite(values).all() and np.isfinite(shown).all():
        return float(np.abs(values - shown).max())
    same = np.array_equal(values, shown, equal_nan=True)
    return 0.0 if same else math.inf


def _embedding(here: StageAt) -> np.ndarray:
    model, token = here.model, here.trace.ids[here.record, here.position].item()
    if here.kind == "token_embedding":
        return floats(model.token_embedding[token])
    return floats(model.position_embedding[here.position])


def _sum(here: StageAt) -> np.ndarray:
    return sum(here.at(stage) for stage in here.inputs)


def _norm(here: StageAt) -> list[float]:
    row, weights = here.row.tolist(), here.weights()
    mean = math.fsum(row) / len(row)
    variance = math.fsum((x - mean) ** 2 for x in row) / len(row)
    root = math.sqrt(variance + here.trace.config.norm_epsilon)
    scales, offsets = weights.scale.tolist(), weights.offset.tolist()
    return [(x - mean) / root * scale + offset for x, scale, offset in zip(row, scales, offsets, strict=True)]


def _product(here: StageAt) -> np.ndarray:
    """row (inputs,) times matrix (inputs, outputs); einsum converts to float64 as it goes and calls no BLAS."""
    weights = here.weights()
    total = np.einsum("i,ij->j", here.row, weights.matrix)
    return total if weights.bias is None else total + weights.bias


def _split(here: StageAt) -> np.ndarray:
    row, width = here.row, here.trace.config.head_width
    return np.array([row[first : first + width] for first in range(0, len(row), width)])


def _scores(here: StageAt) -> np.ndarray:
    q, k = here.row, here.everywhere(here.inputs[1])  # (H, D), (H, T, D)
    return np.einsum("hd,htd->ht", q, k) / math.sqrt(here.trace.config.head_width)


def _visible(here: StageAt) -> np.ndarray:
    return here.visible[None]


def _weights(here: StageAt) -> np.ndarray:
    scores, visible = here.row, here.at(here.inputs[1])[0] == 1.0
    weights = np.zeros_like(scores)
    if visible.any():
        seen = scores[:, visible]
        powers = np.exp(seen - seen.max(axis=1, keepdims=True))
        weights[:, visible] = powers / powers.sum(axis=1, keepdims=True)
    return weights


def _mixtures(here: StageAt) -> np.ndarray:
    return np.einsum("ht,htd->hd", here.row, here.everywhere(here.inputs[1]))


def _joined(here: StageAt) -> np.ndarray:
    return np.concatenate(list(here.row))


def activate(kind: str, x: float) -> float:
    """ReLU, GELU or its tanh approximation of one number: `activate("gelu", 1.0)` is 0.8413447460685429."""
    if kind == "relu":
        return max(0.0, x)
    if kind == "gelu":
        return x * (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0
    return x * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))) / 2.0


def _activation(here: StageAt) -> list[float]:
    return [activate(here.trace.config.activation, x) for x in here.row.tolist()]


_RULES: dict[str, Callable[[StageAt], np.ndarray | list[float]]] = {
    "token_embedding": _embedding,
    "position_embedding": _embedding,
    "block_input": _sum,
    "norm1": _norm,
    "q_projection": _product,
    "k_projection": _product,
    "v_projection": _product,
    "q_heads": _split,
    "k_heads": _split,
    "v_heads": _split,
    "scores": _scores,
    "visible": _visible,
    "weights": _weights,
    "mixtures": _mixtures,
    "joined": _joined,
    "attention_output": _product,
    "residual1": _sum,
    "norm2": _norm,
    "ffn_linear": _product,
    "ffn_activation": _activation,
    "ffn_output": _product,
    "block_output": _sum,
    "final_norm": _norm,
    "logits": _product,
}
