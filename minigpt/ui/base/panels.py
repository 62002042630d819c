"""Panels that are drawn only while they are open: a closed one would still cost the browser a redraw at each click."""

from collections.abc import Callable

import streamlit as st


def tabs(panels: dict[str, Callable[[], object]], key: str) -> None:
    """Panels beside each other, by title; the open one is drawn."""
    for tab, draw in zip(st.tabs(list(panels), key=key, on_change="rerun"), panels.values(), strict=True):
        if tab.open:
            with tab:
                draw()
