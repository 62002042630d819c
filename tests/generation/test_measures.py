"""Measures against hand-computed numbers and slow, obvious versions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigpt.generation.measures import (
    distinct_n,
    entropy,
    first_difference,
    mean_surprise,
    repeated_ngram_rate,
)


def test_distinct_and_repeated_by_hand():
    assert distinct_n([5, 6, 5, 6], 1) == 2 / 4
    assert distinct_n([5, 6, 5, 6], 2) == 2 / 3
    assert repeated_ngram_rate([5, 6, 5, 6], 2) == pytest.approx(1 / 3, abs=1e-15)
    assert distinct_n("abab", 3) == 1.0 and repeated_ngram_rate("abab", 3) == 0.0
    assert distinct_n([9] * 10, 1) == 0.1 and repeated_ngram_rate([9] * 10, 1) == 0.9


def test_too_short_texts_have_no_rate():
    assert distinct_n([], 1) is None
    assert distinct_n([1], 2) is None
    assert repeated_ngram_rate([1, 2], 3) is None
    assert distinct_n([1, 2, 3], 3) == 1.0


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_ngram_length_is_checked(n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
        distinct_n([1, 2], n)


@given(st.lists(st.integers(0, 3), min_size=3), st.integers(1, 3))
def test_repeated_rate_counts_ngrams_seen_before(ids, n):
    grams = [ids[start : start + n] for start in range(len(ids) - n + 1)]
    seen_before = sum(gram in grams[:place] for place, gram in enumerate(grams))
    assert repeated_ngram_rate(ids, n) == pytest.approx(seen_before / len(grams), abs=1e-12)


def test_mean_surprise_by_hand():
    assert mean_surprise([0.5, 0.25]) == pytest.approx(1.5 * math.log(2), abs=1e-15)
    assert mean_surprise([1.0]) == 0.0
    assert math.copysign(1, mean_surprise([1.0])) == 1.0  # not -0.0 on screen
    assert mean_surprise([]) is None


@pytest.mark.parametrize("value", [0.0, -0.1, 1.1, math.nan])
def test_surprise_refuses_what_is_no_probability(value):
    with pytest.raises(ValueError, match="probability 1 must be above 0 and at most 1, got"):
        mean_surprise([0.5, value])


def test_entropy_by_hand():
    assert entropy([0.5, 0.5, 0.0]) == pytest.approx(math.log(2), abs=1e-15)
    assert entropy(np.full(291, 1 / 291)) == pytest.approx(math.log(291), abs=1e-12)
    assert math.copysign(1, entropy([0.0, 1.0])) == 1.0


@pytest.mark.parametrize("values", [[0.5, 0.6], [1.5, -0.5], [math.nan, 1.0], [[0.5, 0.5]], []])
def test_entropy_refuses_what_is_no_distribution(values):
    with pytest.raises(ValueError, match="probabilities must have the shape .*, got"):
        entropy(values)


def test_first_difference_by_hand():
    assert first_difference([[1, 2, 3], [1, 2, 4]]) == 2
    assert first_difference([[1, 2], [1, 2, 3]]) == 2
    assert first_difference([[1, 2, 3], [1, 2, 3], [9]]) == 0
    assert first_difference([[], [1]]) == 0
    assert first_difference([[1, 2], [1, 2], [1, 2]]) is None
    assert first_difference([[1, 2]]) is None
    assert first_difference([[], []]) is None
    with pytest.raises(ValueError, match="at least one token list is needed"):
        first_difference([])
