"""The filters by hand, against slow obvious versions, and as properties."""

import dataclasses
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from minigpt.generation.filters import (
    FilterTrace,
    apply_temperature,
    filter_trace,
    forbid,
    forbidden_mask,
    keep_top_k,
    keep_top_p,
    next_token_probabilities,
    rank_of,
)
from minigpt.generation.settings import PRESETS, SampleConfig

torch.set_num_threads(1)
INF = math.inf


def floats(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)


def marked(mask):
    return set(mask.nonzero().flatten().tolist())


def random_logits(vocab_size, seed, dtype=torch.float32, std=1.0):
    return torch.randn(vocab_size, generator=torch.Generator().manual_seed(seed), dtype=dtype) * std


# Few different values make ties; near ones are told apart only before rounding.
values = st.sampled_from([0.0, 1.0, 1.0, 2.0, -3.0, 1e-20, 2e-20, 5.0, -INF])
rows = st.lists(values, min_size=1, max_size=12).filter(lambda row: max(row) > -INF)
settings_strategy = st.builds(
    SampleConfig,
    temperature=st.sampled_from([0.0, 1e-40, 0.1, 0.8, 1.0, 3.0, 1e300]),
    top_k=st.integers(0, 14),
    top_p=st.floats(1e-9, 1.0),
)


# Forbidden ids


def test_forbidden_mask_by_hand():
    assert marked(forbidden_mask(6, [1], tokenizer_size=4)) == {1, 4, 5}
    assert marked(forbidden_mask(291, [256, 258])) == {256, 258}
    assert marked(forbidden_mask(3, [])) == set()


def test_forbidden_mask_refuses_ids_and_sizes_outside_the_vocabulary():
    with pytest.raises(ValueError, match="a forbidden id must be 0 to 5, got 6"):
        forbidden_mask(6, [6])
    with pytest.raises(ValueError, match="a forbidden id must be 0 to 5, got -1"):
        forbidden_mask(6, [-1])
    with pytest.raises(ValueError, match="the tokenizer size must be 1 to 6, .*got 7"):
        forbidden_mask(6, [], tokenizer_size=7)
    with pytest.raises(ValueError, match="the tokenizer size must be 1 to 6, .*got 0"):
        forbidden_mask(6, [], tokenizer_size=0)


def test_forbid_by_hand_and_leaves_its_input_alone():
    logits = floats(2, 1, 0)
    assert forbid(logits, forbidden_mask(3, [0])).tolist() == [-INF, 1, 0]
    assert logits.tolist() == [2, 1, 0]
    assert forbid(logits, None) is logits


@pytest.mark.parametrize("mask", [torch.tensor([0, 2]), torch.zeros(4, dtype=torch.bool), torch.zeros(3)])
def test_forbid_refuses_other_masks(mask):
    with pytest.raises(ValueError, match=r"forbidden must be a bool tensor of shape \(3,\), got"):
        forbid(floats(2, 1, 0), mask)


def test_forbidden_ids_have_no_probability_and_the_rest_sums_to_one():
    logits = torch.zeros(300, dtype=torch.float64)
    chain = filter_trace(logits, SampleConfig(), forbidden_mask(300, [256, 258], tokenizer_size=291))
    assert marked(chain.probabilities == 0) == {256, 258, *range(291, 300)}
    assert chain.probabilities[257] == pytest.approx(1 / 289, abs=1e-15)  # EOS stays
    assert chain.raw_probabilities[256] == pytest.approx(1 / 300, abs=1e-15)  # raw: the whole vocabulary
    assert chain.probabilities.sum().item() == pytest.approx(1, abs=1e-12)


def test_forbidden_best_token_does_not_take_a_place_in_top_k_or_mass_in_top_p():
    logits = floats(9, 2, 1, 0)
    mask = forbidden_mask(4, [0])
    assert marked(filter_trace(logits, SampleConfig(top_k=2), mask).kept_top_k) == {1, 2}
    assert marked(filter_trace(logits, SampleConfig(top_p=0.6), mask).kept_top_p) == {1}


# Temperature


