"""What the attention page shows: pictures, sentences and tables of who reads whom, from the trace."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil

import numpy as np
import pandas as pd
import streamlit as st
from torch.nn import functional

from minigpt.inspection.attention_stats import HeadReading, QueryReading, read_heads, read_query
from minigpt.inspection.derivation import Derivation
from minigpt.inspection.stages import SCORES, VISIBLE, WEIGHTS, StageSpec, derive
from minigpt.sentences import Sentence, say
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.components.table import Column

PICTURES: dict[StageSpec, Sentence] = {SCORES: say("Scores"), VISIBLE: say("Mask"), WEIGHTS: say("Weights")}
CELL = "attention_cell"
MOST_CELLS = 300_000  # of all thumbnails together, a byte each
EVEN = 0.95  # of the visible keys: from here on a head is said to spread evenly


@dataclass(frozen=True)
class Picture:
    """One stage of one head over the first T slots, as `matrix` draws it; arrays (T, T), rows are queries."""

    values: np.ndarray
    masked: np.ndarray
    palette: str
    limit: float


def picture(view: View, spec: StageSpec, slots: int) -> Picture:
    """Scores, mask or weights of the chosen head. Heads of a block share the limit of their scores."""
    block = view.trace.blocks[view.block]
    masked = ~block.visible.values[0, 0, :slots, :slots].numpy()
    if spec is SCORES:
        scores = block.scores.values[0, :, :slots, :slots].numpy()  # (H, T, T)
        limit = float(np.abs(scores[:, ~masked]).max())
        return Picture(scores[view.head], masked, "signed", limit or 1.0)
    if spec is VISIBLE:
        return Picture((~masked).astype(np.float64), masked, "attention", 1.0)
    return Picture(block.weights.values[0, view.head, :slots, :slots].numpy(), masked, "attention", 1.0)


def thumbnail_step(view: View) -> int:
    """How many queries and keys one cell of a head's thumbnail stands for: 1 unless there would be too many cells."""
    heads = view.model.config.layers * view.model.config.heads
    return next(step for step in count(1) if heads * ceil(view.length / step) ** 2 <= MOST_CELLS or step == view.length)


def all_weights(view: View) -> np.ndarray:
    """Weights of every head of every block over the record's positions: (L, H, T, T).

    With a `thumbnail_step` above 1 a cell is the largest of step x step weights, and T so much smaller.
    """
    part, step = slice(0, view.length), thumbnail_step(view)
    heads = (block.weights.values[0, :, part, part] for block in view.trace.blocks)
    if step > 1:
        heads = (functional.max_pool2d(weights, step, ceil_mode=True) for weights in heads)
    return np.stack([weights.numpy() for weights in heads])


def thumbnails_sentence(view: View) -> str:
    """What the gallery shows and how to use it."""
    step = thumbnail_step(view)
    if step == 1:
        return t("All heads of all blocks. Click one, or use the arrow keys.")
    return t(
        "All heads of all blocks; a cell is the largest of {step} × {step} weights. Click one, or use the arrow keys.",
        step=step,
    )


def slot_labels(view: View, slots: int) -> list[str]:
    """`4  ed` for each slot: its number, which is never repeated, and its piece."""
    ids = view.batch.ids[0, :slots].tolist()
    return [f"{slot}  {view.label(id)}" for slot, id in enumerate(ids)]


def cell(view: View, slots: int) -> tuple[int, int]:
    """The (query, key) in numbers: the one clicked for this position, else the position's strongest key."""
    text, position, query, key = st.session_state.get(CELL, ("", 0, 0, 0))
    if (text, position) == (view.space.text, view.position) and max(query, key) < slots:
        return query, key
    return view.position, _query(view).key


def take_cell(view: View, query: int, key: int) -> None:
    """Remember a clicked cell and move the workspace to its query; a padding slot is not a position of the record."""
    position = query if query < view.length else view.position
    st.session_state[CELL] = (view.space.text, position, query, key)
    workspace.choose(position=position)


def query_sentence(view: View) -> str:
    """What the chosen head does at the chosen position."""
    row = _query(view)
    names = {"block": view.block, "head": view.head, "position": row.query, "piece": view.labels[row.query]}
    if not row.query:
        return t("Position 0, {piece}, has no earlier position: it gives its whole weight to itself.", **names)
    spread = {"share": row.share, "effective": row.effective_keys, "visible": row.visible}
    if row.key == row.query:
        return t(
            "Block {block}, head {head}: position {position}, {piece}, gives {share:.1%} of its weight to itself. "
            "Its attention is spread over about {effective:.1f} of the {visible} keys it may read.",
            **names,
            **spread,
        )
    return t(
        "Block {block}, head {head}: position {position}, {piece}, gives {share:.1%} of its weight to position {key}, "
        "{read}. Its attention is spread over about {effective:.1f} of the {visible} keys it may read.",
        key=row.key,
        read=view.labels[row.key],
        **names,
        **spread,
    )


def head_sentence(view: View) -> str:
    """What the chosen head does on average over the record."""
    head, last = _readings(view, view.block)[view.head], view.length - 1
    names = {"head": head.head, "last": last, "effective": head.effective_keys, "visible": head.visible}
    if head.effective_keys > EVEN * head.visible:
        return t(
            "On average over positions 1 to {last}, head {head} spreads its weight almost evenly, over about "
            "{effective:.2f} of {visible:.2f} visible keys.",
            **names,
        )
    return t(
        "On average over positions 1 to {last}, head {head} gives {previous:.0%} of its weight to the previous "
        "position, {itself:.0%} to the position itself, {first:.0%} to position 0 and {equal:.0%} to earlier equal "
        "pieces. Its attention is spread over about {effective:.1f} of {visible:.1f} visible keys.",
        previous=head.previous or 0.0,
        itself=head.itself or 0.0,
        first=head.first or 0.0,
        equal=head.equal or 0.0,
        **names,
    )


