"""The few words the canvas components speak by themselves; `{names}` are filled in by the browser."""

from __future__ import annotations


def cell_words() -> dict[str, str]:
    """Words of a matrix: names for untitled axes, the mask, and the sentence read out for the selected
    cell."""
    return {
        "row": "row",
        "column": "column",
        "masked": "masked, not a zero",
        "speak": "{rowTitle} {r}, {row}; {columnTitle} {c}, {column}; {value} {mask}",
    }