def test_temperature_by_hand():
    assert apply_temperature(floats(2, 1, 0), 0.5).tolist() == [0, -2, -4]
    assert apply_temperature(floats(2, 1, 0), 1).tolist() == [0, -1, -2]
    assert apply_temperature(floats(2, -INF, 0), 2).tolist() == [0, -INF, -1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [0, 5e-324, 1e-40, 1e-4])
def test_tiny_temperatures_give_the_best_token_and_never_nan(temperature, dtype):
    chain = filter_trace(floats(2, 1, 0, dtype=dtype), SampleConfig(temperature=temperature))
    assert chain.probabilities.tolist() == [1, 0, 0]
    assert chain.greedy == (temperature == 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_huge_temperature_is_uniform_over_what_is_allowed(dtype):
    logits, mask = floats(2, 1, 0, dtype=dtype), forbidden_mask(3, [1])
    chain = filter_trace(logits, SampleConfig(temperature=1e300), mask)
    assert chain.probabilities.tolist() == [0.5, 0, 0.5]


def test_greedy_ties_go_to_the_lowest_id_but_equal_logits_stay_equal_above_zero():
    assert apply_temperature(floats(0, 5, 5), 0).tolist() == [-INF, 0, -INF]
    assert apply_temperature(floats(0, 5, 5), 1e-40).softmax(-1).tolist() == [0, 0.5, 0.5]
    many = torch.zeros(50_257)
    many[[40_000, 7, 50_256]] = 3.0
    assert marked(filter_trace(many, SampleConfig(temperature=0)).probabilities) == {7}


@pytest.mark.parametrize("temperature", [-1, math.nan, INF, "0,7"])
def test_a_bad_temperature_is_refused_by_the_stage_too(temperature):
    with pytest.raises(ValueError, match="temperature must be a finite number of at least 0, got"):
        apply_temperature(floats(2, 1, 0), temperature)


@given(rows, st.sampled_from([0.1, 0.8, 1.0, 3.0]))
def test_temperature_equals_the_plain_softmax(row, temperature):
    chain = filter_trace(floats(*row), SampleConfig(temperature=temperature))
    top = max(row)
    weights = [math.exp((value - top) / temperature) for value in row]
    expected = [weight / sum(weights) for weight in weights]
    assert chain.probabilities.tolist() == pytest.approx(expected, abs=1e-14)


# Top-k


def test_top_k_by_hand():
    assert marked(keep_top_k(floats(1, 2, 2, 2, 3), 3)) == {4, 1, 2}
    assert marked(keep_top_k(floats(5, 5, 0), 1)) == {0}
    assert marked(keep_top_k(floats(5, -INF, 0, -INF), 3)) == {0, 2}  # only two remain


@pytest.mark.parametrize("k", [0, 291, 292, 100_000])
def test_top_k_off_or_larger_than_the_vocabulary_changes_nothing(k):
    logits = random_logits(291, 1)
    off = filter_trace(logits, SampleConfig())
    chain = filter_trace(logits, SampleConfig(top_k=k))
    assert torch.equal(chain.probabilities, off.probabilities)
    assert chain.kept_top_k.all()


def test_top_k_above_the_number_of_remaining_tokens_changes_nothing():
    logits, mask = random_logits(291, 1), forbidden_mask(291, [256, 258])
    off = filter_trace(logits, SampleConfig(), mask)
    assert torch.equal(filter_trace(logits, SampleConfig(top_k=290), mask).probabilities, off.probabilities)


@pytest.mark.parametrize("k", [-1, 2.5, True, "3"])
def test_a_bad_k_is_refused_by_the_stage_too(k):
    with pytest.raises(ValueError, match="top_k must be a whole number of at least 0, got"):
        keep_top_k(floats(2, 1, 0), k)


@given(rows, st.integers(1, 14))
def test_top_k_keeps_exactly_the_first_k_of_a_stable_sort(row, k):
    order = sorted(range(len(row)), key=lambda token_id: (-row[token_id], token_id))
    remaining = [token_id for token_id in order if row[token_id] > -INF]
    assert marked(keep_top_k(floats(*row), k)) == set(remaining[:k])


@given(rows, st.integers(1, 13), st.sampled_from([1e-3, 0.8, 1.0, 3.0, 1e200]))
def test_top_k_in_the_chain_ranks_before_the_rounding_of_temperature(row, k, temperature):
    chain = filter_trace(floats(*row), SampleConfig(temperature=temperature, top_k=k))
    assert marked(chain.kept_top_k) == marked(keep_top_k(floats(*row), k))


@pytest.mark.parametrize("temperature", [0.8, 1.0, 1e300])
def test_near_logits_are_not_tied_by_the_subtraction_of_the_best(temperature):
    logits = floats(0, 1e-20, 0, 5)  # 1e-20 - 5 is -5 in float64
    top_k = filter_trace(logits, SampleConfig(temperature=temperature, top_k=2))
    assert marked(top_k.kept_top_k) == {3, 1}
    p = (top_k.scaled_probabilities[3] + 1e-6).item()
    assert marked(filter_trace(logits, SampleConfig(temperature=temperature, top_p=p)).kept_top_p) == {3, 1}


def test_top_k_one_is_the_greedy_choice_even_for_near_ties():
    logits = floats(0, 1e-12, 3e-12, 2e-12, -7)
    for temperature in (0, 0.8, 1, 1e300):
        chain = filter_trace(logits, SampleConfig(temperature=temperature, top_k=1))
        assert chain.probabilities.tolist() == [0, 0, 1, 0, 0]


# Top-p


def test_top_p_by_hand():
    logits = floats(0.5, 0.3, 0.2).log()
    assert marked(keep_top_p(logits, 0.5)) == {0}
    assert marked(keep_top_p(logits, 0.51)) == {0, 1}
    assert marked(keep_top_p(logits, 0.8)) == {0, 1}
    assert marked(keep_top_p(logits, 0.81)) == {0, 1, 2}
    assert marked(keep_top_p(floats(0.2, 0.1, 0.7).log(), 0.9)) == {2, 0}
    assert marked(keep_top_p(floats(1, 1, 1, 1), 0.5)) == {0, 1}
    assert marked(keep_top_p(floats(0, -INF, 0), 0.99)) == {0, 2}


@pytest.mark.parametrize("vocab_size", [291, 50_257])
def test_a_tiny_p_keeps_only_the_best_token(vocab_size):
    logits = random_logits(vocab_size, 3)
    for p in (1e-8, 1e-13, 5e-324):
        assert marked(keep_top_p(logits, p)) == {int(logits.argmax())}


@pytest.mark.parametrize("vocab_size", [291, 50_257])
def test_p_of_one_is_off_bit_for_bit(vocab_size):
    for seed in range(20):
        logits = random_logits(vocab_size, seed, std=3.0)
        chain = filter_trace(logits, SampleConfig(top_p=1.0))
        assert chain.kept_top_p.all()
        assert torch.equal(chain.probabilities, (logits - logits.max()).softmax(-1))


@pytest.mark.parametrize("p", [0, 1.5, -0.1, math.nan])
def test_a_bad_p_names_the_range(p):
    with pytest.raises(ValueError, match=r"top_p must be a number above 0 and at most 1, got"):
        keep_top_p(floats(2, 1, 0), p)


@given(rows, st.floats(1e-9, 1.0, exclude_max=True))
def test_top_p_is_the_smallest_set_of_best_tokens_reaching_p(row, p):
    kept = marked(keep_top_p(floats(*row), p))
    weights = [math.exp(value - max(row)) for value in row]
    share = [weight / math.fsum(weights) for weight in weights]
    order = sorted(range(len(row)), key=lambda token_id: (-row[token_id], token_id))
    assert kept == set(order[: len(kept)]) and kept
    assert math.fsum(share[token_id] for token_id in kept) >= p - 2e-12
    assert math.fsum(share[token_id] for token_id in order[: len(kept) - 1]) < p
    assert all(row[token_id] > -INF for token_id in kept)


@given(rows, st.floats(1e-9, 1.0), st.floats(1e-9, 1.0))
def test_a_larger_p_keeps_at_least_the_same_tokens(row, p, q):
    small, large = sorted((p, q))
    assert marked(keep_top_p(floats(*row), small)) <= marked(keep_top_p(floats(*row), large))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("std", [0.1, 3.0, 12.0])
@pytest.mark.parametrize("p", [0.1, 0.9, 0.999999])
def test_top_p_of_a_large_vocabulary_equals_a_full_sort_in_float64(p, std, dtype):
    logits = random_logits(50_257, 5, dtype, std)
    logits[::3] = logits[1]  # thousands of ties
    ordered = logits.double().softmax(-1).sort(descending=True, stable=True)
    reached = ordered.values.cumsum(-1) >= p - 1e-12
    count = int(reached.nonzero()[0]) + 1
    ids = logits.sort(descending=True, stable=True).indices[:count]
    assert marked(keep_top_p(logits, p)) == set(ids.tolist())


def test_top_p_counts_the_mass_that_temperature_and_top_k_left():
    logits = floats(0.4, 0.3, 0.2, 0.1).log()
    alone = filter_trace(logits, SampleConfig(top_p=0.55))
    after_top_k = filter_trace(logits, SampleConfig(top_p=0.55, top_k=2))
    after_temperature = filter_trace(logits, SampleConfig(top_p=0.55, temperature=0.5))
    assert marked(alone.kept_top_p) == {0, 1}
    assert marked(after_top_k.kept_top_p) == {0}  # 0.4 / 0.7 is 0.571
    assert after_top_k.top_k_probabilities.tolist() == pytest.approx([4 / 7, 3 / 7, 0, 0], abs=1e-15)
    assert after_temperature.scaled_probabilities[0] == pytest.approx(16 / 30, abs=1e-15)
    assert marked(after_temperature.kept_top_p) == {0, 1}


# The chain


def test_chain_holds_every_stage():
    settings = SampleConfig(temperature=0.5, top_k=3, top_p=0.9)
    chain = filter_trace(floats(3, 2, 1, 0, 9), settings, forbidden_mask(5, [4]))
    assert chain.settings is settings and not chain.greedy
    assert chain.logits.tolist() == [3, 2, 1, 0, 9]
    assert chain.raw_probabilities.tolist() == pytest.approx(floats(3, 2, 1, 0, 9).softmax(-1).tolist())
    assert marked(chain.forbidden) == {4}
    assert chain.allowed_logits.tolist() == [3, 2, 1, 0, -INF]
    assert chain.scaled_logits.tolist() == [0, -2, -4, -6, -INF]
    assert marked(chain.kept_top_k) == {0, 1, 2}
    assert marked(chain.kept_top_p) == {0, 1}  # e^-2 / (1 + e^-2 + e^-4) brings 0.867 to 0.984
    first = 1 / (1 + math.exp(-2))
    assert chain.probabilities.tolist() == pytest.approx([first, 1 - first, 0, 0, 0], abs=1e-15)


def test_chain_is_frozen_and_shares_no_memory_with_its_input():
    logits, mask = floats(2, 1, 0), forbidden_mask(3, [2])
    chain = filter_trace(logits, SampleConfig(), mask)
    logits.zero_(), mask.zero_()
    assert chain.logits.tolist() == [2, 1, 0] and marked(chain.forbidden) == {2}
    with pytest.raises(dataclasses.FrozenInstanceError):
        chain.greedy = True


def test_inputs_are_left_alone():
    logits = random_logits(291, 2)
    before = logits.clone()
    filter_trace(logits, PRESETS["top-k-50-top-p-0.95"], forbidden_mask(291, [256]))
    next_token_probabilities(logits, PRESETS["top-k-50-top-p-0.95"], forbidden_mask(291, [256]))
    assert torch.equal(logits, before)


def test_logits_with_gradients_and_half_precision_are_fine():
    logits = floats(2, 1, 0).requires_grad_()
    assert not filter_trace(logits, SampleConfig()).probabilities.requires_grad
    for dtype in (torch.bfloat16, torch.float16):
        chain = filter_trace(floats(2, 1, 0, dtype=dtype), SampleConfig())
        assert chain.probabilities.dtype == torch.float32
        assert chain.probabilities.sum().item() == pytest.approx(1, abs=1e-6)


@given(rows, settings_strategy)
def test_every_distribution_is_one_and_the_sets_shrink(row, settings):
    chain = filter_trace(floats(*row), settings)
    for name in ("raw", "allowed", "scaled", "top_k"):
        assert getattr(chain, f"{name}_probabilities").sum().item() == pytest.approx(1, abs=1e-12)
    assert chain.probabilities.sum().item() == pytest.approx(1, abs=1e-12)
    assert marked(chain.probabilities) <= marked(chain.kept_top_p) <= marked(chain.kept_top_k)
    assert chain.probabilities[min(marked(chain.logits == chain.logits.max()))] > 0


@given(rows, settings_strategy, st.sets(st.integers(0, 11)))
def test_fast_path_equals_the_chain_bit_for_bit(row, settings, ids):
    mask = forbidden_mask(len(row), [token_id for token_id in ids if token_id < len(row)])
    for dtype in (torch.float32, torch.float64):
        logits = floats(*row, dtype=dtype)
        if (logits.masked_fill(mask, -INF) > -INF).any():
            chain = filter_trace(logits, settings, mask)
            assert torch.equal(next_token_probabilities(logits, settings, mask), chain.probabilities)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("vocab_size", [291, 1024, 1025, 50_257])
def test_fast_path_equals_the_chain_at_real_sizes(vocab_size, preset):
    for seed, std in enumerate([0.05, 1.0, 4.0]):
        logits = random_logits(vocab_size, seed, std=std).round(decimals=1)  # with ties
        mask = forbidden_mask(vocab_size, [256, 258])
        chain = filter_trace(logits, PRESETS[preset], mask)
        assert torch.equal(next_token_probabilities(logits, PRESETS[preset], mask), chain.probabilities)


@given(st.lists(st.lists(values, min_size=4, max_size=4), min_size=1, max_size=5), settings_strategy)
def test_a_batch_is_its_rows(batch, settings):
    batch = [row if max(row) > -INF else [0.0, *row[1:]] for row in batch]
    logits = floats(*batch)
    chain = filter_trace(logits, settings)
    fast = next_token_probabilities(logits[None], settings)[0]
    for number, row in enumerate(logits):
        alone = filter_trace(row, settings)
        for field in dataclasses.fields(FilterTrace):
            value = getattr(alone, field.name)
            if isinstance(value, torch.Tensor) and field.name != "forbidden":
                together = getattr(chain, field.name)[number]
                assert torch.allclose(together, value, rtol=1e-15, atol=0)
        assert torch.allclose(fast[number], alone.probabilities, rtol=1e-15, atol=0)


@pytest.mark.parametrize("run", [filter_trace, next_token_probabilities])
def test_unusable_logits_are_named_with_their_position(run):
    settings = SampleConfig()
    with pytest.raises(ValueError, match="logits must be finite or -inf, got nan at id 1"):
        run(floats(0, math.nan, 1), settings)
    with pytest.raises(ValueError, match="logits must be finite or -inf, got inf at id 2"):
        run(floats(0, 0, INF), settings)
    with pytest.raises(ValueError, match=r"logits must be finite or -inf, got nan at id 0 of row \[1\]"):
        run(floats([0, 1], [math.nan, 1]), settings)
    with pytest.raises(ValueError, match="logits must be finite or -inf, got nan at id 1"):
        run(floats(0, math.nan), settings, forbidden_mask(2, [1]))
    with pytest.raises(ValueError, match="no token left to sample"):
        run(floats(-INF, -INF), settings)
    with pytest.raises(ValueError, match="no token left to sample"):
        run(floats([0, 1], [-INF, 1]), settings, forbidden_mask(2, [1]))
    with pytest.raises(ValueError, match="logits must be a float tensor of shape .*, got torch.int64"):
        run(torch.tensor([1, 2]), settings)
    for shape in ((0,), (), (0, 3)):
        with pytest.raises(ValueError, match="logits must be a float tensor of shape"):
            run(torch.zeros(shape), settings)


def test_rank_by_hand():
    probabilities = floats(0.2, 0.5, 0.2, 0.1)
    assert [rank_of(probabilities, token_id) for token_id in range(4)] == [2, 1, 3, 4]
    with pytest.raises(ValueError, match="the token id must be 0 to 3, got 4"):
        rank_of(probabilities, 4)
