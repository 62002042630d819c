"""How many readers of this server watch runs at this moment."""

import time

import streamlit as st

RECENT = 15.0  # seconds since a reader's last look; longer than any pause between two
OWN = "watching_as"  # session: the reader's own entry


@st.cache_resource(show_spinner=False)
def _looks() -> dict[object, float]:
    """When each reader looked last, all sessions together."""
    return {}


def readers() -> int:
    """Note that this session looks at a run; how many did so lately, this one included."""
    looks, now = _looks(), time.monotonic()
    looks[st.session_state.setdefault(OWN, object())] = now
    for reader, last in list(looks.items()):
        if now - last > RECENT:
            looks.pop(reader, None)
    return len(looks)
