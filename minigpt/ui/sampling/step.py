"""One draw of the sampling page: the distribution before and after every filter, and where the shared number fell.

The stages are bars of the candidates, side by side on one scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import pandas as pd
import streamlit as st
import torch

from minigpt.figures.numbers import percent
from minigpt.figures.sampling import NARROW, BarPart, dice_figure
from minigpt.figures.theme import chart_config, shortened
from minigpt.generation.compare import Comparison
from minigpt.generation.stepping import Step
from minigpt.sentences import Refusal
from minigpt.ui.base import messages
from minigpt.ui.base.text import plain, t, tn
from minigpt.ui.components.table import Column, table
from minigpt.ui.sampling import columns as sampling_columns
from minigpt.ui.sampling.setup import LETTERS

SHOWN = 10  # candidates
NAME = 16  # characters of a piece that its row shows; the whole of a longer one is shown on hover


@dataclass(frozen=True)
class StageRow:
    """One candidate, or what is left over: its share at each stage, None where it has been removed."""

    label: str
    shares: tuple[float | None, ...]
    drawn: bool = False
    rest: bool = False


def draw(comparison: Comparison) -> None:
    """The token clicked, in pictures and numbers."""
    step = sampling_columns.chosen(comparison)
    if step is None:
        messages.hint(t("Press Next token to see a draw here."))
        return
    st.markdown(sentence(comparison, step))
    _stages(comparison, step)
    st.caption(_caption(step))
    if step.dice is not None:
        _dice(comparison, step.index)
    with st.expander(t("All numbers of this draw"), key="draw_all", on_change="rerun") as numbers:
        if numbers.open:
            st.dataframe(numbers_frame(comparison, step), hide_index=True, width="stretch", key="draw_numbers")


def sentence(comparison: Comparison, step: Step) -> str:
    """What was drawn, how, and how probable it was (Markdown)."""
    values = {
        "letter": LETTERS[step.column],
        "index": step.index + 1,
        "piece": plain(comparison.tokenizer.piece_label(step.id)),
        "rank": step.rank,
        "raw": percent(step.raw_probability),
        "own": percent(step.probability),
        "kept": step.kept,
        "vocabulary": f"{len(step.logits):,}",
    }
    if step.settings.greedy:
        return t(
            "Column **{letter}**, token {index}: **{piece}**, *greedy*, the most probable of {vocabulary} ids. Raw "
            "probability {raw}; no random number is used.",
            **values,
        )
    return t(
        "Column **{letter}**, token {index}: **{piece}**, *sampled*, rank {rank}. Raw probability {raw}; after the "
        "filters {own}, {kept} of {vocabulary} ids could be drawn.",
        **values,
    )


def numbers_frame(comparison: Comparison, step: Step) -> pd.DataFrame:
    """The best fifty candidates and the drawn one: raw and final probability, and whether a filter removed them."""
    filters, rows = step.filters, []
    best = step.candidates(50)
    for candidate in best if step.rank <= len(best) else [*best, step.choice]:
        removed = "" if filters.kept_top_k[candidate.id] else t("greedy") if filters.greedy else t("top-k")
        removed = removed or ("" if filters.kept_top_p[candidate.id] else t("top-p"))
        rows.append(
            {
                t("rank"): candidate.rank,
                t("piece"): comparison.tokenizer.piece_label(candidate.id),
                t("id"): candidate.id,
                t("logit"): step.logits[candidate.id].item(),
                t("raw probability"): candidate.raw_probability,
                t("final probability"): candidate.probability,
                t("removed by"): removed,
                t("drawn"): "◀" if candidate.id == step.id else "",
            }
        )
    return pd.DataFrame(rows)


def _caption(step: Step) -> str:
    shares = step.filters.probabilities
    said = t(
        "All four columns share one scale. The probabilities drawn from sum to {total} over the kept ids. Entropy: "
        "raw {raw:.4f} nats, drawn from {own:.4f} nats.",
        total=sum_words(shares.double().sum().item(), step.kept, shares.dtype),
        raw=step.raw_entropy,
        own=step.entropy,
    )
    blocked = t("Special ids except EOS and ids without a piece are blocked first.")
    return " ".join([said, blocked] if step.forbidden.any() else [said])


def sum_words(total: float, terms: int, dtype: torch.dtype) -> str:
    """A sum of `terms` probabilities: 1, how far from 1 their rounding leaves it, or all digits when that is too far.

    Each term is rounded by at most half an epsilon of `dtype`, so that the sum may miss 1 by some epsilons; more than
    one epsilon per term is not rounding. Example: `sum_words(1.000000033, 40, torch.float32)` is
    "1 (within 3.3e−8, the rounding of float32)".
    """
    miss = abs(total - 1)
    if miss > terms * torch.finfo(dtype).eps:
        return f"{total:.12g}"
    if not miss:
        return "1"
    digits, power = f"{miss:.1e}".split("e")
    return t(
        "1 (within {miss}, the rounding of {dtype})",
        miss=f"{digits}e{int(power)}".replace("-", "−"),
        dtype=str(dtype).removeprefix("torch."),
    )


def _dice(comparison: Comparison, index: int) -> None:
    bars: list[tuple[str, list[BarPart]]] = []
    throw = 0.0
    for number, steps in enumerate(comparison.steps):
        if len(steps) > index and steps[index].dice_draw is not None:
            throw = steps[index].dice or 0.0
            bars.append((LETTERS[number], bar_parts(comparison, steps[index])))
    if not bars:
        st.caption(t("Greedy columns do not use random numbers."))
        return
    st.markdown(
        t("**The same random number for all columns.** Each bar is a column's distribution, laid end to end by id.")
    )
    figure = dice_figure(bars, throw, t("cumulative probability"))
    st.plotly_chart(figure, key="dice", config=chart_config("dice"), alt=t("Where the shared random number falls"))


def bar_parts(comparison: Comparison, step: Step) -> list[BarPart]:
    """A column's cumulative bar by id: the drawn id and all wide parts by name, the others between them joined."""
    parts: list[BarPart] = []
    joined = 0.0
    for token, share in enumerate(step.filters.probabilities.double().tolist()):
        if share < NARROW / 3 and token != step.id:
            joined += share
            continue
        if joined:
            parts.append(BarPart("…", joined))
            joined = 0.0
        parts.append(BarPart(comparison.tokenizer.piece_label(token), share, drawn=token == step.id))
    return parts + ([BarPart("…", joined)] if joined else [])


