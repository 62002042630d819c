"""The overview's map: connected boxes from text to loss, each a button that opens its page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from minigpt.sentences import Refusal
from minigpt.ui.components import selection
from minigpt.ui.components.assets import component

PALETTES = ("signed", "attention", "probability")
ROLES = ("query", "key", "value", "residual", "prediction", "target")
MOST_VALUES = 64
_PIPELINE = component("pipeline")


@dataclass(frozen=True)
class Box:
    """One box.

    id: what `on_open` gets, unique. title, shape (such as "[1, 64, 16]"), sentence: shown text, exactly as
    given. values: up to 64 real numbers for the strip, None for no strip. palette: "signed" and "attention"
    draw cells, "probability" draws bars, the highest one at full height. role: the accent's meaning. note: a short
    figure, such as "3.17 nats".
    """

    id: str
    title: str
    shape: str
    sentence: str
    values: Sequence[float] | None = None
    palette: str = "signed"
    role: str = "residual"
    note: str = ""

    def __post_init__(self) -> None:
        if self.palette not in PALETTES:
            raise Refusal(
                "box {box!r} has palette {palette!r}; allowed are {allowed}",
                box=self.id,
                palette=self.palette,
                allowed=", ".join(PALETTES),
            )
        if self.role not in ROLES:
            raise Refusal(
                "box {box!r} has role {role!r}; allowed are {allowed}",
                box=self.id,
                role=self.role,
                allowed=", ".join(ROLES),
            )
        if self.values is None:
            return
        if not 1 <= len(self.values) <= MOST_VALUES:
            raise Refusal(
                "box {box!r} has {values} values; allowed are 1 to {most}",
                box=self.id,
                values=len(self.values),
                most=MOST_VALUES,
            )
        if not all(math.isfinite(value) for value in self.values):
            raise Refusal("box {box!r} has a value that is not finite; its strip needs finite numbers", box=self.id)


def pipeline(boxes: Sequence[Box], *, key: str, label: str, on_open: Callable[[str], None]) -> None:
    """Show the boxes in order with arrows between them, as many in a row as fit; one below the other on a narrow
    screen.

    A click, Enter or Space on a box calls `on_open(box.id)` in a Streamlit callback before the next script
    run. Raises ValueError when ids repeat or there are no boxes. Example: `pipeline([Box("loss", "Loss", "[ ]",
    "3.2 nats")], key="map", label="From text to loss", on_open=go)`.
    """
    data = payload(boxes, label=label)

    def accept(choice: Any) -> None:
        if choice in [box.id for box in boxes]:
            on_open(choice)

    _PIPELINE(key=key, data=data, on_choice_change=selection.listener(key, accept))


def payload(boxes: Sequence[Box], *, label: str) -> dict[str, Any]:
    """The JSON the browser gets, checked; see `pipeline`."""
    ids = [box.id for box in boxes]
    if not ids or len(set(ids)) < len(ids):
        raise Refusal("boxes have the ids {ids}; there must be at least one and none twice", ids=ids)
    return {"label": label, "boxes": [_plain(box) for box in boxes]}


def _plain(box: Box) -> dict[str, Any]:
    """A box as JSON values; numpy numbers become floats."""
    values = None if box.values is None else [float(value) for value in box.values]
    return {**vars(box), "values": values}
