"""The small tables of the models page: whole at any width, as their words wrap."""

import pandas as pd

from minigpt.ui.components.table import Column, table


def draw(frame: pd.DataFrame, words: tuple[str, ...], *, key: str, label: str) -> None:
    """The cells of `frame`, all texts: columns named in `words` wrap, the others stand at the right, unbroken."""
    columns = [Column(name, frame[name].tolist(), "words" if name in words else "number") for name in frame.columns]
    table(columns, key=key, label=label, height=600)