def _stages(comparison: Comparison, step: Step) -> None:
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


def stage_rows(comparison: Comparison, step: Step) -> list[StageRow]:
    """The best candidates, the drawn one wherever it ranks, the blocked ids, and the rest: the whole vocabulary."""
    filters = step.filters
    shares = [
        filters.raw_probabilities,
        filters.scaled_probabilities,
        filters.top_k_probabilities,
        filters.probabilities,
    ]
    kept = [None, filters.scaled_logits > -inf, filters.kept_top_k, filters.kept_top_p]
    ids = [candidate.id for candidate in step.candidates(SHOWN)]
    ids += [] if step.id in ids else [step.id]
    stages = list(zip(shares, kept, strict=True))
    rows: list[StageRow] = []
    for token in ids:
        values = tuple(share[token].item() if keep is None or keep[token] else None for share, keep in stages)
        rows.append(StageRow(comparison.tokenizer.piece_label(token), values, drawn=token == step.id))
    blocked = filters.raw_probabilities[filters.forbidden].double().sum().item()
    count = len(step.logits) - len(ids) - int(filters.forbidden.sum())
    rest = filters.forbidden.clone()
    rest[ids] = True
    others = tuple(share[~rest].double().sum().item() for share in shares)
    if count:
        rows.append(StageRow(tn("{count:,} other", "{count:,} others", count=count), others, rest=True))
    forbidden = int(filters.forbidden.sum())
    if forbidden:
        rows.append(
            StageRow(
                tn("{count:,} blocked", "{count:,} blocked", count=forbidden), (blocked, None, None, None), rest=True
            )
        )
    return rows


def stage_columns(rows: Sequence[StageRow], titles: Sequence[str], removed: str) -> list[Column]:
    """The rows as columns of a light table, the highest share as a full bar; copied are all digits.

    `removed` is written where a filter took a row. Raises ValueError unless every row has a share for every stage and
    each stage sums to 1 within 1e-5.
    """
    for row in rows:
        if len(row.shares) != len(titles):
            raise Refusal(
                "row {label!r} must have a share for each of the {stages} stages, got {shares}",
                label=row.label,
                stages=len(titles),
                shares=len(row.shares),
            )
    for stage, title in enumerate(titles):
        total = sum(row.shares[stage] or 0.0 for row in rows)
        if abs(total - 1) > 1e-5:
            raise Refusal("the shares of stage {title!r} must sum to 1, got {total!r}", title=title, total=total)
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
