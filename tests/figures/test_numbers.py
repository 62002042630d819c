"""Numbers for people: short, and no certainty that is not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.figures.numbers import nats, percent, scientific


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.5, "50.0 %"),
        (0.0999, "9.99 %"),
        (0.003793843386, "0.379 %"),
        (0.00002, "0.00200 %"),
        (2.131e-11, "2.13·10⁻⁹ %"),
        (5e-324, "4.94·10⁻³²² %"),
        (0.9909, "99.09 %"),
        (0.99999987, "99.999987 %"),
        (1 - 2**-53, "99.99999999999999 %"),
    ],
)
def test_percent(share: float, text: str):
    assert percent(share) == text


@given(st.floats(0, 1))
def test_only_certainty_is_written_as_certainty(share: float):
    number = percent(share).removesuffix(" %")
    assert (number == "100") == (share == 1)
    assert (number == "0") == (share == 0)
    assert "<" not in number


@given(st.floats(1e-4, 1))
def test_percent_is_near(share: float):
    shown = percent(share).removesuffix(" %")
    assert float(shown) / 100 == pytest.approx(share, rel=0.0051)


def test_scientific_and_nats():
    assert scientific(0.000004213) == "4.21·10⁻⁶"
    assert (nats(5.574375688), nats(0.0), nats(4.213e-6)) == ("5.5744", "0.0000", "4.21·10⁻⁶")
