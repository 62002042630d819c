"""Gallery: levels of the thumbnails, and what is refused."""

import numpy as np
import pytest

from minigpt.ui.components.gallery import gallery, levels


def test_floats_become_the_nearest_of_256_levels():
    weights = np.array([0.0, 0.5, 1.0, 0.25]).reshape(1, 1, 2, 2)
    assert levels(weights).ravel().tolist() == [0, 128, 255, 64]


def test_uint8_passes_unchanged():
    weights = np.arange(4, dtype=np.uint8).reshape(1, 1, 2, 2)
    assert levels(weights) is weights


def test_a_rounded_float32_softmax_is_accepted():
    assert levels(np.full((1, 1, 1, 1), 1.0000002, np.float32)).item() == 255


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros((2, 2)), r"shape \(2, 2\); it must be \(blocks, heads, T, T\)"),
        (np.zeros((1, 2, 3, 4)), r"shape \(1, 2, 3, 4\)"),
        (np.zeros((1, 0, 3, 3)), "none of them 0"),
        (np.full((1, 1, 1, 1), 1.1), "run from 1.1 to 1.1; allowed are 0 to 1"),
        (np.full((1, 1, 1, 1), np.nan), "run from nan"),
        (np.zeros((1, 1, 1, 1), int), "dtype int64; allowed are uint8 and floats"),
    ],
)
def test_other_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        levels(weights)


@pytest.mark.parametrize("selected", [(1, 0), (0, 2), (0,), (0, -1), (0, True)])
def test_a_head_outside_is_refused(selected):
    with pytest.raises(ValueError, match=r"allowed are \(0..0, 0..1\)"):
        gallery(np.zeros((1, 2, 3, 3)), key="g", label="Heads", selected=selected, on_select=print)


def test_a_marked_row_outside_is_refused():
    with pytest.raises(ValueError, match="mark_row is 3; allowed are 0 to 2"):
        gallery(np.zeros((1, 1, 3, 3)), key="g", label="Heads", selected=(0, 0), on_select=print, mark_row=3)
