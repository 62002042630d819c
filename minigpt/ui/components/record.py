"""The box a record is typed into: it answers during typing and keeps every character, newlines too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigpt.ui.components import selection
from minigpt.ui.components.assets import component

_RECORD = component("record")


def record_box(
    text: str,
    *,
    key: str,
    label: str,
    on_change: Callable[[str], None],
    note: str = "",
    wrong: bool = False,
    placeholder: str = "",
) -> None:
    """Show `text` in a box that grows with it; `on_change(text)` runs before the next script run.

    What is typed is sent after a pause of a quarter of a second, at once with Enter or on leaving the box;
    Shift+Enter is a newline. Python owns the text: the box follows it, except while newer typing is on
    its way. `note` is above at the right, in red when `wrong`. A browser turns CR LF into LF, nothing else
    is changed. Example: `record_box("Hi", key="record", label="Record", on_change=take)`.
    """

    def accept(value: Any) -> None:
        if isinstance(value, str):
            on_change(value)

    data = {"text": text, "label": label, "note": note, "wrong": wrong, "placeholder": placeholder}
    data["seen"] = selection.seen(key)
    _RECORD(key=key, data=data, on_choice_change=selection.listener(key, accept))
