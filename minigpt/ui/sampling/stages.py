"""The distribution of one draw before and after every filter: bars of the candidates, stage by stage on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from minigpt.figures.numbers import percent
from minigpt.figures.theme import shortened
from minigpt.generation.compare import Comparison
from minigpt.generation.stepping import Step
from minigpt.ui.base.text import t
from minigpt.ui.components.table import Column, table

SHOWN = 10  # candidates
NAME = 16  # characters of a piece that its row shows; the whole of a longer one is shown on hover


@dataclass(frozen=True)
class Row:
    """One candidate, or what is left over: its share at each stage, None where it has been removed."""

    label: str
    shares: tuple[float | None, ...]
    drawn: bool = False
    rest: bool = False


def draw(comparison: Comparison, step: Step) -> None:
    """All stages side by side; the drawn row is marked."""
    rows = stage_rows(comparison, step)
    table(
        stage_columns(rows, stage_titles(step), t("removed")),
        key="stages",
        label=t("The distribution after every filter"),
        selected=next(place for place, row in enumerate(rows) if row.drawn),
        faint=[place for place, row in enumerate(rows) if row.rest],
        height=480,
    )


def stage_titles(step: Step) -> list[str]:
    """The names of the four distributions, with the settings that made them."""
    s = step.settings
    return [
        t("raw"),
        t("greedy") if s.greedy else t("temperature {value:g}", value=s.temperature),
        t("top-k {value}", value=s.top_k) if s.top_k else t("top-k off"),
        t("top-p {value:g} = drawn from", value=s.top_p) if s.top_p < 1 else t("top-p off = drawn from"),
    ]


def stage_rows(comparison: Comparison, step: Step) -> list[Row]:
    """The best candidates, the drawn one wherever it ranks, the blocked ids, and the rest: the whole vocabulary."""
    chain = step.chain
    shares = [chain.raw_probabilities, chain.scaled_probabilities, chain.top_k_probabilities, chain.probabilities]
    kept = [None, chain.scaled_logits > -inf, chain.kept_top_k, chain.kept_top_p]
    ids = [candidate.id for candidate in step.candidates(SHOWN)]
    ids += [] if step.id in ids else [step.id]
    rows, stages = [], list(zip(shares, kept, strict=True))
    for id in ids:
        values = tuple(share[id].item() if keep is None or keep[id] else None for share, keep in stages)
        rows.append(Row(comparison.tokenizer.piece_label(id), values, drawn=id == step.id))
    blocked = chain.raw_probabilities[chain.forbidden].double().sum().item()
    count = len(step.logits) - len(ids) - int(chain.forbidden.sum())
    rest = chain.forbidden.clone()
    rest[ids] = True
    others = tuple(share[~rest].double().sum().item() for share in shares)
    if count:
        rows.append(Row(t("{count:,} others", count=count), others, rest=True))
    forbidden = int(chain.forbidden.sum())
    if forbidden:
        rows.append(Row(t("{count:,} blocked", count=forbidden), (blocked, None, None, None), rest=True))
    return rows


def stage_columns(rows: Sequence[Row], titles: Sequence[str], removed: str) -> list[Column]:
    """The rows as columns of a light table, the highest share as a full bar; copied are all digits.

    `removed` is written where a filter took a row. Raises ValueError unless every row has a share for every stage and
    each stage sums to 1 within 1e-5.
    """
    for row in rows:
        if len(row.shares) != len(titles):
            raise ValueError(f"row {row.label!r} has {len(row.shares)} shares, there are {len(titles)} stages")
    for stage, title in enumerate(titles):
        total = sum(row.shares[stage] or 0.0 for row in rows)
        if abs(total - 1) > 1e-5:
            raise ValueError(f"the shares of stage {title!r} must sum to 1, got {total!r}")
    highest = max(share or 0.0 for row in rows for share in row.shares)
    labels = [row.label for row in rows]
    pieces = Column(t("piece"), [shortened(label, NAME) for label in labels], exact=labels)
    return [
        pieces,
        *(_bars([row.shares[at] for row in rows], highest, title, removed) for at, title in enumerate(titles)),
    ]


def _bars(shares: Sequence[float | None], highest: float, title: str, removed: str) -> Column:
    cells = [removed if share is None else percent(share) for share in shares]
    exact = [removed if share is None else repr(share) for share in shares]
    return Column(title, cells, "bar", [None if share is None else share / highest for share in shares], exact)
