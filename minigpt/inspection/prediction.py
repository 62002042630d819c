"""What one position predicts: probability, rank and loss of every id, and the softmax number by number.

Everything is float64 NumPy on the model's own logits, apart from the model's loss, so that each can be checked
by the other. Nothing is renormalised: probabilities are over the whole vocabulary.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from minigpt.sentences import Refusal
from minigpt.validation import check_int

_AT_ONCE = 16  # positions whose float64 distributions are in memory together


@dataclass(frozen=True)
class Candidate:
    """One id. `rank` counts from 1, the most probable; ties go to the lowest id."""

    id: int
    rank: int
    logit: float
    probability: float


@dataclass(frozen=True)
class SoftmaxSteps:
    """The arithmetic from one logit to its loss, in order."""

    logit: float
    greatest: float  # of all logits
    shifted: float  # logit - greatest
    power: float  # exp(shifted)
    total: float  # sum of exp(logit - greatest) over the vocabulary
    probability: float  # power / total
    loss: float  # -ln probability, in nats


@dataclass(frozen=True)
class Prediction:
    """The logits (V,) of one position as float64; see `predict`."""

    logits: np.ndarray

    @cached_property
    def order(self) -> np.ndarray:
        """All ids (V,), the most probable first; equal logits in the order of their ids."""
        return np.argsort(-self.logits, kind="stable")

    @cached_property
    def powers(self) -> np.ndarray:
        """exp(logit - greatest logit) of each id, (V,)."""
        return np.exp(self.logits - self.logits.max())

    @cached_property
    def total(self) -> float:
        """The sum of `powers`, rounded once."""
        return math.fsum(self.powers)

    @cached_property
    def probabilities(self) -> np.ndarray:
        """The softmax over the whole vocabulary, (V,); it sums to 1 up to rounding."""
        return self.powers / self.total

    @property
    def uniform_loss(self) -> float:
        """ln V: the loss of equal probabilities for all ids."""
        return math.log(len(self.logits))

    @property
    def entropy(self) -> float:
        """Mean surprise in nats: 0 when one id has everything, ln V when all are equal."""
        p = self.probabilities[self.probabilities > 0]
        return float(-(p * np.log(p)).sum()) + 0.0

    def candidate(self, id: int) -> Candidate:
        """One id of the vocabulary; ValueError for another."""
        check_int("id", id, least=0, most=len(self.logits) - 1)
        logit = self.logits[id]
        rank = 1 + int((self.logits > logit).sum()) + int((self.logits[:id] == logit).sum())
        return Candidate(id, rank, float(logit), float(self.probabilities[id]))

    @property
    def best(self) -> Candidate:
        """The most probable id, found without sorting."""
        return self.candidate(int(self.logits.argmax()))

    def top(self, count: int) -> list[Candidate]:
        """The `count` most probable ids in order; all of them when there are fewer."""
        check_int("count", count, least=1)
        if count >= len(self.logits):
            return [self.candidate(int(id)) for id in self.order]
        lowest = np.partition(self.logits, len(self.logits) - count)[len(self.logits) - count]
        ids = np.flatnonzero(self.logits >= lowest)  # with all that are equal to the last
        best = ids[np.argsort(-self.logits[ids], kind="stable")][:count]
        return [self.candidate(int(id)) for id in best]

    def rest(self, ids: Collection[int]) -> float:
        """The probability that all ids but `ids` have together."""
        keep = np.ones(len(self.logits), dtype=bool)
        keep[list(ids)] = False
        return math.fsum(self.probabilities[keep])

    def steps(self, id: int) -> SoftmaxSteps:
        """The softmax of one id, step by step; the loss is ln(total) - shifted, exact where p underflows."""
        check_int("id", id, least=0, most=len(self.logits) - 1)
        logit, greatest = float(self.logits[id]), float(self.logits.max())
        return SoftmaxSteps(
            logit=logit,
            greatest=greatest,
            shifted=logit - greatest,
            power=float(self.powers[id]),
            total=self.total,
            probability=float(self.probabilities[id]),
            loss=math.log(self.total) - (logit - greatest),
        )


@dataclass(frozen=True)
class Outcome:
    """What became of one position: its target, and what the model would rather have said; see `outcomes`."""

    target: int
    rank: int  # of the target, ties to the lowest id
    probability: float  # of the target
    best: int  # the most probable id, ties to the lowest
    best_probability: float


def outcomes(logits: torch.Tensor, targets: torch.Tensor) -> list[Outcome]:
    """One outcome a position: logits (T, V), targets (T,) of ids; float64, some positions at a time.

    >>> outcomes(torch.tensor([[0.0, 0.0, -torch.inf]]), torch.tensor([1]))[0].rank
    2
    """
    rows = []
    for part, ids in zip(logits.split(_AT_ONCE), targets.split(_AT_ONCE), strict=True):
        own = part.gather(-1, ids[:, None])  # (P, 1)
        before = torch.arange(part.shape[-1]) < ids[:, None]
        ranks = 1 + (part > own).sum(-1) + ((part == own) & before).sum(-1)
        shares = part.double().softmax(-1)  # (P, V)
        best = part.argmax(-1, keepdim=True)
        numbers = (ids, ranks, shares.gather(-1, ids[:, None])[:, 0], best[:, 0], shares.gather(-1, best)[:, 0])
        rows += [Outcome(*row) for row in zip(*(column.tolist() for column in numbers), strict=True)]
    return rows


def predict(logits: torch.Tensor) -> Prediction:
    """The prediction of one position from its logits (V,), float32 or float64 taken as they are.

    Raises ValueError for another shape, or a logit that is not finite.

    >>> predict(torch.tensor([0.0, 0.0])).steps(1).probability
    0.5
    """
    if logits.ndim != 1 or not len(logits):
        raise Refusal("logits must be of one position, (V,), got shape {shape}", shape=tuple(logits.shape))
    values = logits.detach().numpy().astype(np.float64)
    if not np.isfinite(values).all():
        raise Refusal(
            "logits must be finite, got {values} at id {first_bad}",
            values=values[~np.isfinite(values)][0],
            first_bad=_first_bad(values),
        )
    return Prediction(values)


def _first_bad(values: np.ndarray) -> int:
    return int(np.flatnonzero(~np.isfinite(values))[0])
