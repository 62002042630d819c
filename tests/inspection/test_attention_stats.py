"""Who reads whom: facts read off weights, computed by hand here."""

from math import log

import pytest
import torch

from minigpt.inspection.attention_stats import read_heads, read_query

IDS = torch.tensor([256, 7, 8, 7])
HEAD = torch.tensor(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.5, 0.5, 0.0, 0.0],
        [0.1, 0.7, 0.2, 0.0],
        [0.25, 0.25, 0.25, 0.25],
    ],
    dtype=torch.float64,
)


def test_a_query_by_hand():
    row = read_query(HEAD[2], IDS, 2)
    assert (row.key, row.share, row.first, row.itself, row.previous, row.equal) == (1, 0.7, 0.1, 0.2, 0.7, None)
    assert row.entropy == pytest.approx(-(0.1 * log(0.1) + 0.7 * log(0.7) + 0.2 * log(0.2)), abs=1e-15)
    assert row.visible == 3


def test_a_tie_goes_to_the_lowest_position_and_even_weights_count_every_key():
    row = read_query(HEAD[3], IDS, 3)
    assert (row.key, row.equal, row.visible) == (0, 0.25, 4)
    assert row.effective_keys == pytest.approx(4.0, abs=1e-14)


def test_the_first_query_sees_itself_only():
    row = read_query(HEAD[0], IDS, 0)
    assert (row.key, row.share, row.itself, row.previous, row.equal) == (0, 1.0, 1.0, None, None)
    assert row.entropy == 0.0 and str(row.entropy) == "0.0" and row.effective_keys == 1.0


def test_earlier_equal_tokens_add_up():
    row = read_query(torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.tensor([5, 5, 6, 5]), 3)
    assert row.equal == pytest.approx(0.3, abs=1e-7)


def test_means_of_a_head_by_hand():
    (head,) = read_heads(HEAD[None], IDS)
    assert head.first == pytest.approx((0.5 + 0.1 + 0.25) / 3)
    assert head.itself == pytest.approx((0.5 + 0.2 + 0.25) / 3)
    assert head.previous == pytest.approx((0.5 + 0.7 + 0.25) / 3)
    assert head.equal == 0.25  # query 3 alone has an earlier equal token
    assert (head.visible, head.queries) == (3.0, 3)


def test_means_agree_with_the_queries_one_by_one():
    weights = torch.rand(3, 5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).tril()
    weights /= weights.sum(-1, keepdim=True)
    ids = torch.tensor([9, 4, 9, 4, 4])
    for head in read_heads(weights, ids):
        rows = [read_query(weights[head.head, query], ids, query) for query in range(1, 5)]
        for name in ("first", "itself", "previous", "entropy", "effective_keys"):
            assert getattr(head, name) == pytest.approx(sum(getattr(row, name) for row in rows) / 4, abs=1e-14)
        equal = [row.equal for row in rows if row.equal is not None]
        assert len(equal) == 3 and head.equal == pytest.approx(sum(equal) / 3, abs=1e-14)


def test_a_record_without_repeats_has_no_share_of_equal_tokens():
    (head,) = read_heads(torch.eye(3)[None], torch.tensor([1, 2, 3]))
    assert head.equal is None and head.shares == {"first": 0.0, "itself": 1.0, "previous": 0.0}


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="query must be a whole number from 0 to 3, got 4"):
        read_query(HEAD[3], IDS, 4)
    with pytest.raises(ValueError, match="for each of 4 keys and sum to 1, got 4 that sum to 0.5"):
        read_query(HEAD[3] / 2, IDS, 3)
    with pytest.raises(ValueError, match="at least 2 positions, got 1"):
        read_heads(HEAD[None, :1, :1], IDS[:1])
    with pytest.raises(ValueError, match=r"weights must be \(heads, 4, 4\), got \(4, 4\)"):
        read_heads(HEAD, IDS)