def padding_sentence(view: View, padding: bool) -> str:
    """What is drawn and what is left out."""
    free = view.slots - view.length
    if not free:
        return t("The record fills all {slots} slots: there is no padding.", slots=view.slots)
    names = {"count": view.length, "free": free, "last": view.slots - 1}
    if padding:
        said = t("Slots {count} to {last} are padding: they read nothing and are never read.", **names)
    else:
        said = t("{count} real positions are drawn. Not drawn: {free} padding slots, which are never read.", **names)
    return f"{said} {unused_sentence(view)}".rstrip()


def unused_sentence(view: View) -> str:
    """Of a long context: which slots are not even computed; or ''."""
    if view.slots == view.context:
        return ""
    return t(
        "The other {count} slots of the context would be padding too; they are left out, as they change no number.",
        count=f"{view.context - view.slots:,}",
    )


def whom(name: str) -> str:
    """In words, to whom a share of `HeadReading.shares` goes."""
    return {
        "previous": t("the previous position"),
        "itself": t("the position itself"),
        "first": t("position 0"),
        "equal": t("earlier equal pieces"),
    }[name]


def heads_frame(view: View) -> pd.DataFrame:
    """One row a head of every block: mean shares and mean number of keys read."""
    rows = []
    for block in range(view.model.config.layers):
        for head in _readings(view, block):
            rows.append({t("block"): block, t("head"): head.head} | _share_columns(head))
    return pd.DataFrame(rows)


def key_columns(view: View, query: int) -> list[Column]:
    """The chosen head's row of one query: each visible key with weight and score."""
    weights = view.trace.blocks[view.block].weights
    work = derive(view.model, view.trace, weights, query, (view.head, query))
    shares = [float(term[4]) for term in work.terms]
    return [
        *_keys(view, query),
        Column(t("weight"), six_decimals(shares), "share", shares, exact_digits(shares)),
        _numbers(t("score"), [float(term[1]) for term in work.terms]),
    ]


def side_by_side(view: View, query: int) -> list[Column]:
    """The weights of one query in every head of the chosen block; one row a visible key."""
    weights = view.trace.blocks[view.block].weights.values[0, :, query, : query + 1]  # (H, keys)
    heads = [_numbers(t("head {head}", head=head), row) for head, row in enumerate(weights.tolist())]
    return [*_keys(view, query), *heads]


def _keys(view: View, query: int) -> list[Column]:
    keys = [str(key) for key in range(query + 1)]
    return [Column(t("key"), keys, "number"), Column(t("piece"), view.labels[: query + 1])]


def _numbers(name: str, values: Sequence[float]) -> Column:
    return Column(name, six_decimals(values), "number", exact=exact_digits(values))


def six_decimals(values: Sequence[float]) -> list[str]:
    """Numbers with six decimals, so that a column reads like the code beside it."""
    return [f"{value:.6f}" for value in values]


def exact_digits(values: Sequence[float]) -> list[str]:
    """Numbers with every digit, to be copied."""
    return [repr(value) for value in values]


def cell_work(view: View, query: int, key: int) -> tuple[Derivation, Derivation]:
    """The arithmetic of one score and of its weight."""
    block = view.trace.blocks[view.block]
    place = (view.head, key)
    score, weight = (derive(view.model, view.trace, stage, query, place) for stage in (block.scores, block.weights))
    return score, weight


def hidden_sentence(work: Derivation, query: int, key: int) -> str:
    """Why the query may not read the key, or ''."""
    names = {"query": query, "key": key}
    return {
        "": "",
        "later": t("Hidden: key {key} is later than query {query}. The score is never used.", **names),
        "padding_key": t("Hidden: slot {key} is padding, and no position of the record reads it.", **names),
        "padding_query": t("Hidden: slot {query} is padding. It reads nothing, its mixture is 0.", **names),
    }[work.hidden]


def difference_sentence(score: Derivation, weight: Derivation) -> str:
    """How far the arithmetic on screen is from the model's own numbers."""
    far = [abs(work.value - work.shown) for work in (score, weight)]
    said = [t("exactly 0") if not difference else f"{difference:.1e}" for difference in far]
    return t(
        "Recomputed here with plain numbers. Difference from the model: {score} in the score, {weight} in the weight.",
        score=said[0],
        weight=said[1],
    )


def terms_text(work: Derivation) -> str:
    """The products behind a score as aligned lines, one a coordinate, and their sum."""
    rows = [[str(index), *(f"{number:.6f}" for number in numbers)] for index, *numbers in work.terms]
    total = f"{sum(float(numbers[-1]) for numbers in work.terms):.6f}"
    rows = [[*work.columns[:-1], t("product")], *rows, ["Σ", "", "", total]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)


def _query(view: View) -> QueryReading:
    """What the chosen head reads at the chosen position of the record."""
    weights = view.trace.blocks[view.block].weights.at(view.position)[view.head, : view.length]
    return read_query(weights, view.batch.ids[0, : view.length], view.position)


def _readings(view: View, block: int) -> list[HeadReading]:
    part = slice(0, view.length)
    return read_heads(view.trace.blocks[block].weights.values[0, :, part, part], view.batch.ids[0, part])


def _share_columns(head: HeadReading) -> dict[str, float | None]:
    return {
        whom("previous"): head.previous,
        whom("itself"): head.itself,
        whom("first"): head.first,
        whom("equal"): head.equal,
        t("keys read"): head.effective_keys,
        t("keys visible"): head.visible,
    }
