"""The cache comparison: the same text either way, equal logits, sums that add up."""

import pytest

from minigpt.generation.cost import CostStep, compare_costs, summarize
from minigpt.inspection.sources import load_source


@pytest.mark.parametrize("name", ["mini-gpt", "chapter-7"])
def test_both_ways_say_the_same(name: str):
    model, _ = load_source(name, 0)
    steps = list(compare_costs(model, [256, 84, 104], 40))
    assert [step.length for step in steps] == list(range(3, 43))
    assert [step.prefill for step in steps] == [True] + [False] * 39
    limit = 1e-12 if model.config.dtype == "float64" else 1e-5
    assert all(step.difference <= limit and step.cached_seconds > 0 < step.uncached_seconds for step in steps)


def test_every_eighth_token_is_read_again():
    model, _ = load_source("mini-gpt", 0)
    steps = list(compare_costs(model, [256], 20, uncached_every=8))
    assert [i for i, step in enumerate(steps) if step.uncached_seconds is not None] == [0, 8, 16]


def test_the_last_position_is_reached_and_not_passed():
    model, _ = load_source("mini-gpt", 0)
    assert list(compare_costs(model, [256] * 60, 5))[-1].length == 64
    for ids, tokens in (([256] * 60, 6), ([], 3), ([256], 0)):
        sentence = f"at most 65 of both together, got {len(ids)} ids and {tokens} new tokens"
        with pytest.raises(ValueError, match=sentence):
            compare_costs(model, ids, tokens)


def test_the_summary_adds_up():
    steps = [
        CostStep(4, True, 0.5, 0.5, 1e-15),
        CostStep(5, False, 0.1, None, None),
        CostStep(6, False, 0.2, 1.0, 3e-15),
        CostStep(7, False, 0.1, 0.5, 0.0),
    ]
    found = summarize(steps)
    assert (found.tokens, found.prefill_seconds, found.difference) == (4, 0.5, 3e-15)
    assert found.decode_seconds == pytest.approx(0.15) and found.uncached_seconds == 0.75
    assert found.ratio == pytest.approx(2.0 / 0.8)
    nothing = summarize([])
    assert (nothing.tokens, nothing.ratio, nothing.decode_seconds, nothing.prefill_seconds) == (0, None, None, None)
