"""How a reader's choices get from a component to Python.

Python owns the selection. A component shows a click at once, sends `{"at": choice, "n": number}` as its state
value, and follows Python again as soon as the payload carries that number back (`seen`). The number makes a
repeated choice register although the stored state has not changed, and lets the component keep the newest key
press while answers to older ones arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

EVENT = "choice"


def seen(key: str) -> int:
    """Number of the last choice Python has handled for this component in this session, 0 before the first."""
    return st.session_state.get(_seen_key(key), 0)


def listener(key: str, accept: Callable[[Any], None] | None) -> Callable[[], None]:
    """A Streamlit callback that hands the choice to `accept`, before the script runs again.

    `accept` receives the raw JSON value and must ignore what it does not know: a browser may hold an older
    page.
    """

    def receive() -> None:
        message = st.session_state[key].get(EVENT)
        if not isinstance(message, dict) or not isinstance(message.get("n"), int):
            return
        if message["n"] == seen(key):  # the browser repeats its state after a page change; the choice is old
            return
        st.session_state[_seen_key(key)] = message["n"]
        if accept is not None:
            accept(message.get("at"))

    return receive


def is_index(value: Any, size: int) -> bool:
    """True for an int (not a bool) in 0..size-1. Example: `is_index(2, 3)` is True, `is_index(3, 3)` is
    False."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size


def _seen_key(key: str) -> str:
    return f"_seen_{key}"
