"""The few words that the components show by themselves; the browser fills in what is still in braces."""

from __future__ import annotations

from minigpt.ui.base.text import t


def cell_words() -> dict[str, str]:
    """Words of a matrix: names of untitled axes, the mask, and the sentences read out for the selected cell."""
    slots = {name: f"{{{name}}}" for name in ("rowTitle", "r", "row", "columnTitle", "c", "column", "value")}
    return {
        "row": t("row"),
        "column": t("column"),
        "masked": t("hidden by the mask"),
        "speak": t("{rowTitle} {r}, {row}; {columnTitle} {c}, {column}; {value}", **slots),
        "speakMasked": t("{rowTitle} {r}, {row}; {columnTitle} {c}, {column}; {value}, hidden by the mask", **slots),
    }


def head_words() -> dict[str, str]:
    """Words of a gallery: the title of one head, and the headings of rows and columns when there are many."""
    return {
        "title": t("block {b}, head {h}", b="{b}", h="{h}"),
        "block": t("block {b}", b="{b}"),
        "head": t("head {h}", h="{h}"),
    }


def copy_words() -> dict[str, str]:
    """Words of a table's button."""
    return {"copy": t("Copy"), "copied": t("Copied")}
