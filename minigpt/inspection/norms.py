"""The norm as a stage: its formula, its recomputation, its derivation on paper, and its sentence."""

import math

from minigpt.config import ModelConfig
from minigpt.inspection.derivation import Derivation, operand, short
from minigpt.inspection.stage_at import StageAt
from minigpt.inspection.stage_sentences import Described
from minigpt.sentences import Sentence, say


def formula(config: ModelConfig, letter: str) -> str:
    return f"N = ({letter} - mean) / √(variance + ε) · weight + bias"


def recomputed(here: StageAt) -> list[float]:
    row, parameters = here.row.tolist(), here.norm
    mean = math.fsum(row) / len(row)
    variance = math.fsum((x - mean) ** 2 for x in row) / len(row)
    root = math.sqrt(variance + here.trace.config.norm_epsilon)
    assert parameters.bias is not None
    weights, biases = parameters.weight.tolist(), parameters.bias.tolist()
    return [(x - mean) / root * weight + bias for x, weight, bias in zip(row, weights, biases, strict=True)]


def derivation(here: StageAt, value: float, j: int, letter: str) -> Derivation:
    row, parameters, epsilon = here.row.tolist(), here.norm, here.trace.config.norm_epsilon
    assert parameters.bias is not None
    weight, bias = float(parameters.weight[j]), float(parameters.bias[j])
    total = math.fsum(row)
    mean = total / len(row)
    terms = tuple((i, x, x - mean, (x - mean) ** 2) for i, x in enumerate(row))
    squares = math.fsum(square for *_, square in terms)
    variance = squares / len(row)
    left = f"({short(row[j])} − {operand(mean)}) / √({short(variance)} + {short(epsilon)})"
    return Derivation(
        symbols=f"N[{j}] = ({letter}[{j}] − mean) / √(variance + ε) · weight[{j}] + bias[{j}]",
        steps=(
            f"mean = {short(total)} / {len(row)} = {short(mean)}",
            f"variance = {short(squares)} / {len(row)} = {short(variance)}",
        ),
        expression=f"{left} · {operand(weight)} + {operand(bias)} = {short(value)}",
        columns=("i", f"{letter}[i]", f"{letter}[i] − mean", f"({letter}[i] − mean)²"),
        terms=terms,
        value=value,
    )


def sentence(here: Described) -> Sentence:
    row = here.at(here.inputs[0])
    root = math.sqrt(row.var() + here.shown.trace.config.norm_epsilon)
    if root <= 1:
        return say(
            "The norm subtracts the mean {mean} and stretches this vector by {factor:.4g}.",
            mean=short(row.mean()),
            factor=1 / root,
        )
    return say(
        "The norm subtracts the mean {mean} and shrinks this vector by {factor:.4g}.",
        mean=short(row.mean()),
        factor=root,
    )
