"""The few words the canvas components speak by themselves; `{names}` are filled in by the browser."""

from __future__ import annotations

from minigpt.ui.base.text import t


def cell_words() -> dict[str, str]:
    """Words of a matrix: names of untitled axes, the mask, and the sentence read out for the selected cell."""
    sentence = "{rowTitle} {r}, {row}; {columnTitle} {c}, {column}; {value} {mask}"
    return {
        "row": t("row"),
        "column": t("column"),
        "masked": t("hidden by the mask"),
        "speak": _template(sentence, "rowTitle", "r", "row", "columnTitle", "c", "column", "value", "mask"),
    }


def head_words() -> dict[str, str]:
    """Words of a gallery: the title of one head, and the headings of rows and columns when there are many."""
    return {
        "title": _template("block {b}, head {h}", "b", "h"),
        "block": _template("block {b}", "b"),
        "head": _template("head {h}", "h"),
    }


def _template(sentence: str, *names: str) -> str:
    """The sentence in the reader's language with its `{names}` still in it."""
    return t(sentence, **{name: f"{{{name}}}" for name in names})
