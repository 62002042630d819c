"""One number of one stage, worked out as on paper: the formula, the formula with the numbers in it, and the terms.

The value is the recomputed one (`minigpt.inspection.recompute`); the lines here only write how it comes about. The
terms keep every digit; the written lines are rounded, to six decimals or six significant digits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from minigpt.inspection.stage_at import StageAt

Term = tuple[int | float | str, ...]


@dataclass(frozen=True)
class Derivation:
    """The arithmetic of one number.

    `symbols` is the formula for this coordinate, `steps` intermediate lines such as a mean, `expression` the
    last line with its result, `columns` and `terms` the table behind a sum (empty where there is none).
    `hidden` says why a key is not read: "later", "padding_key", "padding_query", or "" when it is.
    """

    symbols: str
    expression: str
    value: float  # recomputed
    shown: float = math.nan  # by the model
    inputs: tuple[str, ...] = ()  # names of the stages it reads
    columns: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    steps: tuple[str, ...] = ()
    hidden: str = ""


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


def operand(x: float) -> str:
    """`x` behind an operator: negative numbers in brackets."""
    text = short(x)
    return f"({text})" if text.startswith("−") else text


def _products(pairs: Sequence[tuple[float, float]]) -> str:
    """a · b + c · d + … + y · z: all of at most four, else the first two and the last."""
    texts = [f"{operand(a)} · {operand(b)}" for a, b in pairs]
    return " + ".join(texts if len(texts) <= 4 else [*texts[:2], "…", texts[-1]])


def token_row(here: StageAt, value: float, j: int) -> Derivation:
    place = f"token table[{here.token}, {j}]"
    return Derivation(f"E[{j}] = {place}", f"{place} = {short(value)}", value)


def position_row(here: StageAt, value: float, j: int) -> Derivation:
    place = f"position table[{here.position}, {j}]"
    return Derivation(f"P[{j}] = {place}", f"{place} = {short(value)}", value)


def block_input(here: StageAt, value: float, j: int) -> Derivation:
    if not here.stage.block:
        return added(here, value, j, "X", ("E", "P"))
    place = f"Y[{j}]"
    return Derivation(f"X[{j}] = {place}", f"{place} = {short(value)}", value)


def added(here: StageAt, value: float, j: int, letter: str, letters: tuple[str, str]) -> Derivation:
    if len(here.inputs) == 1:  # without residuals, the branch alone
        place = f"{letters[1]}[{j}]"
        return Derivation(f"{letter}[{j}] = {place}", f"{place} = {short(value)}", value)
    first, second = (float(here.at(stage)[j]) for stage in here.inputs)
    symbols = f"{letter}[{j}] = {letters[0]}[{j}] + {letters[1]}[{j}]"
    return Derivation(symbols, f"{operand(first)} + {operand(second)} = {short(value)}", value)


def projected(here: StageAt, value: float, j: int, letter: str, source: str) -> Derivation:
    weights = here.projection
    pairs = list(zip(here.row.tolist(), weights.matrix[:, j].tolist(), strict=True))
    bias = None if weights.bias is None else float(weights.bias[j])
    name = weights.names[0]
    ending = ("", "") if bias is None else (f" + {weights.names[1]}[{j}]", f" + {operand(bias)}")
    return Derivation(
        symbols=f"{letter}[{j}] = Σ {source}[i] · {name}[i, {j}]{ending[0]}",
        expression=f"{_products(pairs)}{ending[1]} = {short(value)}",
        columns=("i", f"{source}[i]", f"{name}[i, {j}]", f"{source}[i] · {name}[i, {j}]"),
        terms=tuple((i, a, b, a * b) for i, (a, b) in enumerate(pairs)),
        value=value,
    )


def split_heads(here: StageAt, value: float, head: int, d: int, letter: str) -> Derivation:
    width = here.trace.config.head_width
    j = head * width + d
    place = f"{letter.upper()}[{j}]"
    symbols = f"{letter}[{head}, {d}] = {letter.upper()}[{head} · {width} + {d}]"
    return Derivation(symbols, f"{place} = {short(value)}", value)


def score(here: StageAt, value: float, head: int, key: int) -> Derivation:
    q = here.row[head].tolist()
    k = here.everywhere(here.inputs[1])[head, key].tolist()
    width, query = here.trace.config.head_width, here.position
    pairs = list(zip(q, k, strict=True))
    dot = math.fsum(a * b for a, b in pairs)
    return Derivation(
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


def visible(here: StageAt, value: float, head: int, key: int) -> Derivation:
    query, reason = here.position, hidden_reason(here, key)
    rule = f"{key} ≤ {query} ∧ valid[{key}] = 1 ∧ valid[{query}] = 1"
    symbols = f"visible[{query}, {key}] = {key} ≤ {query} ∧ valid[{key}] ∧ valid[{query}]"
    if reason:
        return Derivation(symbols, f"{_why_hidden(here, key)} ⇒ 0", 0.0, hidden=reason)
    return Derivation(symbols, f"{rule} ⇒ 1", 1.0)


def weight(here: StageAt, value: float, head: int, key: int) -> Derivation:
    query, reason = here.position, hidden_reason(here, key)
    symbols = f"A[{query}, {key}] = exp(S[{query}, {key}] − max) / Σ exp(S[{query}, key] − max)"
    if reason:
        return Derivation(symbols, f"{_why_hidden(here, key)} ⇒ 0", 0.0, hidden=reason)
    scores, visible = here.row[head].tolist(), here.at(here.inputs[1])[0].tolist()
    seen = {k: score for k, (score, shown) in enumerate(zip(scores, visible, strict=True)) if shown}
    highest = max(seen.values())
    powers = {k: math.exp(score - highest) for k, score in seen.items()}
    total = math.fsum(powers.values())
    return Derivation(
        symbols=symbols,
        steps=(f"max = {short(highest)}", f"Σ exp(S − max) = {short(total)}"),
        expression=f"exp({short(seen[key])} − {operand(highest)}) / {short(total)} = {short(value)}",
        columns=("key", f"S[{query}, key]", "S − max", "exp(S − max)", f"A[{query}, key]"),
        terms=tuple((k, s, s - highest, powers[k], powers[k] / total) for k, s in seen.items()),
        value=value,
    )


def mixture(here: StageAt, value: float, head: int, d: int) -> Derivation:
    query = here.position
    weights = here.row[head].tolist()
    v = here.everywhere(here.inputs[1])[head, :, d].tolist()
    terms = tuple((k, weights[k], v[k], weights[k] * v[k]) for k in here.visible.nonzero()[0].tolist())
    left = _products([(weight, number) for _, weight, number, _ in terms]) or "0"
    return Derivation(
        symbols=f"M[{head}, {d}] = Σ A[{query}, key] · v[key, {d}]",
        expression=f"{left} = {short(value)}",
        columns=("key", f"A[{query}, key]", f"v[key, {d}]", f"A[{query}, key] · v[key, {d}]"),
        terms=terms,
        value=value,
        hidden="" if terms else "padding_query",
    )


def joined(here: StageAt, value: float, j: int) -> Derivation:
    width = here.trace.config.head_width
    place = f"M[{j // width}, {j % width}]"
    return Derivation(f"J[{j}] = {place}", f"{place} = {short(value)}", value)


def activated(here: StageAt, value: float, j: int) -> Derivation:
    kind, x = here.trace.config.activation, float(here.row[j])
    pattern = {
        "relu": "max(0, {})",
        "gelu": "{0} · (1 + erf({0} / √2)) / 2",
        "gelu_tanh": "{0} · (1 + tanh(√(2/π) · ({0} + 0.044715 · {0}³))) / 2",
    }[kind]
    filled = pattern.format(short(x) if kind == "relu" else operand(x))
    return Derivation(f"A[{j}] = {pattern.format(f'U[{j}]')}", f"{filled} = {short(value)}", value)
