"""The norm as a stage: its formula, its recomputation, its derivation on paper, and its sentence.

LayerNorm subtracts the mean and divides by the spread; RMSNorm only divides by the root of the mean square.
"""

import math

from minigpt.config import ModelConfig
from minigpt.inspection.derivation import Derivation, operand, short
from minigpt.inspection.stage_at import StageAt
from minigpt.inspection.stage_sentences import Described
from minigpt.sentences import Sentence, say


def formula(config: ModelConfig, letter: str) -> str:
    if config.norm == "rms":
        return f"N = {letter} / √(mean of {letter}² + ε) · weight"
    return f"N = ({letter} - mean) / √(variance + ε) · weight + bias"


def recomputed(here: StageAt) -> list[float]:
    row, parameters = here.row.tolist(), here.norm
    mean = _mean(here, row)
    variance = math.fsum((x - mean) ** 2 for x in row) / len(row)
    root = math.sqrt(variance + here.trace.config.norm_epsilon)
    weights = parameters.weight.tolist()
    biases = [0.0] * len(row) if parameters.bias is None else parameters.bias.tolist()
    return [(x - mean) / root * weight + bias for x, weight, bias in zip(row, weights, biases, strict=True)]


def derivation(here: StageAt, value: float, j: int, letter: str) -> Derivation:
    row, parameters, epsilon = here.row.tolist(), here.norm, here.trace.config.norm_epsilon
    weight = float(parameters.weight[j])
    mean = _mean(here, row)
    squares = math.fsum((x - mean) ** 2 for x in row)
    variance = squares / len(row)
    root = f"√({short(variance)} + {short(epsilon)})"
    if parameters.bias is None:
        return Derivation(
            symbols=f"N[{j}] = {letter}[{j}] / √(mean square + ε) · weight[{j}]",
            steps=(f"mean square = {short(squares)} / {len(row)} = {short(variance)}",),
            expression=f"{operand(row[j])} / {root} · {operand(weight)} = {short(value)}",
            columns=("i", f"{letter}[i]", f"{letter}[i]²"),
            terms=tuple((i, x, x**2) for i, x in enumerate(row)),
            value=value,
        )
    bias = float(parameters.bias[j])
    left = f"({short(row[j])} − {operand(mean)}) / {root}"
    return Derivation(
        symbols=f"N[{j}] = ({letter}[{j}] − mean) / √(variance + ε) · weight[{j}] + bias[{j}]",
        steps=(
            f"mean = {short(math.fsum(row))} / {len(row)} = {short(mean)}",
            f"variance = {short(squares)} / {len(row)} = {short(variance)}",
        ),
        expression=f"{left} · {operand(weight)} + {operand(bias)} = {short(value)}",
        columns=("i", f"{letter}[i]", f"{letter}[i] − mean", f"({letter}[i] − mean)²"),
        terms=tuple((i, x, x - mean, (x - mean) ** 2) for i, x in enumerate(row)),
        value=value,
    )


def _mean(here: StageAt, row: list[float]) -> float:
    """The mean that the norm subtracts; RMSNorm subtracts none."""
    return 0.0 if here.trace.config.norm == "rms" else math.fsum(row) / len(row)


def sentence(here: Described) -> Sentence:
    row, config = here.at(here.inputs[0]), here.shown.trace.config
    mean = 0.0 if config.norm == "rms" else float(row.mean())
    root = math.sqrt(float(((row - mean) ** 2).mean()) + config.norm_epsilon)
    if config.norm == "rms":
        if root <= 1:
            return say("The norm stretches this vector by {factor:.4g}.", factor=1 / root)
        return say("The norm shrinks this vector by {factor:.4g}.", factor=root)
    if root <= 1:
        return say(
            "The norm subtracts the mean {mean} and stretches this vector by {factor:.4g}.",
            mean=short(mean),
            factor=1 / root,
        )
    return say(
        "The norm subtracts the mean {mean} and shrinks this vector by {factor:.4g}.", mean=short(mean), factor=root
    )
