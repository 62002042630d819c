"""Checks of single values at their bounds."""

import pytest

from minigpt.validation import check_choice, check_float, check_int


def test_values_at_the_bounds_pass():
    check_int("n", 3, least=3)
    check_int("n", 3, least=0, most=3)
    check_float("x", 0.5, least=0.5)
    check_float("x", 1, above=0, below=2)
    check_choice("kind", "a", ("a", "b"))


@pytest.mark.parametrize("value", [2, 2.0, "3", None, True, float("nan")])
def test_whole_below_or_of_another_kind(value):
    with pytest.raises(ValueError, match="n must be a whole number of at least 3, got"):
        check_int("n", value, least=3)


def test_whole_above():
    with pytest.raises(ValueError, match="n must be a whole number from 0 to 3, got 4"):
        check_int("n", 4, least=0, most=3)


@pytest.mark.parametrize("value", [0, 1, -1, float("inf"), float("nan"), "0.5", None, True])
def test_number_outside(value):
    with pytest.raises(ValueError, match="x must be a finite number above 0 and below 1, got"):
        check_float("x", value, above=0, below=1)


def test_number_below_the_least():
    with pytest.raises(ValueError, match="x must be a finite number of at least 0, got -1e-09"):
        check_float("x", -1e-9, least=0)


def test_one_of_is_strict_about_types():
    with pytest.raises(ValueError, match="flag must be one of True, False, got 1"):
        check_choice("flag", 1, (True, False))
