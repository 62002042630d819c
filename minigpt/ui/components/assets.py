"""Turn a component's `.js` and `.css` files, behind the shared ones, into one Streamlit component."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

FOLDER = Path(__file__).parent


def component(name: str) -> ComponentRenderer:
    """Register `<name>.js` and `<name>.css`, each after its shared part, and return the mounting function.

    Streamlit sends the source with every update, so it is compacted first. Raises FileNotFoundError when a
    file is missing. Example: `CHIPS = component("chips")`, then `CHIPS(key="k", data={...})`.
    """
    return st.components.v2.component(
        f"minigpt.{name}",
        html='<div class="root"></div>',
        js=source(name, "js"),
        css=source(name, "css"),
    )


def source(name: str, kind: str) -> str:
    """Shared part and own part of one kind ("js" or "css") as one compact text; it always holds a newline."""
    parts = [(FOLDER / f"{stem}.{kind}").read_text(encoding="utf-8") for stem in ("shared", name)]
    return compact("\n".join(parts))


def compact(text: str) -> str:
    """Drop indentation, blank lines and whole-line `//` comments; the files hold no multi-line strings.

    Example: `compact("a;\\n\\n  // why\\n  b;\\n")` is `"a;\\nb;\\n"`.
    """
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"
