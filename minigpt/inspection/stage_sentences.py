"""Stages in words: one sentence each, made from the numbers of a position. The table of stages refers to them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from minigpt.inspection.attention_stats import read_query
from minigpt.inspection.derivation import short
from minigpt.model.trace import BlockTrace, Stage, Trace
from minigpt.sentences import Sentence, say, say_count


class Shown(Protocol):
    """The record, position and head that a sentence speaks of."""

    @property
    def trace(self) -> Trace: ...
    @property
    def position(self) -> int: ...
    @property
    def head(self) -> int: ...
    @property
    def length(self) -> int: ...  # positions of the record; the others are padding
    @property
    def slots(self) -> int: ...  # positions, padding included
    @property
    def ids(self) -> list[int]: ...
    @property
    def targets(self) -> list[int]: ...
    @property
    def labels(self) -> list[str]: ...
    def label(self, token: int, /) -> str: ...


Stream = Callable[[BlockTrace], Stage]  # the stage that a branch is added to


@dataclass(frozen=True)
class Described:
    """A stage to be described, with the stages it is computed from."""

    shown: Shown
    stage: Stage
    inputs: tuple[Stage, ...]

    @property
    def numbers(self) -> np.ndarray:
        """The stage's values at the position, float64."""
        return self.at(self.stage)

    @property
    def block(self) -> BlockTrace:
        """The stages of its block."""
        assert self.stage.block is not None
        return self.shown.trace.blocks[self.stage.block]

    @property
    def residual(self) -> bool:
        """Whether the model has residual connections."""
        return self.shown.trace.config.residual

    def at(self, stage: Stage) -> np.ndarray:
        """The values of any stage at the position, float64."""
        return stage.at(self.shown.position).numpy().astype(np.float64)


def token_row(here: Described) -> Sentence:
    token = here.shown.ids[here.shown.position]
    return say_count(
        "Row {id} of the token table, for {piece}: the same {size} numbers wherever this piece occurs. "
        "It occurs once in this text.",
        "Row {id} of the token table, for {piece}: the same {size} numbers wherever this piece occurs. "
        "It occurs {count} times in this text.",
        count=here.shown.ids.count(token),
        id=token,
        piece=here.shown.labels[here.shown.position],
        size=len(here.numbers),
    )


def position_row(here: Described) -> Sentence:
    return say(
        "Row {position} of the position table: any piece at this position gets these {size} numbers.",
        position=here.shown.position,
        size=len(here.numbers),
    )


def block_input(here: Described) -> Sentence:
    if here.stage.block:
        return say(
            "The {size} numbers that left block {block}, unchanged.",
            size=len(here.numbers),
            block=here.stage.block - 1,
        )
    piece, position = (_length(here.at(stage)) for stage in here.inputs)
    return say(
        "Piece and position, added: vectors of length {piece:.4g} and {position:.4g} make one of {sum:.4g}.",
        piece=piece,
        position=position,
        sum=_length(here.numbers),
    )


def projection(here: Described) -> Sentence:
    numbers = here.numbers
    strongest = int(np.abs(numbers).argmax())
    return say(
        "Each of the {size} numbers is a weighted sum of all {inputs}; the strongest is number {number}, {value}.",
        size=len(numbers),
        inputs=here.shown.trace.config.width,
        number=strongest,
        value=short(numbers[strongest]),
    )


def heads(here: Described) -> Sentence:
    count, width = here.numbers.shape
    head = here.shown.head
    return say(
        "{heads} heads get {width} numbers each: head {head} numbers {first} to {last}. "
        "The numbers are only regrouped.",
        heads=count,
        width=width,
        head=head,
        first=head * width,
        last=(head + 1) * width - 1,
    )


def scores(here: Described) -> Sentence:
    shown = here.shown
    seen = here.numbers[shown.head, : shown.position + 1]
    best, worst = int(seen.argmax()), int(seen.argmin())
    if len(seen) == 1:
        told = say("Position 0 can only read itself: head {head} scores {high}.", head=shown.head, high=short(seen[0]))
    else:
        told = say(
            "Head {head}: of the {keys} keys it may read, key {key} ({piece}) fits the query best, {high}, and key "
            "{low_key} ({low_piece}) least, {low}.",
            head=shown.head,
            keys=len(seen),
            key=best,
            piece=shown.labels[best],
            high=short(seen[best]),
            low_key=worst,
            low_piece=shown.labels[worst],
            low=short(seen[worst]),
        )
    if shown.position == shown.length - 1:
        return told
    return say("{scores} Later keys have scores too; the mask comes with the weights.", scores=told)


