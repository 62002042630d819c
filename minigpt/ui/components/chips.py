"""Token chips: pieces of text in a row, one of them selected; the app's signature control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from minigpt.sentences import Refusal
from minigpt.ui.components import selection
from minigpt.ui.components.assets import component

KINDS = ("plain", "special", "padding", "target", "fresh", "group", "divider")
UNSELECTABLE = ("group", "divider")
_CHIPS = component("chips")


@dataclass(frozen=True)
class Chip:
    """One piece.

    text: shown exactly, spaces kept; give control characters their visible labels before. below: small gray
    text under it, such as the id. hint: shown on hover and on keyboard focus, such as the bytes. kind:
    "plain", "special" (BOS, EOS), "padding", "target", "fresh" (just made), or what cannot be selected: "group",
    a heading, and "divider", a dashed line whose text is for screen readers. tint: 0..1, strength of the purple
    ground, such as a probability; None for the neutral ground.
    """

    text: str
    below: str = ""
    hint: str = ""
    kind: str = "plain"
    tint: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise Refusal("a chip has kind {kind!r}; allowed are {allowed}", kind=self.kind, allowed=", ".join(KINDS))
        if self.tint is not None and not 0 <= self.tint <= 1:
            raise Refusal("a chip has tint {tint}; allowed are 0 to 1 or None", tint=self.tint)


def chips(
    items: Sequence[Chip],
    *,
    key: str,
    label: str,
    selected: int | None = None,
    on_select: Callable[[int], None] | None = None,
    wrap: bool = True,
) -> None:
    """Show chips; a click or ArrowLeft, ArrowRight, Home, End on a focused chip selects.

    `selected` and the argument of `on_select` are indices into `items` as given, groups counted; `on_select`
    runs as a Streamlit callback before the next script run. Python owns the selection: the component follows
    `selected` at each run. Without `on_select` the chips only show their hints. `wrap=False` gives one
    scrolling row that keeps the selected chip in view. `label` names the group for screen readers. Raises
    ValueError when `selected` is outside `items` or a group. Example: `chips([Chip("th", "287"), Chip("e",
    "69")], key="t", label="Tokens", selected=1, on_select=move)`.
    """
    data = payload(items, label=label, selected=selected, active=on_select is not None, wrap=wrap)

    def accept(choice: Any) -> None:
        if on_select is not None and selection.is_index(choice, len(items)) and items[choice].kind not in UNSELECTABLE:
            on_select(choice)

    data["seen"] = selection.seen(key)
    _CHIPS(key=key, data=data, on_choice_change=selection.listener(key, accept))


def payload(items: Sequence[Chip], *, label: str, selected: int | None, active: bool, wrap: bool) -> dict[str, Any]:
    """The JSON the browser gets, checked; see `chips` for the meaning and the errors."""
    if selected is not None and not selection.is_index(selected, len(items)):
        raise Refusal(
            "selected chip is {selected}; allowed are 0 to {last} or None", selected=selected, last=len(items) - 1
        )
    if selected is not None and items[selected].kind in UNSELECTABLE:
        raise Refusal(
            "selected chip {selected} is a {kind}; only the other kinds can be selected",
            selected=selected,
            kind=items[selected].kind,
        )
    return {
        "items": [asdict(item) for item in items],
        "label": label,
        "selected": selected,
        "active": active,
        "wrap": wrap,
    }
