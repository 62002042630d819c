"""Who reads whom: facts about attention weights, for sentences made from the numbers.

Everything here is read off weights (H, T, T) and ids (T,); nothing is computed again.
"""

from dataclasses import dataclass
from math import exp

import torch

from minigpt.sentences import Refusal
from minigpt.validation import check_int


@dataclass(frozen=True)
class QueryReading:
    """How one head reads at one query. Shares are weights, 0 .. 1; None where there is no such key."""

    query: int
    key: int  # with the highest weight, ties to the lowest position
    share: float  # its weight
    first: float  # on position 0
    itself: float
    previous: float | None  # None for query 0
    equal: float | None  # on earlier positions with the same id; None without any
    entropy: float  # nats
    visible: int  # keys the query may read

    @property
    def effective_keys(self) -> float:
        """exp(entropy): 1 when one key has all the weight, `visible` when all have the same."""
        return exp(self.entropy)


@dataclass(frozen=True)
class HeadReading:
    """Means of one head over the queries that have a choice: 1 .. T-1. Query 0 sees itself only and is left out.

    `first`, `itself`, `previous` and `effective_keys` are means over all of these queries, `equal` over
    those with an earlier equal token (None without any). Shares of positions overlap: at query 1 the
    previous position is also the first.
    """

    head: int
    first: float
    itself: float
    previous: float
    equal: float | None
    entropy: float
    effective_keys: float
    visible: float
    queries: int

    @property
    def shares(self) -> dict[str, float]:
        """The mean shares by name, without `equal` where there is none."""
        shares = {"first": self.first, "itself": self.itself, "previous": self.previous}
        return shares if self.equal is None else shares | {"equal": self.equal}


def read_query(weights: torch.Tensor, ids: torch.Tensor, query: int) -> QueryReading:
    """One query of one head: its weights over the keys (T,), the ids of the record (T,) -> its reading.

    Raises ValueError for a query outside the record, or weights that do not sum to 1 within 1e-5.

    >>> read_query(torch.tensor([0.25, 0.75, 0.0]), torch.tensor([7, 8, 8]), 1).previous
    0.25
    """
    check_int("query", query, least=0, most=len(ids) - 1)
    row = weights.double()
    if row.shape != ids.shape or abs(row.sum().item() - 1) > 1e-5:
        raise Refusal(
            "weights must be one for each of {count} keys and sum to 1, got {given} that sum to {sum:.6g}",
            count=len(ids),
            given=len(row),
            sum=row.sum(),
        )
    seen = row[: query + 1]
    same = ids[:query] == ids[query]
    key = int((seen == seen.max()).nonzero()[0])
    return QueryReading(
        query=query,
        key=key,
        share=seen[key].item(),
        first=seen[0].item(),
        itself=seen[query].item(),
        previous=seen[query - 1].item() if query else None,
        equal=seen[:query][same].sum().item() if same.any() else None,
        entropy=_entropy(seen),
        visible=query + 1,
    )


def read_heads(weights: torch.Tensor, ids: torch.Tensor) -> list[HeadReading]:
    """Means over the queries of each head: weights (H, T, T) of T real positions, ids (T,).

    Raises ValueError for weights of another shape, and for fewer than 2 positions, where there is nothing to choose.
    """
    size = len(ids)
    if size < 2:
        raise Refusal("a reading needs at least 2 positions, got {size}", size=size)
    if weights.ndim != 3 or weights.shape[1:] != (size, size):
        raise Refusal("weights must be (heads, {size}, {size}), got {shape}", size=size, shape=tuple(weights.shape))
    rows = weights.double()[:, 1:]  # (H, T-1, T), the queries with a choice
    same = (ids[:, None] == ids).tril(-1)[1:]  # (T-1, T)
    repeats = same.any(-1)
    equal = (rows * same).sum(-1)[:, repeats]  # (H, queries that have an earlier equal token)
    entropy = -torch.xlogy(rows, rows).sum(-1)  # (H, T-1)
    return [
        HeadReading(
            head=head,
            first=rows[head, :, 0].mean().item(),
            itself=rows[head].diagonal(1).mean().item(),
            previous=rows[head].diagonal().mean().item(),
            equal=equal[head].mean().item() if repeats.any() else None,
            entropy=entropy[head].mean().item(),
            effective_keys=entropy[head].exp().mean().item(),
            visible=(size + 2) / 2,
            queries=size - 1,
        )
        for head in range(len(rows))
    ]


def _entropy(shares: torch.Tensor) -> float:
    return -torch.xlogy(shares, shares).sum().item() + 0.0  # + 0.0: never a negative zero
