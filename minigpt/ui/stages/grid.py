"""The numbers of one stage at one position as a table of cells: vectors in rows, heads by keys or coordinates."""

from dataclasses import dataclass

import numpy as np

from minigpt.inspection.stages import Coordinate, StageSpec, spec_of
from minigpt.model.trace import Stage
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View

ROW, LONG_ROW = 16, 32  # numbers in a row of a vector; the long one from 256 numbers on
MOST = 1024  # numbers of a vector on screen; longer ones show the part around the chosen number


@dataclass(frozen=True)
class Grid:
    """What the matrix component draws, and how its cells map to coordinates of the stage."""

    values: np.ndarray  # (R, C) float of the model's dtype; NaN where a vector has ended
    rows: list[str]
    columns: list[str]
    palette: str
    masked: np.ndarray | None = None  # (R, C) bool
    row_title: str = ""
    column_title: str = ""
    flat: bool = True  # a vector, row after row
    first: int = 0  # coordinate of the first cell of a vector
    size: int = 0  # numbers of the vector, on screen or not

    @property
    def whole(self) -> bool:
        """Whether all numbers are on screen."""
        return self.size <= MOST

    def cell(self, place: Coordinate) -> tuple[int, int]:
        """Row and column of a coordinate."""
        return place if isinstance(place, tuple) else divmod(place - self.first, self.values.shape[1])

    def place(self, row: int, column: int) -> Coordinate:
        """The coordinate of a cell."""
        return self.first + row * self.values.shape[1] + column if self.flat else (row, column)


def grid(view: View, stage: Stage, place: Coordinate) -> Grid:
    """The cells of `stage` at the view's position; `place` is the chosen number, which is always on screen.

    Keys are those of the record: padding slots are hidden from every query and not drawn. Scores come before the
    mask: those of later keys are drawn as any other.
    """
    spec, values = spec_of(stage), stage.at(view.position).numpy()
    if spec.family == "key":
        return _keys(view, spec, values[:, : view.length])
    if values.ndim == 2:
        heads = [t("head {head}", head=head) for head in range(len(values))]
        return Grid(values, heads, _numbers(0, values.shape[1]), "signed", column_title=t("number"), flat=False)
    assert isinstance(place, int)
    return _vector(values, place)


def _keys(view: View, spec: StageSpec, values: np.ndarray) -> Grid:
    visible = view.trace.blocks[view.block].visible.at(view.position).numpy()[:, : view.length]
    heads = [t("head {head}", head=head) for head in range(len(values))]
    return Grid(
        values=values.astype(np.float64) if spec.boolean else values,
        rows=heads if spec.by_head else [t("all heads")],
        columns=[f"{key} {label}" for key, label in enumerate(view.labels)],
        palette="attention" if spec.masked else "signed",
        masked=~np.broadcast_to(visible, values.shape) if spec.masked else None,
        column_title=t("key"),
        flat=False,
    )


def _vector(values: np.ndarray, place: int) -> Grid:
    width = ROW if len(values) <= 256 else LONG_ROW
    first = place // MOST * MOST
    part = values[first : first + MOST]
    rows = -(-len(part) // width)
    cells = np.full(rows * width, np.nan, values.dtype)
    cells[: len(part)] = part
    width = min(width, len(part))
    starts = [str(first + row * width) for row in range(rows)] if rows > 1 else [""]
    return Grid(
        values=cells[: rows * width].reshape(rows, width),
        rows=starts,
        columns=_numbers(0, width),
        palette="signed",
        row_title=t("from") if rows > 1 else "",
        column_title=t("number"),
        first=first,
        size=len(values),
    )


def _numbers(first: int, count: int) -> list[str]:
    return [str(number) for number in range(first, first + count)]