def visible(here: Described) -> Sentence:
    shown = here.shown
    return say(
        "{seen} of {slots} slots may be read: {later} of the record are later, {padding} are padding.",
        seen=int(here.numbers.sum()),
        slots=shown.slots,
        later=shown.length - shown.position - 1,
        padding=shown.slots - shown.length,
    )


def weights(here: Described) -> Sentence:
    shown = here.shown
    found = here.stage.at(shown.position)[shown.head, : shown.length]
    most = read_query(found, torch.tensor(shown.ids), shown.position)
    return say(
        "Head {head} gives {share:.1%} of its weight to key {key} ({piece}); all equal would be {equal:.1%}.",
        head=shown.head,
        share=most.share,
        key=most.key,
        piece=shown.labels[most.key],
        equal=1 / most.visible,
    )


def mixtures(here: Described) -> Sentence:
    shown = here.shown
    found = here.at(here.inputs[0])[shown.head, : shown.position + 1]
    most = int(found.argmax())
    return say(
        "Head {head} mixes the values of {keys} keys; {share:.1%} comes from key {key} ({piece}).",
        head=shown.head,
        keys=len(found),
        share=found[most],
        key=most,
        piece=shown.labels[most],
    )


def joined(here: Described) -> Sentence:
    config = here.shown.trace.config
    return say(
        "The mixtures of {heads} heads, {width} numbers each, written one after the other.",
        heads=config.heads,
        width=config.head_width,
    )


def branch(here: Described, stream: Stream) -> Sentence:
    own, before = _length(here.numbers), _length(here.at(stream(here.block)))
    if not here.residual:
        return say("It replaces a vector of length {before:.4g}; its own length is {own:.4g}.", before=before, own=own)
    return say(
        "To be added to a vector of length {stream:.4g}: its own length is {own:.4g}, {share:.0%} of that.",
        stream=before,
        own=own,
        share=own / before if before else math.inf,
    )


def residual(here: Described, stream: Stream) -> Sentence:
    vector, numbers = here.at(stream(here.block)), here.numbers
    before, after = _length(vector), _length(numbers)
    if not here.residual:
        return say(
            "Without residual connections nothing is added: length {after:.4g} replaces length {before:.4g}.",
            before=before,
            after=after,
        )
    if not before or not after:
        return say("The vector's length goes from {before:.4g} to {after:.4g}.", before=before, after=after)
    cosine = float(np.clip(vector @ numbers / (before * after), -1.0, 1.0))
    return say(
        "The addition turns the vector by {angle:.1f}° and changes its length from {before:.4g} to {after:.4g}.",
        angle=math.degrees(math.acos(cosine)),
        before=before,
        after=after,
    )


def hidden(here: Described) -> Sentence:
    return say(
        "{size} detectors look at the {inputs} numbers of the norm; {above} of them answer above 0.",
        size=len(here.numbers),
        inputs=here.shown.trace.config.width,
        above=int((here.numbers > 0).sum()),
    )


def activation(here: Described) -> Sentence:
    before, numbers = here.at(here.inputs[0]), here.numbers
    if here.shown.trace.config.activation == "relu":
        return say("ReLU set {zero} of {size} numbers to zero.", zero=int((before < 0).sum()), size=len(numbers))
    return say(
        "GELU keeps {kept} of {size} numbers above 0; the others end between {least} and 0.",
        kept=int((numbers > 0).sum()),
        size=len(numbers),
        least=short(min(0.0, numbers.min())),
    )


def logits(here: Described) -> Sentence:
    shown, numbers = here.shown, here.numbers
    target, highest = shown.targets[shown.position], int(numbers.argmax())
    return say(
        "Highest of {size}: {piece} with {high}. The piece that follows, {target}, has {logit}, place {rank}.",
        size=len(numbers),
        piece=shown.label(highest),
        high=short(numbers[highest]),
        target=shown.label(target),
        logit=short(numbers[target]),
        rank=int((numbers > numbers[target]).sum()) + 1,
    )


def _length(vector: np.ndarray) -> float:
    return float(np.sqrt((vector**2).sum()))
