"""The stages: one declared object each, in the order of the forward. Nothing else is keyed by a stage's name.

A `StageSpec` says what a stage is called and shaped, what it is computed from, its formula, how NumPy recomputes
it, how one of its numbers is derived on paper, and how it is described in one sentence. The trace, the pages, the
command line and the memory figures read this table.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from minigpt.config import ModelConfig
from minigpt.inspection import derivation, norms, recompute, stage_sentences
from minigpt.inspection.derivation import Derivation
from minigpt.inspection.stage_at import NormParameters, Projection, StageAt
from minigpt.inspection.stage_sentences import Described, Shown
from minigpt.model.gpt import Block, MiniGPT
from minigpt.model.trace import Stage, Trace
from minigpt.sentences import Refusal, Sentence, say
from minigpt.validation import check_int

# Both are times the greatest shown |value| when that exceeds 1. Float64: the acceptance limit of the first text.
# Float32: the rounding of a sum of n products grows like √n · 2⁻²⁴ (Wilkinson), 3.3e-6 for the 3,072 of the
# widest FFN here; 1e-5 leaves a factor of three.
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}

Coordinate = int | tuple[int, int]
Formula = Callable[[ModelConfig, int | None], str]
Parameters = Callable[[MiniGPT, int | None], Projection | NormParameters | None]


def _no_parameters(model: MiniGPT, block: int | None) -> None:
    return None


def _fixed(text: str) -> Formula:
    return lambda config, block: text


@dataclass(frozen=True)
class StageSpec:
    """What one stage is."""

    kind: str  # its name in the forward
    dims: str  # the letters of its axes: B records, T positions, H heads, D width of a head, C width, F, V
    title: Sentence
    inputs: tuple[str, ...]  # kinds of the stages it is computed from
    formula: Formula
    recompute: recompute.Rule
    derive: Callable[..., Derivation]
    explain: Callable[[Described], Sentence]
    parameters: Parameters = _no_parameters
    tables: tuple[str, ...] = ()  # the embedding table that it reads, by its letters
    title_alone: Sentence | None = None  # without residual connections
    opens: str = ""  # the part of the model that begins here: "embeddings", "block", "attention", "ffn" or "output"
    family: str = "flat"  # stages of one family share a chosen number: "flat", "head", "key", "hidden" or "id"
    masked: bool = False  # hidden keys are marked
    branch: bool = False  # the sum of a branch and the residual; without residual connections, the branch alone

    @property
    def by_head(self) -> bool:
        """Whether each head has its own numbers."""
        return " H " in self.dims

    @property
    def boolean(self) -> bool:
        """Whether its values are true or false: the mask, which all heads share."""
        return " 1 " in self.dims

    def title_in(self, config: ModelConfig) -> Sentence:
        """What the stage is, in a few words."""
        return self.title if config.residual or self.title_alone is None else self.title_alone


def _norm_formula(letter: str) -> Formula:
    return lambda config, block: norms.formula(config, letter)


def _projection_formula(left: str, source: str, letter: str) -> Formula:
    return lambda config, block: f"{left} = {source} · W_{letter}" + (f" + b_{letter}" if config.attention_bias else "")


def _sum_formula(left: str, stream: str, branch: str) -> Formula:
    return lambda config, block: f"{left} = {stream} + {branch}" if config.residual else f"{left} = {branch}"


def _input_formula(config: ModelConfig, block: int | None) -> str:
    return f"X = block_output of block {block - 1}" if block else "X = E + P"


def _score_formula(config: ModelConfig, block: int | None) -> str:
    return f"S[query, key] = q[query] · k[key] / √{config.head_width}"


def _activation_formula(config: ModelConfig, block: int | None) -> str:
    return {
        "relu": "A = max(0, U)",
        "gelu": "A = U · (1 + erf(U / √2)) / 2",
        "gelu_tanh": "A = U · (1 + tanh(√(2/π) · (U + 0.044715 · U³))) / 2",
    }[config.activation]


def _logits_formula(config: ModelConfig, block: int | None) -> str:
    return f"Z = N · {'token tableᵀ' if config.tied_head else 'W_LM'}{' + b_LM' if config.head_bias else ''}"


def _block(model: MiniGPT, block: int | None) -> Block:
    layer = model.blocks[block or 0]
    assert isinstance(layer, Block)
    return layer


def _norm_of(find: Callable[[MiniGPT, int | None], torch.nn.Module]) -> Parameters:
    def parameters(model: MiniGPT, block: int | None) -> NormParameters:
        named = dict(find(model, block).named_parameters())
        return NormParameters(_raw(named["weight"]), _raw(named["bias"]) if "bias" in named else None)

    return parameters


def _qkv(part: int) -> Parameters:
    def parameters(model: MiniGPT, block: int | None) -> Projection:
        width, attention, letter = model.config.width, _block(model, block).attention, "QKV"[part]
        columns = slice(part * width, (part + 1) * width)
        bias = None if attention.qkv_bias is None else attention.qkv_bias[columns]
        return _projection(attention.qkv[:, columns], bias, f"W_{letter}", f"b_{letter}")

    return parameters


def _head(model: MiniGPT, block: int | None) -> Projection:
    name = "token tableᵀ" if model.config.tied_head else "W_LM"
    return _projection(model.head_matrix, model.head_bias, name, "b_LM")


def _attention_output(model: MiniGPT, block: int | None) -> Projection:
    attention = _block(model, block).attention
    return _projection(attention.output, attention.output_bias, "W_O", "b_O")


def _ffn(number: int) -> Parameters:
    def parameters(model: MiniGPT, block: int | None) -> Projection:
        ffn = _block(model, block).ffn
        matrix, bias = ((ffn.w1, ffn.b1), (ffn.w2, ffn.b2))[number - 1]
        return _projection(matrix, bias, f"W_{number}", f"b_{number}")

    return parameters


def _projection(matrix: torch.Tensor, bias: torch.Tensor | None, name: str, bias_name: str) -> Projection:
    names = (name,) if bias is None else (name, bias_name)
    return Projection(_raw(matrix), None if bias is None else _raw(bias), names)


def _raw(parameter: torch.Tensor) -> np.ndarray:
    return parameter.detach().numpy()


TOKEN_EMBEDDING = StageSpec(
    "token_embedding",
    "B T C",
    say("the vector of the piece"),
    (),
    _fixed("E = token table[ids]"),
    recompute.token_row,
    derivation.token_row,
    stage_sentences.token_row,
    tables=("token table",),
    opens="embeddings",
)
POSITION_EMBEDDING = StageSpec(
    "position_embedding",
    "T C",
    say("the vector of the position"),
    (),
    _fixed("P = position table[0 .. T-1]"),
    recompute.position_row,
    derivation.position_row,
    stage_sentences.position_row,
    tables=("position table",),
)
BLOCK_INPUT = StageSpec(
    "block_input",
    "B T C",
    say("what enters the block"),
    ("token_embedding", "position_embedding"),
    _input_formula,
    recompute.added,
    derivation.block_input,
    stage_sentences.block_input,
    opens="block",
)
NORM1 = StageSpec(
    "norm1",
    "B T C",
    say("the norm before attention"),
    ("block_input",),
    _norm_formula("X"),
    norms.recomputed,
    partial(norms.derivation, letter="X"),
    norms.sentence,
    parameters=_norm_of(lambda model, block: _block(model, block).norm1),
    opens="attention",
)
Q_PROJECTION = StageSpec(
    "q_projection",
    "B T C",
    say("queries of all heads"),
    ("norm1",),
    _projection_formula("Q", "N", "Q"),
    recompute.projected,
    partial(derivation.projected, letter="Q", source="N"),
    stage_sentences.projection,
    parameters=_qkv(0),
)
K_PROJECTION = StageSpec(
    "k_projection",
    "B T C",
    say("keys of all heads"),
    ("norm1",),
    _projection_formula("K", "N", "K"),
    recompute.projected,
    partial(derivation.projected, letter="K", source="N"),
    stage_sentences.projection,
    parameters=_qkv(1),
)
V_PROJECTION = StageSpec(
    "v_projection",
    "B T C",
    say("values of all heads"),
    ("norm1",),
    _projection_formula("V", "N", "V"),
    recompute.projected,
    partial(derivation.projected, letter="V", source="N"),
    stage_sentences.projection,
    parameters=_qkv(2),
)
Q_HEADS = StageSpec(
    "q_heads",
    "B H T D",
    say("the query, split into heads"),
    ("q_projection",),
    _fixed("q[h] = Q[h·D .. h·D + D-1]"),
    recompute.split_heads,
    partial(derivation.split_heads, letter="q"),
    stage_sentences.heads,
    family="head",
)
K_HEADS = StageSpec(
    "k_heads",
    "B H T D",
    say("the key, split into heads"),
    ("k_projection",),
    _fixed("k[h] = K[h·D .. h·D + D-1]"),
    recompute.split_heads,
    partial(derivation.split_heads, letter="k"),
    stage_sentences.heads,
    family="head",
)
V_HEADS = StageSpec(
    "v_heads",
    "B H T D",
    say("the value, split into heads"),
    ("v_projection",),
    _fixed("v[h] = V[h·D .. h·D + D-1]"),
    recompute.split_heads,
    partial(derivation.split_heads, letter="v"),
    stage_sentences.heads,
    family="head",
)
SCORES = StageSpec(
    "scores",
    "B H T T",
    say("query times key, before the mask"),
    ("q_heads", "k_heads"),
    _score_formula,
    recompute.scores,
    derivation.score,
    stage_sentences.scores,
    family="key",
)
VISIBLE = StageSpec(
    "visible",
    "B 1 T T",
    say("which keys may be read"),
    (),
    _fixed("visible[query, key] = key ≤ query, and both are valid"),
    recompute.visible,
    derivation.visible,
    stage_sentences.visible,
    family="key",
    masked=True,
)
WEIGHTS = StageSpec(
    "weights",
    "B H T T",
    say("attention weights"),
    ("scores", "visible"),
    _fixed("A[query, key] = exp(S[query, key]) / Σ exp(S[query, visible keys]); hidden keys 0"),
    recompute.weights,
    derivation.weight,
    stage_sentences.weights,
    family="key",
    masked=True,
)
MIXTURES = StageSpec(
    "mixtures",
    "B H T D",
    say("values, mixed by the weights"),
    ("weights", "v_heads"),
    _fixed("M[query] = Σ A[query, key] · v[key]"),
    recompute.mixtures,
    derivation.mixture,
    stage_sentences.mixtures,
    family="head",
)
JOINED = StageSpec(
    "joined",
    "B T C",
    say("the heads side by side"),
    ("mixtures",),
    _fixed("J = M[0] | M[1] | .. | M[H-1]"),
    recompute.joined,
    derivation.joined,
    stage_sentences.joined,
)
ATTENTION_OUTPUT = StageSpec(
    "attention_output",
    "B T C",
    say("what attention adds"),
    ("joined",),
    _projection_formula("O", "J", "O"),
    recompute.projected,
    partial(derivation.projected, letter="O", source="J"),
    partial(stage_sentences.branch, stream=lambda block: block.block_input),
    parameters=_attention_output,
    title_alone=say("what attention makes of it"),
)
RESIDUAL1 = StageSpec(
    "residual1",
    "B T C",
    say("the vector after attention"),
    ("block_input", "attention_output"),
    _sum_formula("R", "X", "O"),
    recompute.added,
    partial(derivation.added, letter="R", letters=("X", "O")),
    partial(stage_sentences.residual, stream=lambda block: block.block_input),
    branch=True,
)
NORM2 = StageSpec(
    "norm2",
    "B T C",
    say("the norm before the FFN"),
    ("residual1",),
    _norm_formula("R"),
    norms.recomputed,
    partial(norms.derivation, letter="R"),
    norms.sentence,
    parameters=_norm_of(lambda model, block: _block(model, block).norm2),
    opens="ffn",
)
FFN_LINEAR = StageSpec(
    "ffn_linear",
    "B T F",
    say("first layer of the FFN"),
    ("norm2",),
    _fixed("U = N · W_1 + b_1"),
    recompute.projected,
    partial(derivation.projected, letter="U", source="N"),
    stage_sentences.hidden,
    parameters=_ffn(1),
    family="hidden",
)
FFN_ACTIVATION = StageSpec(
    "ffn_activation",
    "B T F",
    say("the FFN's activation"),
    ("ffn_linear",),
    _activation_formula,
    recompute.activated,
    derivation.activated,
    stage_sentences.activation,
    family="hidden",
)
FFN_OUTPUT = StageSpec(
    "ffn_output",
    "B T C",
    say("what the FFN adds"),
    ("ffn_activation",),
    _fixed("G = A · W_2 + b_2"),
    recompute.projected,
    partial(derivation.projected, letter="G", source="A"),
    partial(stage_sentences.branch, stream=lambda block: block.residual1),
    parameters=_ffn(2),
    title_alone=say("what the FFN makes of it"),
)
BLOCK_OUTPUT = StageSpec(
    "block_output",
    "B T C",
    say("what leaves the block"),
    ("residual1", "ffn_output"),
    _sum_formula("Y", "R", "G"),
    recompute.added,
    partial(derivation.added, letter="Y", letters=("R", "G")),
    partial(stage_sentences.residual, stream=lambda block: block.residual1),
    branch=True,
)
FINAL_NORM = StageSpec(
    "final_norm",
    "B T C",
    say("the last norm"),
    ("block_output",),
    _norm_formula("Y"),
    norms.recomputed,
    partial(norms.derivation, letter="Y"),
    norms.sentence,
    parameters=_norm_of(lambda model, block: model.final_norm),
    opens="output",
)
LOGITS = StageSpec(
    "logits",
    "B T V",
    say("one score for each piece of the vocabulary"),
    ("final_norm",),
    _logits_formula,
    recompute.projected,
    partial(derivation.projected, letter="Z", source="N"),
    stage_sentences.logits,
    parameters=_head,
    family="id",
)

BLOCK_STAGES = (
    BLOCK_INPUT,
    NORM1,
    Q_PROJECTION,
    K_PROJECTION,
    V_PROJECTION,
    Q_HEADS,
    K_HEADS,
    V_HEADS,
    SCORES,
    VISIBLE,
    WEIGHTS,
    MIXTURES,
    JOINED,
    ATTENTION_OUTPUT,
    RESIDUAL1,
    NORM2,
    FFN_LINEAR,
    FFN_ACTIVATION,
    FFN_OUTPUT,
    BLOCK_OUTPUT,
)
BEFORE, AFTER = (TOKEN_EMBEDDING, POSITION_EMBEDDING), (FINAL_NORM, LOGITS)
STAGES = (*BEFORE, *BLOCK_STAGES, *AFTER)
_BY_KIND = {spec.kind: spec for spec in STAGES}


def spec_of(stage: Stage) -> StageSpec:
    """What the table says of a stage of a trace."""
    return _BY_KIND[stage.kind]


def formula(stage: Stage, config: ModelConfig) -> str:
    """The formula of a stage, with biases only where there are some."""
    return spec_of(stage).formula(config, stage.block)


def shape_text(stage: Stage) -> str:
    """The shape with its letters: `[1, 64, 16] = B, T, C`."""
    return f"[{', '.join(map(str, stage.shape))}] = {', '.join(spec_of(stage).dims.split())}"


def stage_inputs(trace: Trace, stage: Stage) -> tuple[Stage, ...]:
    """The stages that `stage` is computed from; none for the embeddings and for the mask."""
    spec = spec_of(stage)
    if spec is BLOCK_INPUT and stage.block:
        return (trace.blocks[stage.block - 1].block_output,)
    kinds = spec.inputs[1:] if spec.branch and not trace.config.residual else spec.inputs
    inner = trace.blocks[-1 if stage.block is None else stage.block]
    return tuple(getattr(trace if _BY_KIND[kind] in (*BEFORE, *AFTER) else inner, kind) for kind in kinds)


def stage_at(model: MiniGPT, trace: Trace, stage: Stage, position: int, record: int = 0) -> StageAt:
    """What `stage` reads at a position.

    Raises ValueError for a stage that is not of this trace, a model of another config, and a position or
    record outside it.
    """
    records, positions = trace.ids.shape
    check_int("position", position, least=0, most=positions - 1)
    check_int("record", record, least=0, most=records - 1)
    if model.config != trace.config:
        raise Refusal("the trace is of a model with another config; trace this model first")
    trace.stage(stage.name, stage.block)
    parameters = spec_of(stage).parameters(model, stage.block)
    return StageAt(model, trace, stage, position, record, stage_inputs(trace, stage), parameters)


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


def recomputed(model: MiniGPT, trace: Trace, stage: Stage, position: int, record: int = 0) -> Recomputed:
    """`stage` at `position` by NumPy in float64, from the shown inputs of the stage and `model`'s weights.

    Works for every config, and at padding positions (where attention weights are 0). The weights are
    those the model has now: after a training step, or with a changed weight, the numbers part.
    MG-1, position 5: norm1 differs by less than 1e-15. Raises ValueError as `stage_at` does.
    """
    here, spec = stage_at(model, trace, stage, position, record), spec_of(stage)
    values, shown = np.asarray(spec.recompute(here), dtype=np.float64), here.shown
    greatest = np.abs(shown[np.isfinite(shown)]).max(initial=1.0)
    tolerance = TOLERANCE[trace.config.dtype] * float(greatest)
    weights = spec.tables if here.parameters is None else here.parameters.names
    return Recomputed(values, _difference(values, shown), tolerance, here.inputs, weights)


def _difference(values: np.ndarray, shown: np.ndarray) -> float:
    if np.isfinite(values).all() and np.isfinite(shown).all():
        return float(np.abs(values - shown).max())
    same = np.array_equal(values, shown, equal_nan=True)
    return 0.0 if same else math.inf


def derive(
    model: MiniGPT, trace: Trace, stage: Stage, position: int, coordinate: Coordinate, record: int = 0
) -> Derivation:
    """The number `stage.at(position)[coordinate]` with its arithmetic; its value is the recomputed one.

    `coordinate` is an index, or (head, index) for the stages by head, (head, key) for scores and weights and
    (0, key) for `visible`. Raises ValueError for one outside the stage, and as `stage_at` does.

    MG-1, position 5, norm1[0]: `(0.0461549 − 0.00504479) / √(0.000740764 + 0.000010) · 1.000000 + 0.000000
    = 1.500366`.
    """
    here, spec = stage_at(model, trace, stage, position, record), spec_of(stage)
    shown = here.shown
    place = coordinate if isinstance(coordinate, tuple) else (coordinate,)
    if len(place) != shown.ndim:
        raise Refusal(
            "{stage} has coordinates of {axes} numbers, got {coordinate!r}",
            stage=stage.name,
            axes=shown.ndim,
            coordinate=coordinate,
        )
    for index, size in zip(place, shown.shape, strict=True):
        check_int("coordinate", index, least=0, most=size - 1)
    value = float(np.asarray(spec.recompute(here), dtype=np.float64)[place])
    names = tuple(source.name for source in here.inputs)
    return replace(spec.derive(here, value, *place), shown=float(shown[place]), inputs=names)


def explain(shown: Shown, stage: Stage) -> Sentence:
    """What the stage does at the shown position, in one sentence made from its numbers."""
    return spec_of(stage).explain(Described(shown, stage, stage_inputs(shown.trace, stage)))


def values_per_position(spec: StageSpec, config: ModelConfig, positions: int) -> int:
    """How many values the stage has for each of `positions` slots of one record."""
    sizes = {"H": config.heads, "D": config.head_width, "C": config.width, "F": config.ffn_width}
    sizes |= {"V": config.vocab_size, "T": positions, "B": 1, "1": 1}
    return math.prod(sizes[letter] for letter in spec.dims.split()) // positions


def trace_bytes(config: ModelConfig, positions: int) -> int:
    """Bytes of all stages of one traced record of `positions` slots. MG-1, 64 slots: 497,152."""
    number = getattr(torch, config.dtype).itemsize
    total = 0
    for spec in STAGES:
        blocks = config.layers if spec in BLOCK_STAGES else 1
        size = 1 if spec.boolean else number
        total += blocks * positions * values_per_position(spec, config, positions) * size
    return total
