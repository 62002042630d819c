"""Which stage and which of its numbers the stages page looks at: found, stepped and remembered."""

from dataclasses import replace

import streamlit as st

from minigpt.config import ACTIVATIONS, ModelConfig
from minigpt.inspection.stages import BLOCK_INPUT, FFN_ACTIVATION, Coordinate, spec_of
from minigpt.model.layers import published_name
from minigpt.model.trace import Stage, Trace
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t, translate
from minigpt.ui.base.view import View
from minigpt.ui.components.chips import Chip
from minigpt.ui.stages.sentences import part_titles

NUMBERS = "stage_numbers"  # session: index of the chosen number by family, so that it stays from stage to stage


def chosen(view: View) -> Stage | None:
    """The workspace's stage; an activation stands for that of any model. None for an unknown name."""
    name, block = view.space.stage or BLOCK_INPUT.kind, view.trace.blocks[view.block]
    if name == FFN_ACTIVATION.kind or name in {
        published_name(FFN_ACTIVATION.kind, other) for other in _activations(view)
    }:
        return block.ffn_activation
    outer = [stage for stage in view.trace.stages if stage.block is None]
    return next((stage for stage in (*outer, *block.stages) if stage.name == name), None)


def _activations(view: View) -> list[ModelConfig]:
    return [replace(view.trace.config, activation=activation) for activation in ACTIVATIONS]


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
    items: list[Chip] = []
    stages: list[Stage | None] = []
    titles = part_titles(view)
    for stage in view.trace.stages:
        if stage.block not in (None, view.block):
            continue
        spec = spec_of(stage)
        if spec.opens:
            items.append(Chip(titles[spec.opens], kind="group"))
            stages.append(None)
        items.append(Chip(stage.name, hint=translate(spec.title_in(view.trace.config))))
        stages.append(stage)
    return items, stages


def coordinate(view: View, stage: Stage) -> Coordinate:
    """The number to work out: the last one chosen among stages of the same family, within this stage.

    At first that is the position itself among keys, the target among logits, and number 0 elsewhere.
    """
    spec = spec_of(stage)
    family = spec.family
    first = {"key": view.position, "id": view.targets[view.position]}
    chosen_number = st.session_state.get(NUMBERS, {}).get(family, first.get(family, 0))
    shape = stage.at(view.position).shape
    last = (view.length if family == "key" else shape[-1]) - 1
    number = min(chosen_number, last)
    if len(shape) == 1:
        return number
    return (view.head if spec.by_head else 0), number


def choose_number(view: View, stage: Stage, place: Coordinate) -> None:
    """Remember a number of `stage` for the stages of its family, and its head for all pages."""
    spec = spec_of(stage)
    number = place if isinstance(place, int) else place[1]
    known = st.session_state.get(NUMBERS, {})
    st.session_state[NUMBERS] = known | {spec.family: number}
    if isinstance(place, tuple) and spec.by_head:
        workspace.choose(head=place[0])


def place_name(view: View, stage: Stage, place: Coordinate) -> str:
    """How a chosen number is called: `number 3`, `head 1, key 4 he␠`, `id 270 red`."""
    spec = spec_of(stage)
    if isinstance(place, int):
        if spec.family == "id":
            return t("id {id}, {piece}", id=place, piece=view.label(place))
        return t("number {number}", number=place)
    head, number = place
    if spec.family == "head":
        return t("head {head}, number {number}", head=head, number=number)
    if not spec.by_head:
        return t("all heads, key {key} {piece}", key=number, piece=view.labels[number])
    return t("head {head}, key {key} {piece}", head=head, key=number, piece=view.labels[number])
