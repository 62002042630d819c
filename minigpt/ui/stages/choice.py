"""Which stage and which of its numbers the stages page looks at: found, stepped and remembered."""

import streamlit as st

from minigpt.config import ACTIVATIONS
from minigpt.inspection.recompute import stage_kind
from minigpt.model.trace import Stage, Trace
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.components.chips import Chip
from minigpt.ui.stages.sentences import part_titles, stage_title

NUMBERS = "stage_numbers"  # session: index of the chosen number by family, so that it stays from stage to stage
Coordinate = int | tuple[int, int]
_PARTS = {"norm1": "attention", "norm2": "ffn"}
_FAMILIES = {"scores": "key", "visible": "key", "weights": "key", "logits": "id"}
_FAMILIES |= dict.fromkeys(("q_heads", "k_heads", "v_heads", "mixtures"), "head")
_FAMILIES |= dict.fromkeys(("ffn_linear", "ffn_activation"), "hidden")


def chosen(view: View) -> Stage | None:
    """The workspace's stage; an activation stands for that of any model. None for an unknown name."""
    name, block = view.space.stage, view.trace.blocks[view.block]
    if name in {"ffn_activation", *(f"ffn_{kind}" for kind in ACTIVATIONS)}:
        return block.ffn_activation
    outer = [stage for stage in view.trace.stages if stage.block is None]
    return next((stage for stage in (*outer, *block.stages) if stage.name == name), None)


def choose(stage: Stage) -> None:
    """Look at `stage`; a stage outside the blocks leaves the workspace's block as it is."""
    workspace.choose(stage=stage.name, **({} if stage.block is None else {"block": stage.block}))


def neighbour(trace: Trace, stage: Stage, step: int) -> Stage | None:
    """The stage `step` places later (or earlier) in the order of computation; None beyond the ends."""
    at = index(trace, stage) + step
    return trace.stages[at] if 0 <= at < len(trace.stages) else None


def index(trace: Trace, stage: Stage) -> int:
    """The place of `stage` in the order of computation, from 0."""
    return [(other.name, other.block) for other in trace.stages].index((stage.name, stage.block))


def rail(view: View) -> tuple[list[Chip], list[Stage | None]]:
    """Chips of the stages outside the blocks and of the chosen block, with headings, and the stage of each chip."""
    items, stages, titles = [], [], part_titles(view)
    for stage in view.trace.stages:
        if stage.block not in (None, view.block):
            continue
        kind = stage_kind(view.trace, stage)
        heading = {"token_embedding": "before", "block_input": "block", "final_norm": "after"} | _PARTS
        if kind in heading:
            items.append(Chip(titles[heading[kind]], kind="group"))
            stages.append(None)
        items.append(Chip(stage.name, hint=stage_title(view.trace, stage)))
        stages.append(stage)
    return items, stages


def coordinate(view: View, stage: Stage) -> Coordinate:
    """The number to work out: the last one chosen among stages of the same family, within this stage.

    At first that is the position itself among keys, the target among logits, and number 0 elsewhere.
    """
    kind = stage_kind(view.trace, stage)
    family = _FAMILIES.get(kind, "flat")
    first = {"key": view.position, "id": view.targets[view.position]}
    chosen_number = st.session_state.get(NUMBERS, {}).get(family, first.get(family, 0))
    shape = stage.at(view.position).shape
    last = (view.length if family == "key" else shape[-1]) - 1
    number = min(chosen_number, last)
    if len(shape) == 1:
        return number
    return (0 if kind == "visible" else view.head), number


def choose_number(view: View, stage: Stage, place: Coordinate) -> None:
    """Remember a number of `stage` for the stages of its family, and its head for all pages."""
    kind = stage_kind(view.trace, stage)
    number = place if isinstance(place, int) else place[1]
    known = st.session_state.get(NUMBERS, {})
    st.session_state[NUMBERS] = known | {_FAMILIES.get(kind, "flat"): number}
    if isinstance(place, tuple) and kind != "visible":
        workspace.choose(head=place[0])


def place_name(view: View, stage: Stage, place: Coordinate) -> str:
    """How a chosen number is called: `number 3`, `head 1, key 4 he␠`, `id 270 red`."""
    kind = stage_kind(view.trace, stage)
    family = _FAMILIES.get(kind, "flat")
    if family == "id":
        return t("id {id}, {piece}", id=place, piece=view.label(place))
    if isinstance(place, int):
        return t("number {number}", number=place)
    head, number = place
    if family == "head":
        return t("head {head}, number {number}", head=head, number=number)
    text = "all heads, key {key} {piece}" if kind == "visible" else "head {head}, key {key} {piece}"
    return t(text, head=head, key=number, piece=view.labels[number])
