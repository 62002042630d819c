"""One draw of the sampling page: the distribution before and after every filter, and where the dice fell."""

import pandas as pd
import streamlit as st
import torch

from minigpt.figures.numbers import percent
from minigpt.figures.sampling import NARROW, Part, dice_figure
from minigpt.figures.theme import chart_config
from minigpt.generation.compare import Comparison
from minigpt.generation.stepping import Step
from minigpt.ui.base import messages
from minigpt.ui.base.text import plain, t
from minigpt.ui.sampling import columns as sampling_columns
from minigpt.ui.sampling import stages as sampling_stages
from minigpt.ui.sampling.setup import LETTERS


def draw(comparison: Comparison) -> None:
    """The token clicked, in pictures and numbers."""
    step = sampling_columns.chosen(comparison)
    if step is None:
        messages.hint(t("Press Next token, then the draw is shown here."))
        return
    st.markdown(sentence(comparison, step))
    sampling_stages.draw(comparison, step)
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
        "all": f"{len(step.logits):,}",
    }
    if step.settings.greedy:
        return t(
            "Column **{letter}**, token {index}: **{piece}**, *greedy*, the best of {all} ids. Raw probability {raw}; "
            "nothing is drawn.",
            **values,
        )
    return t(
        "Column **{letter}**, token {index}: **{piece}**, *sampled*, rank {rank}. Raw probability {raw}; after the "
        "filters {own}, one of {kept} ids of {all} that could be drawn.",
        **values,
    )


def numbers_frame(comparison: Comparison, step: Step) -> pd.DataFrame:
    """The best fifty candidates and the drawn one: raw and final probability, and whether a filter removed them."""
    chain, rows = step.chain, []
    best = step.candidates(50)
    for candidate in best if step.rank <= len(best) else [*best, step.choice]:
        removed = "" if chain.kept_top_k[candidate.id] else t("greedy") if chain.greedy else t("top-k")
        removed = removed or ("" if chain.kept_top_p[candidate.id] else t("top-p"))
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
    first = ""
    if step.forbidden.any():
        first = " " + t("Special ids but EOS and ids without a piece are blocked first.")
    shares = step.chain.probabilities
    return t(
        "All four columns share one scale. What is drawn from sums to {total} over the kept ids.{first} Entropy: "
        "raw {raw:.4f} nats, drawn from {own:.4f} nats.",
        first=first,
        total=sum_words(shares.double().sum().item(), step.kept, shares.dtype),
        raw=step.raw_entropy,
        own=step.entropy,
    )


def sum_words(total: float, terms: int, dtype: torch.dtype) -> str:
    """A sum of `terms` probabilities: 1, how far from 1 their rounding leaves it, or all digits when that is too far.

    Each term is rounded by at most half an epsilon of `dtype`, so that the sum may miss 1 by some epsilons; more than
    one epsilon a term is no rounding. Example: `sum_words(1.000000033, 40, torch.float32)` is
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
    bars, throw = [], None
    for number, steps in enumerate(comparison.steps):
        if len(steps) > index and steps[index].dice_draw is not None:
            throw = steps[index].dice
            bars.append((LETTERS[number], bar_parts(comparison, steps[index])))
    if not bars:
        st.caption(t("Greedy columns look at no dice."))
        return
    st.markdown(t("**The same throw for all columns.** Each bar is a column's distribution, laid end to end by id."))
    figure = dice_figure(bars, throw, t("cumulative probability"))
    st.plotly_chart(figure, key="dice", config=chart_config("dice"), alt=t("Where the shared throw falls"))


def bar_parts(comparison: Comparison, step: Step) -> list[Part]:
    """A column's cumulative bar by id: the drawn id and all wide parts by name, the others between them joined."""
    parts, joined = [], 0.0
    for id, share in enumerate(step.chain.probabilities.double().tolist()):
        if share < NARROW / 3 and id != step.id:
            joined += share
            continue
        if joined:
            parts.append(Part("…", joined))
            joined = 0.0
        parts.append(Part(comparison.tokenizer.piece_label(id), share, drawn=id == step.id))
    return parts + ([Part("…", joined)] if joined else [])
