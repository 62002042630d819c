"""Matrix: exact numbers on the wire, and what is refused."""

import numpy as np
import pytest

from minigpt.ui.components.matrix import content
from minigpt.ui.components.packing import pack
from tests.ui.components.payloads import unpack

SQUARE = np.array([[0.1, -2.0], [1e-300, 3.0000000000000004]])


def sent(values, **changes):
    table = np.asarray(values)
    options = {"label": "m", "palette": "signed", "limit": None, "masked": None, "exact": None, **changes}
    options.setdefault("rows", [str(r) for r in range(table.shape[0])])
    options.setdefault("columns", [str(c) for c in range(table.shape[1])])
    header, arrays = content(table, **options)
    return unpack(pack(header, arrays, {}))


def test_float64_keeps_each_bit():
    header, arrays = sent(SQUARE)
    assert header["arrays"]["values"][0] == "f8"
    assert arrays["values"].tobytes() == SQUARE.tobytes()


def test_float32_keeps_each_bit_and_its_size():
    small = SQUARE.astype(np.float32)
    header, arrays = sent(small)
    assert header["arrays"]["values"][0] == "f4"
    assert arrays["values"].tobytes() == small.tobytes()


def test_nan_and_infinities_arrive():
    _, arrays = sent(np.array([[np.nan, -np.inf, np.inf]]))
    assert np.isnan(arrays["values"][0]) and arrays["values"][1:].tolist() == [-np.inf, np.inf]


def test_a_transposed_view_arrives_row_by_row():
    _, arrays = sent(SQUARE.T)
    assert arrays["values"].tolist() == [0.1, 1e-300, -2.0, 3.0000000000000004]


def test_repeated_labels_stay_separate():
    header, _ = sent(SQUARE, rows=["the", "the"], columns=["<b>", "<b>"])
    assert header["rows"] == ["the", "the"] and header["columns"] == ["<b>", "<b>"]


def test_limit_is_the_largest_visible_finite_value():
    values = np.array([[1.0, -2.0, -np.inf, np.nan, 9.0]])
    masked = np.array([[False, False, False, False, True]])
    assert sent(values, masked=masked)[0]["limit"] == 2.0


def test_limit_of_shares_is_one():
    assert sent(SQUARE, palette="attention")[0]["limit"] == 1.0
    assert sent(SQUARE, palette="probability")[0]["limit"] == 1.0


def test_mask_and_exact_travel_beside_the_values():
    _, arrays = sent(np.zeros((1, 2), np.float32), masked=np.array([[False, True]]), exact=np.array([[0.1, 0.2]]))
    assert arrays["masked"].tolist() == [0, 1] and arrays["exact"].tolist() == [0.1, 0.2]


def test_version_ignores_the_selection_only():
    header, arrays = content(
        SQUARE, label="m", rows="ab", columns="cd", palette="signed", limit=None, masked=None, exact=None
    )
    versions = [unpack(pack(header, arrays, {"selected": at}))[0]["version"] for at in ((0, 0), (1, 1))]
    other = unpack(pack(header, {"values": SQUARE + 1}, {"selected": (0, 0)}))[0]["version"]
    assert versions[0] == versions[1] != other


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": ["a"]}, r"row labels, 1, and of column labels, 2, must be the shape of values, \(2, 2\)"),
        ({"palette": "rainbow"}, "palette is 'rainbow'; allowed are signed, attention, probability"),
        ({"limit": 0.0}, "limit is 0.0; allowed are finite numbers above 0"),
        ({"limit": float("inf")}, "limit is inf"),
        ({"masked": np.zeros((2, 3), bool)}, r"masked has shape \(2, 3\); it must be \(2, 2\)"),
        ({"masked": np.zeros((2, 2))}, "masked has dtype float64; it must be bool"),
        ({"exact": np.zeros((1, 2))}, r"exact has shape \(1, 2\)"),
        ({"exact": np.array([["a", "b"]] * 2)}, "exact has dtype <U1; it must be real numbers"),
    ],
)
def test_disagreements_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        sent(SQUARE, **changes)
