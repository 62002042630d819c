"""A drawing of the model, from ids to logits with one block large, and marks on it that can be chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minigpt.sentences import Refusal
from minigpt.ui.components import selection
from minigpt.ui.components.assets import component

PARTS = ("tokens", "positions", "norm1", "attention", "norm2", "ffn", "final", "head")
MOST_HEADS = 24  # drawn one by one
_ANATOMY = component("anatomy")


@dataclass(frozen=True)
class Part:
    """One box: its title, a line below it, whether it is struck out or changed, and how many lie behind it."""

    title: str
    note: str = ""
    gone: bool = False
    changed: bool = False
    copies: int = 1  # at most 4 are drawn


@dataclass(frozen=True)
class Mark:
    """A numbered button on one or more parts. id: what `on_choose` gets, unique; title: its name, number included."""

    id: str
    number: int
    title: str
    parts: Sequence[str]


def anatomy(
    parts: Mapping[str, Part],
    marks: Sequence[Mark],
    *,
    key: str,
    label: str,
    frame: str,
    ends: tuple[str, str],
    heads: tuple[int, int],
    residual: bool,
    selected: str,
    on_choose: Callable[[str], None],
) -> None:
    """Draw all PARTS; `frame` is written on the block, `ends` where it begins and ends, `heads` are query heads
    and key-value heads; without `residual` there is no trunk that the branches are added to.

    A click, Enter or Space on a mark calls `on_choose(mark.id)` in a callback before the next script run; on
    the selected mark it calls `on_choose("")`. Raises ValueError for a missing part or a mark on an unknown one.
    """
    data = payload(parts, marks, label=label, frame=frame, ends=ends, heads=heads, residual=residual, selected=selected)
    ids = ["", *(mark.id for mark in marks)]

    def accept(choice: Any) -> None:
        if choice in ids:
            on_choose(choice)

    data["seen"] = selection.seen(key)
    _ANATOMY(key=key, data=data, on_choice_change=selection.listener(key, accept))


def payload(
    parts: Mapping[str, Part],
    marks: Sequence[Mark],
    *,
    label: str,
    frame: str,
    ends: tuple[str, str],
    heads: tuple[int, int],
    residual: bool,
    selected: str,
) -> dict[str, Any]:
    """The JSON the browser gets, checked; see `anatomy`."""
    if tuple(parts) != PARTS:
        raise Refusal(
            "the drawing needs the parts {allowed} in this order, got {given}",
            allowed=", ".join(PARTS),
            given=", ".join(parts),
        )
    for mark in marks:
        if not mark.parts or not set(mark.parts) <= set(PARTS):
            raise Refusal(
                "mark {mark!r} is on {parts}; allowed are {allowed}",
                mark=mark.id,
                parts=list(mark.parts),
                allowed=", ".join(PARTS),
            )
    queries, keys = heads
    if not 1 <= keys <= queries or queries % keys:
        raise Refusal("key-value heads must divide the {queries} query heads, got {keys}", queries=queries, keys=keys)
    return {
        "label": label,
        "frame": frame,
        "ends": list(ends),
        "heads": [queries, keys] if queries <= MOST_HEADS else [],
        "residual": residual,
        "selected": selected,
        "parts": {name: vars(part) for name, part in parts.items()},
        "marks": [{**vars(mark), "parts": list(mark.parts)} for mark in marks],
    }
