"""All attention heads at once, small, in one canvas: rows are blocks, columns are heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigpt.sentences import Refusal
from minigpt.ui.components import selection
from minigpt.ui.components.assets import component
from minigpt.ui.components.packing import pack
from minigpt.ui.components.texts import head_words

ROUNDING = 1e-5  # a float32 softmax may sum to a little more than 1
_GALLERY = component("gallery")


def gallery(
    weights: Any,
    *,
    key: str,
    label: str,
    selected: tuple[int, int],
    on_select: Callable[[int, int], None],
    mark_row: int | None = None,
    causal: bool = True,
) -> None:
    """Show attention weights (blocks, heads, T, T) as thumbnails, white to blue over 0..1.

    `weights` are uint8 (0..255 means 0..1) or floats in 0..1, sent as uint8: the thumbnails are for
    looking, `matrix` has the numbers. A click or the arrow keys call `on_select(block, head)` before the next
    script run; Python owns `selected`. `mark_row` points at one query in each head; `causal` grays the
    future, which a causal model cannot see. Raises ValueError for other shapes, values or positions. Example:
    `gallery(weights, key="heads", label="All heads", selected=(0, 1), on_select=choose)`.
    """
    heads = levels(weights)
    blocks, count, length, _ = heads.shape
    if not _is_head(heads, selected):
        raise Refusal(
            "selected is {selected!r}; allowed are (0..{last_block}, 0..{last_head})",
            selected=selected,
            last_block=blocks - 1,
            last_head=count - 1,
        )
    if mark_row is not None and not selection.is_index(mark_row, length):
        raise Refusal("mark_row is {mark_row!r}; allowed are 0 to {last} or None", mark_row=mark_row, last=length - 1)

    def accept(choice: Any) -> None:
        if _is_head(heads, choice):
            on_select(choice[0], choice[1])

    fixed = {"label": label, "shape": list(heads.shape), "causal": causal, "words": head_words()}
    changing = {"selected": selected, "markRow": mark_row, "seen": selection.seen(key)}
    data = pack(fixed, {"weights": heads}, changing)
    _GALLERY(key=key, data=data, on_choice_change=selection.listener(key, accept))


def levels(weights: Any) -> np.ndarray:
    """Weights as uint8 levels 0..255, checked. Example: `levels(np.full((1, 1, 1, 1), 0.5))` holds 128."""
    array = np.asarray(weights)
    if array.ndim != 4 or array.size == 0 or array.shape[2] != array.shape[3]:
        raise Refusal("weights have shape {shape}; it must be (blocks, heads, T, T), none of them 0", shape=array.shape)
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind != "f":
        raise Refusal("weights have dtype {dtype}; allowed are uint8 and floats", dtype=array.dtype)
    low, high = float(array.min()), float(array.max())
    if not (low >= -ROUNDING and high <= 1 + ROUNDING):
        raise Refusal("weights run from {low} to {high}; allowed are 0 to 1", low=low, high=high)
    return np.rint(array.clip(0, 1) * 255).astype(np.uint8)


def _is_head(heads: np.ndarray, choice: Any) -> bool:
    """True for a (block, head) pair of ints that exists."""
    pair = isinstance(choice, list | tuple) and len(choice) == 2
    return pair and all(selection.is_index(at, size) for at, size in zip(choice, heads.shape[:2], strict=True))
