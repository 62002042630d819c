"""One number of one stage, worked out as on paper: the formula, the formula with the numbers in it, and the terms.

Plain Python floats and exact sums (`math.fsum`), from the shown stages and the stored weights. The terms
keep every digit; only the written lines are rounded, to six decimals or six significant digits.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from minigpt.inspection.recompute import StageAt, activate
from minigpt.model.gpt import MiniGPT
from minigpt.model.trace import Stage, Trace
from minigpt.sentences import Refusal
from minigpt.validation import check_int

Term = tuple[int | float | str, ...]


@dataclass(frozen=True)
class Worked:
    """The arithmetic of one number.

    `symbols` is the formula for this coordinate, `steps` intermediate lines such as a mean, `expression` the
    last line with its result, `columns` and `terms` the table behind a sum (empty where there is none).
    `hidden` says why a key is not read: "later", "padding_key", "padding_query", or "" when it is.
    """

    symbols: str
    expression: str
    value: float  # by this arithmetic
    shown: float = math.nan  # by the model
    inputs: tuple[str, ...] = ()  # names of the stages it reads
    columns: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    steps: tuple[str, ...] = ()
    hidden: str = ""


def worked(
    model: MiniGPT, trace: Trace, stage: Stage, position: int, coordinate: int | tuple[int, int], record: int = 0
) -> Worked:
    """The number `stage.at(position)[coordinate]` with its arithmetic.

    `coordinate` is an index, or (head, index) for the stages by head, (head, key) for scores and weights and
    (0, key) for `visible`. Raises ValueError for one outside the stage, and as `StageAt` does.

    MG-1, position 5, norm1[0]: `(0.0461549 − 0.00504479) / √(0.000740764 + 0.000010) · 1.000000 + 0.000000
    = 1.500366`.
    """
    here = StageAt(model, trace, stage, position, record)
    shown = here.shown
    place = coordinate if isinstance(coordinate, tuple) else (coordinate,)
    if len(place) != shown.ndim:
        raise Refusal(
            "{name} has coordinates of {ndim} numbers, got {coordinate!r}",
            name=stage.name,
            ndim=shown.ndim,
            coordinate=coordinate,
        )
    for index, size in zip(place, shown.shape, strict=True):
        check_int("coordinate", index, least=0, most=size - 1)
    work = _WORK[here.kind](here, *place)
    names = tuple(stage.name for stage in here.inputs)
    return replace(work, shown=float(shown[place]), inputs=names)


def short(x: float) -> str:
    """`x` to six decimals, or to six significant digits when it is small: `short(0.00001)` is '0.000010'."""
    size = abs(x)
    if not math.isfinite(x) or size >= 0.1 or x == 0.0:
        text = f"{x:.6f}"
    elif size < 1e-6:
        text = f"{x:.5e}"
    else:
        whole_part, decimals = f"{x:.{5 - math.floor(math.log10(size))}f}".split(".")
        text = f"{whole_part}.{decimals.rstrip('0').ljust(6, '0')}"
    return text.replace("-", "−")


def _operand(x: float) -> str:
    """`x` behind an operator: negative numbers in brackets."""
    text = short(x)
    return f"({text})" if text.startswith("−") else text


def _products(pairs: Sequence[tuple[float, float]]) -> str:
    """a · b + c · d + … + y · z: all of at most four, else the first two and the last."""
    texts = [f"{_operand(a)} · {_operand(b)}" for a, b in pairs]
    return " + ".join(texts if len(texts) <= 4 else [*texts[:2], "…", texts[-1]])


def _token(here: StageAt, j: int) -> Worked:
    token = here.trace.ids[here.record, here.position].item()
    value = here.model.token_embedding[token, j].item()
    place = f"token table[{token}, {j}]"
    return Worked(f"E[{j}] = {place}", f"{place} = {short(value)}", value)


def _place(here: StageAt, j: int) -> Worked:
    value = here.model.position_embedding[here.position, j].item()
    place = f"position table[{here.position}, {j}]"
    return Worked(f"P[{j}] = {place}", f"{place} = {short(value)}", value)


def _block_input(here: StageAt, j: int) -> Worked:
    if not here.stage.block:
        return _added(here, j, "X", ("E", "P"))
    value = float(here.row[j])
    place = f"Y[{j}]"
    return Worked(f"X[{j}] = {place}", f"{place} = {short(value)}", value)


def _added(here: StageAt, j: int, letter: str, letters: tuple[str, str]) -> Worked:
    if len(here.inputs) == 1:  # without residuals, the branch alone
        value = float(here.row[j])
        place = f"{letters[1]}[{j}]"
        return Worked(f"{letter}[{j}] = {place}", f"{place} = {short(value)}", value)
    first, second = (float(here.at(stage)[j]) for stage in here.inputs)
    value = first + second
    symbols = f"{letter}[{j}] = {letters[0]}[{j}] + {letters[1]}[{j}]"
    return Worked(symbols, f"{_operand(first)} + {_operand(second)} = {short(value)}", value)


def _norm(here: StageAt, j: int, letter: str) -> Worked:
    row, weights, epsilon = here.row.tolist(), here.weights(), here.trace.config.norm_epsilon
    scale, offset = float(weights.scale[j]), float(weights.offset[j])
    total = math.fsum(row)
    mean = total / len(row)
    terms = tuple((i, x, x - mean, (x - mean) ** 2) for i, x in enumerate(row))
    squares = math.fsum(square for *_, square in terms)
    variance = squares / len(row)
    value = (row[j] - mean) / math.sqrt(variance + epsilon) * scale + offset
    left = f"({short(row[j])} − {_operand(mean)}) / √({short(variance)} + {short(epsilon)})"
    return Worked(
        symbols=f"N[{j}] = ({letter}[{j}] − mean) / √(variance + ε) · scale[{j}] + offset[{j}]",
        steps=(
            f"mean = {short(total)} / {len(row)} = {short(mean)}",
            f"variance = {short(squares)} / {len(row)} = {short(variance)}",
        ),
        expression=f"{left} · {_operand(scale)} + {_operand(offset)} = {short(value)}",
        columns=("i", f"{letter}[i]", f"{letter}[i] − mean", f"({letter}[i] − mean)²"),
        terms=terms,
        value=value,
    )


def _projected(here: StageAt, j: int, letter: str, source: str) -> Worked:
    weights = here.weights()
    pairs = list(zip(here.row.tolist(), weights.matrix[:, j].tolist(), strict=True))
    bias = None if weights.bias is None else float(weights.bias[j])
    value = math.fsum([*(a * b for a, b in pairs), bias or 0.0])
    name = weights.names[0]
    ending = ("", "") if bias is None else (f" + {weights.names[1]}[{j}]", f" + {_operand(bias)}")
    return Worked(
        symbols=f"{letter}[{j}] = Σ {source}[i] · {name}[i, {j}]{ending[0]}",
        expression=f"{_products(pairs)}{ending[1]} = {short(value)}",
        columns=("i", f"{source}[i]", f"{name}[i, {j}]", f"{source}[i] · {name}[i, {j}]"),
        terms=tuple((i, a, b, a * b) for i, (a, b) in enumerate(pairs)),
        value=value,
    )


def _headed(here: StageAt, head: int, d: int) -> Worked:
    width, letter = here.trace.config.head_width, here.kind[0]
    j = head * width + d
    value = float(here.row[j])
    place = f"{letter.upper()}[{j}]"
    symbols = f"{letter}[{head}, {d}] = {letter.upper()}[{head} · {width} + {d}]"
    return Worked(symbols, f"{place} = {short(value)}", value)


def _score(here: StageAt, head: int, key: int) -> Worked:
    q = here.row[head].tolist()
    k = here.everywhere(here.inputs[1])[head, key].tolist()
    width, query = here.trace.config.head_width, here.position
    pairs = list(zip(q, k, strict=True))
    dot = math.fsum(a * b for a, b in pairs)
    value = dot / math.sqrt(width)
    return Worked(
        symbols=f"S[{query}, {key}] = Σ q[{query}, d] · k[{key}, d] / √{width}",
        expression=f"({_products(pairs)}) / √{width} = {short(dot)} / {short(math.sqrt(width))} = {short(value)}",
        columns=("d", f"q[{query}, d]", f"k[{key}, d]", f"q[{query}, d] · k[{key}, d]"),
        terms=tuple((d, a, b, a * b) for d, (a, b) in enumerate(pairs)),
        value=value,
        hidden=hidden_reason(here, key),
    )


def hidden_reason(here: StageAt, key: int) -> str:
    """Why the query at this position does not read `key`: "padding_query", "later", "padding_key", or ""."""
    valid = here.trace.valid[here.record]
    if not valid[here.position]:
        return "padding_query"
    if key > here.position:
        return "later"
    return "" if valid[key] else "padding_key"


def _why_hidden(here: StageAt, key: int) -> str:
    query = here.position
    reasons = {"padding_query": f"valid[{query}] = 0", "later": f"{key} > {query}", "padding_key": f"valid[{key}] = 0"}
    return reasons[hidden_reason(here, key)]


def _visible(here: StageAt, head: int, key: int) -> Worked:
    query, reason = here.position, hidden_reason(here, key)
    rule = f"{key} ≤ {query} ∧ valid[{key}] = 1 ∧ valid[{query}] = 1"
    symbols = f"visible[{query}, {key}] = {key} ≤ {query} ∧ valid[{key}] ∧ valid[{query}]"
    if reason:
        return Worked(symbols, f"{_why_hidden(here, key)} ⇒ 0", 0.0, hidden=reason)
    return Worked(symbols, f"{rule} ⇒ 1", 1.0)


def _weight(here: StageAt, head: int, key: int) -> Worked:
    query, reason = here.position, hidden_reason(here, key)
    symbols = f"A[{query}, {key}] = exp(S[{query}, {key}] − max) / Σ exp(S[{query}, key] − max)"
    if reason:
        return Worked(symbols, f"{_why_hidden(here, key)} ⇒ 0", 0.0, hidden=reason)
    scores, visible = here.row[head].tolist(), here.at(here.inputs[1])[0].tolist()
    seen = {k: score for k, (score, shown) in enumerate(zip(scores, visible, strict=True)) if shown}
    highest = max(seen.values())
    powers = {k: math.exp(score - highest) for k, score in seen.items()}
    total = math.fsum(powers.values())
    value = powers[key] / total
    return Worked(
        symbols=symbols,
        steps=(f"max = {short(highest)}", f"Σ exp(S − max) = {short(total)}"),
        expression=f"exp({short(seen[key])} − {_operand(highest)}) / {short(total)} = {short(value)}",
        columns=("key", f"S[{query}, key]", "S − max", "exp(S − max)", f"A[{query}, key]"),
        terms=tuple((k, s, s - highest, powers[k], powers[k] / total) for k, s in seen.items()),
        value=value,
    )


def _mixture(here: StageAt, head: int, d: int) -> Worked:
    query = here.position
    weights = here.row[head].tolist()
    v = here.everywhere(here.inputs[1])[head, :, d].tolist()
    terms = tuple((k, weights[k], v[k], weights[k] * v[k]) for k in here.visible.nonzero()[0].tolist())
    value = math.fsum(product for *_, product in terms)
    left = _products([(weight, number) for _, weight, number, _ in terms]) or "0"
    return Worked(
        symbols=f"M[{head}, {d}] = Σ A[{query}, key] · v[key, {d}]",
        expression=f"{left} = {short(value)}",
        columns=("key", f"A[{query}, key]", f"v[key, {d}]", f"A[{query}, key] · v[key, {d}]"),
        terms=terms,
        value=value,
        hidden="" if terms else "padding_query",
    )


def _joined(here: StageAt, j: int) -> Worked:
    width = here.trace.config.head_width
    value = float(here.row[j // width, j % width])
    place = f"M[{j // width}, {j % width}]"
    return Worked(f"J[{j}] = {place}", f"{place} = {short(value)}", value)


def _activated(here: StageAt, j: int) -> Worked:
    kind, x = here.trace.config.activation, float(here.row[j])
    value = activate(kind, x)
    pattern = {
        "relu": "max(0, {})",
        "gelu": "{0} · (1 + erf({0} / √2)) / 2",
        "gelu_tanh": "{0} · (1 + tanh(√(2/π) · ({0} + 0.044715 · {0}³))) / 2",
    }[kind]
    filled = pattern.format(short(x) if kind == "relu" else _operand(x))
    return Worked(f"A[{j}] = {pattern.format(f'U[{j}]')}", f"{filled} = {short(value)}", value)


_WORK: dict[str, Callable[..., Worked]] = {
    "token_embedding": _token,
    "position_embedding": _place,
    "block_input": _block_input,
    "norm1": lambda here, j: _norm(here, j, "X"),
    "q_projection": lambda here, j: _projected(here, j, "Q", "N"),
    "k_projection": lambda here, j: _projected(here, j, "K", "N"),
    "v_projection": lambda here, j: _projected(here, j, "V", "N"),
    "q_heads": _headed,
    "k_heads": _headed,
    "v_heads": _headed,
    "scores": _score,
    "visible": _visible,
    "weights": _weight,
    "mixtures": _mixture,
    "joined": _joined,
    "attention_output": lambda here, j: _projected(here, j, "O", "J"),
    "residual1": lambda here, j: _added(here, j, "R", ("X", "O")),
    "norm2": lambda here, j: _norm(here, j, "R"),
    "ffn_linear": lambda here, j: _projected(here, j, "U", "N"),
    "ffn_activation": _activated,
    "ffn_output": lambda here, j: _projected(here, j, "G", "A"),
    "block_output": lambda here, j: _added(here, j, "Y", ("R", "G")),
    "final_norm": lambda here, j: _norm(here, j, "Y"),
    "logits": lambda here, j: _projected(here, j, "Z", "N"),
}
