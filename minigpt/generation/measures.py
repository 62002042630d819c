"""Numbers about generated texts: repetition, distinctness, surprise, entropy, and where texts begin to differ.

Rates are None where they are undefined (a text shorter than n has no n-grams); they are never guessed.
"""

import math
from collections.abc import Sequence

import numpy as np

from minigpt.sentences import Refusal
from minigpt.validation import check_int


def distinct_n(items: Sequence, n: int) -> float | None:
    """Distinct n-grams / all n-grams of a sequence (token ids, characters); None if it has none.

    1.0 means that nothing repeats. Raises ValueError unless n is 1 or more.
    Source: Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models".

    Example: distinct_n([5, 6, 5, 6], 2) == 2 / 3.
    """
    check_int("n", n, least=1)
    total = len(items) - n + 1
    if total < 1:
        return None
    return len({tuple(items[start : start + n]) for start in range(total)}) / total


def repeated_ngram_rate(items: Sequence, n: int) -> float | None:
    """The fraction of all n-grams that occurred earlier in the same sequence; None if it has none.

    Source: Welleck et al. 2020, "Neural Text Generation with Unlikelihood Training" (seq-rep-n).

    Example: repeated_ngram_rate([5, 6, 5, 6], 2) == 1 / 3, since (5, 6) comes a second time.
    """
    distinct = distinct_n(items, n)
    return None if distinct is None else 1.0 - distinct


def mean_surprise(chosen: Sequence[float]) -> float | None:
    """The mean of -ln p over the probabilities that the drawn tokens had, in nats; None for none.

    Give the raw probabilities to compare columns: after top-k or greedy the filtered ones say little (greedy: 0).
    Raises ValueError for a probability outside (0, 1].

    Example: mean_surprise([0.5, 0.25]) == 1.5 * ln 2.
    """
    for place, probability in enumerate(chosen):
        if not 0.0 < probability <= 1.0:
            raise Refusal(
                "probability {place} must be above 0 and at most 1, got {probability!r}",
                place=place,
                probability=probability,
            )
    if len(chosen) == 0:
        return None
    return sum(abs(math.log(probability)) for probability in chosen) / len(chosen)


def entropy(probabilities: Sequence[float] | np.ndarray) -> float:
    """-sum p ln p of one distribution (V,), in nats; 0 ln 0 counts as 0.

    Raises ValueError unless the numbers are from 0 to 1 and sum to 1 within 1e-4.

    Example: entropy([0.5, 0.5, 0.0]) == ln 2.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    total = float(values.sum())
    if values.ndim != 1 or not abs(total - 1.0) <= 1e-4 or values.min() < 0.0:
        raise Refusal(
            "probabilities must have the shape (V,), be at least 0 and sum to 1, got shape {shape} and sum {total:g}",
            shape=values.shape,
            total=total,
        )
    positive = values[values > 0.0]
    return abs(float((positive * np.log(positive)).sum()))


def first_difference(token_lists: Sequence[Sequence[int]]) -> int | None:
    """The first index at which the lists are not all the same, None if there is none.

    A list that ends where others continue differs from them at its length. Raises ValueError for no lists.

    Example: first_difference([[1, 2, 3], [1, 2, 4]]) == 2; first_difference([[1], [1, 2]]) == 1.
    """
    if len(token_lists) == 0:
        raise Refusal("at least one token list is needed, got none")
    shortest = min(len(ids) for ids in token_lists)
    first = token_lists[0]
    for index in range(shortest):
        if any(ids[index] != first[index] for ids in token_lists):
            return index
    return None if all(len(ids) == shortest for ids in token_lists) else shortest
