"""Draws: only possible ids, reproducible, and without touching anyone else's randomness."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from minigpt.generation.drawing import (
    DiceDraw,
    draw,
    draw_greedy,
    draw_with_dice,
    new_generator,
    throw_dice,
)
from minigpt.generation.filters import FilterTrace, filter_trace, forbidden_mask, next_token_probabilities
from minigpt.generation.settings import PRESETS, SampleConfig

torch.set_num_threads(1)
LAST_U = math.nextafter(1.0, 0.0)


def drawn(trace: FilterTrace, generator: torch.Generator) -> torch.Tensor:
    """An id as `generate` draws it from the distribution of a trace."""
    return draw_greedy(trace.probabilities) if trace.greedy else draw(trace.probabilities, generator)


def random_logits(vocab_size, seed):
    return torch.randn(vocab_size, generator=new_generator(seed), dtype=torch.float64)


def test_ten_thousand_draws_stay_in_the_kept_set():
    mask = forbidden_mask(291, [256, 258], tokenizer_size=280)
    chain = filter_trace(torch.zeros(291), SampleConfig(top_k=100), mask)
    generator = new_generator(31415)
    drawn = draw(chain.probabilities.expand(10_000, -1), generator)
    assert drawn.shape == (10_000,) and drawn.dtype == torch.int64
    assert set(drawn.tolist()) == set(range(100))  # ties: the lowest ids; each is drawn about 100 times


def test_two_thousand_tokens_without_bos_and_pad():
    logits, mask = torch.zeros(291, dtype=torch.float64), forbidden_mask(291, [256, 258])
    chain, generator = filter_trace(logits, SampleConfig(), mask), new_generator(7)
    blocked = [int(drawn(chain, generator)) for _ in range(2_000)]
    assert not {256, 258} & set(blocked) and 257 in blocked
    free = draw(torch.full((2_000, 291), 1 / 291), new_generator(7))
    assert {256, 258} & set(free.tolist())  # what the mask prevents


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_draws_are_the_plain_multinomial_calls_of_the_contract(dtype):
    ours, plain = new_generator(31415), torch.Generator().manual_seed(31415)
    for step in range(200):
        probabilities = random_logits(291, step).to(dtype).softmax(-1)
        expected = torch.multinomial(probabilities, 1, generator=plain).item()
        assert draw(probabilities, ours).item() == expected
    assert torch.equal(ours.get_state(), plain.get_state())


def test_sampled_frequencies_follow_the_probabilities():
    probabilities = torch.tensor([0.5, 0.0, 0.3, 0.2], dtype=torch.float64)
    drawn = draw(probabilities.expand(20_000, -1), new_generator(3))
    shares = torch.bincount(drawn, minlength=4).double() / 20_000
    assert shares[1] == 0
    assert torch.allclose(shares, probabilities, atol=0.015)


def test_shapes_follow_the_batch():
    assert draw(torch.tensor([0.0, 1.0]), new_generator(1)).shape == ()
    assert draw(torch.full((2, 3, 4), 0.25), new_generator(1)).shape == (2, 3)
    assert draw_greedy(torch.full((2, 3, 4), 0.25)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_greedy_uses_no_random_number():
    generator = new_generator(7)
    before = generator.get_state()
    chain = filter_trace(torch.tensor([5.0, 5.0, 0.0]), SampleConfig(temperature=0))
    assert drawn(chain, generator).item() == 0
    assert torch.equal(generator.get_state(), before)
    drawn(filter_trace(torch.tensor([5.0, 5.0, 0.0]), SampleConfig()), generator)
    assert not torch.equal(generator.get_state(), before)


def test_columns_do_not_disturb_each_other_nor_the_global_state():
    column = SampleConfig(temperature=0.8, seed=7)

    def texts(order):
        generators = {name: new_generator(column.seed) for name in order}
        chosen = {name: [] for name in order}
        for step in range(30):
            for name in order:
                settings = PRESETS["greedy"] if name == "A" else column
                chain = filter_trace(random_logits(291, step), settings)
                chosen[name].append(int(drawn(chain, generators[name])))
        return chosen

    before = torch.random.get_rng_state()
    alone, three, reordered = texts("B"), texts("ABC"), texts("CAB")
    assert alone["B"] == three["B"] == three["C"] == reordered["B"] == reordered["C"]
    assert three["A"] == reordered["A"] != three["B"]
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("impossible", [1, 3, -1])
def test_an_impossible_id_is_rejected(monkeypatch, impossible):
    monkeypatch.setattr(torch, "multinomial", lambda rows, count, generator: torch.tensor([[impossible]]))
    probabilities = torch.tensor([0.5, 0.0, 0.5])
    with pytest.raises(ValueError, match=rf"drawn ids must have a probability above 0, got \[{impossible}\]"):
        draw(probabilities, new_generator(1))


@pytest.mark.parametrize(
    "probabilities",
    [
        torch.tensor([0.5, math.nan]),
        torch.tensor([0.5, 0.6]),
        torch.tensor([1.5, -0.5]),
        torch.tensor([0.0, 0.0]),
        torch.tensor([1.0, math.inf]),
        torch.tensor([1, 0]),
        torch.tensor([0.5, 0.5], dtype=torch.bfloat16),
        torch.tensor(1.0),
        torch.zeros(0),
    ],
)
def test_what_is_no_distribution_is_refused_before_drawing(probabilities):
    generator = new_generator(1)
    before = generator.get_state()
    for run in (lambda: draw(probabilities, generator), lambda: draw_greedy(probabilities)):
        with pytest.raises(ValueError, match="probabilities must .*, got "):
            run()
    with pytest.raises(ValueError, match="probabilities must .*, got "):
        draw_with_dice(probabilities, 0.5)
    assert torch.equal(generator.get_state(), before)


# Same dice


def test_dice_by_hand():
    bar = torch.tensor([0.0, 0.5, 0.0, 0.25, 0.25, 0.0])
    assert draw_with_dice(bar, 0.0) == DiceDraw(1, 0.0, 0.5)
    assert draw_with_dice(bar, 0.49) == DiceDraw(1, 0.0, 0.5)
    assert draw_with_dice(bar, 0.5) == DiceDraw(3, 0.5, 0.75)
    assert draw_with_dice(bar, 0.75) == DiceDraw(4, 0.75, 1.0)
    assert draw_with_dice(bar, LAST_U) == DiceDraw(4, 0.75, 1.0)


@pytest.mark.parametrize("u", [-0.1, 1.0, 1.5, math.nan, "0.5", True, None])
def test_a_bad_throw_is_refused(u):
    with pytest.raises(ValueError, match="u must be a number of at least 0 and below 1, got"):
        draw_with_dice(torch.tensor([0.5, 0.5]), u)


def test_dice_take_one_distribution():
    with pytest.raises(ValueError, match=r"must have the shape \(V,\), got \(2, 2\)"):
        draw_with_dice(torch.full((2, 2), 0.5), 0.5)


@given(
    st.lists(st.sampled_from([0.0, 0.0, 1e-30, 1e-9, 0.1, 1.0, 3.0]), min_size=1, max_size=20).filter(any),
    st.one_of(st.sampled_from([0.0, LAST_U, 0.5]), st.floats(0, 1, exclude_max=True)),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_dice_never_choose_a_token_of_probability_zero(weights, u, dtype):
    probabilities = torch.tensor(weights, dtype=dtype) / sum(weights)
    drawn = draw_with_dice(probabilities, u)
    assert probabilities[drawn.token_id] > 0
    assert drawn.low <= u < drawn.high
    exact = probabilities.double()
    share = (exact[drawn.token_id] / exact.sum()).item()
    assert drawn.high - drawn.low == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("u", [0.0, 1e-300, 0.5, LAST_U])
def test_dice_over_a_large_filtered_vocabulary(u):
    logits = random_logits(50_257, 1).float()
    probabilities = next_token_probabilities(logits, SampleConfig(top_k=50))
    drawn = draw_with_dice(probabilities, u)
    assert probabilities[drawn.token_id] > 0 and drawn.low <= u < drawn.high


def test_same_dice_give_the_same_token_to_the_same_distribution():
    generator = new_generator(7)
    throws = [throw_dice(generator) for _ in range(1_000)]
    assert throws == [throw_dice(again) for again in [new_generator(7)] for _ in range(1_000)]
    assert all(0 <= u < 1 for u in throws)
    probabilities = torch.tensor([0.2, 0.0, 0.8])
    share = sum(draw_with_dice(probabilities, u).token_id == 0 for u in throws) / 1_000
    assert share == pytest.approx(0.2, abs=0.05)
