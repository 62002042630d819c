"""The draw: one id out of a distribution, the most probable, by a generator, or by a given random number.

Randomness always comes from a generator that the caller owns, one for each column; torch's global random
state is neither read nor changed. Greedy draws use no random number at all.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from minigpt.sentences import Refusal

SUM_TOLERANCE = 1e-4  # how far a distribution's sum may be from 1; float32 over 50,257 ids is off by 1e-6


@dataclass(frozen=True)
class DiceDraw:
    """The id that the random number u falls on, and its interval low <= u < high on the cumulative bar from 0 to 1."""

    token_id: int
    low: float
    high: float


def new_generator(seed: int) -> torch.Generator:
    """A new CPU generator with this seed; each column owns one (SampleConfig checks seeds)."""
    return torch.Generator().manual_seed(seed)


def draw(probabilities: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one id from each distribution (..., V); returns int64 (...).

    This is torch.multinomial(probabilities, 1, generator=generator) on the generator's device, so the same
    seed gives the same ids whichever device the model used. The result is verified: the id must have a
    probability above 0. Raises ValueError if it does not, and before drawing if the tensor is not a
    distribution.

    Example: draw(tensor([0., 1., 0.]), new_generator(7)) is tensor(1).
    """
    _check_distribution(probabilities)
    rows = probabilities.to(generator.device).reshape(-1, probabilities.shape[-1])  # (N, V)
    ids = torch.multinomial(rows, 1, generator=generator)  # (N, 1)
    got = ids.flatten().tolist()
    in_range = min(got) >= 0 and max(got) < rows.shape[-1]
    if not in_range or min(rows.gather(-1, ids).flatten().tolist()) <= 0:
        raise Refusal("drawn ids must have a probability above 0, got {ids}", ids=got)
    return ids.reshape(probabilities.shape[:-1])


def draw_greedy(probabilities: Tensor) -> Tensor:
    """The most probable id of each distribution (..., V), ties to the lowest id; int64 (...).

    Example: draw_greedy(tensor([0.2, 0.4, 0.4])) is tensor(1).
    """
    _check_distribution(probabilities)
    return probabilities.argmax(-1)


def throw_dice(generator: torch.Generator) -> float:
    """One u in [0, 1) (float64) to be shared by several columns through `draw_with_dice`."""
    return torch.rand((), generator=generator, dtype=torch.float64, device=generator.device).item()


def draw_with_dice(probabilities: Tensor, u: float) -> DiceDraw:
    """The id whose part of the cumulative bar contains u; probabilities (V,), ids in ascending order.

    Columns that use the same u differ only because their distributions differ. The bar is summed in float64
    and scaled to end at exactly 1; an id of probability 0 has an empty part and is never chosen. Raises
    ValueError unless 0 <= u < 1 and the tensor is one distribution.

    Example: draw_with_dice(tensor([0.5, 0., 0.5]), 0.5) == DiceDraw(2, 0.5, 1.0).
    """
    if isinstance(u, bool) or not isinstance(u, int | float) or not 0.0 <= u < 1.0:
        raise Refusal("u must be a number of at least 0 and below 1, got {u!r}", u=u)
    if probabilities.dim() != 1:
        raise Refusal("probabilities must have the shape (V,), got {shape}", shape=tuple(probabilities.shape))
    _check_distribution(probabilities)
    sums = probabilities.detach().cpu().double().cumsum(-1)
    ends = sums / sums[-1]  # (V,), the last is exactly 1
    token_id = int((ends <= u).sum())
    low = ends[token_id - 1].item() if token_id else 0.0
    return DiceDraw(token_id, low, ends[token_id].item())


def _check_distribution(probabilities: Tensor) -> None:
    known_type = probabilities.dtype in (torch.float32, torch.float64)
    if not known_type or probabilities.dim() == 0 or probabilities.numel() == 0:
        raise Refusal(
            "probabilities must be float32 or float64 of shape (..., V), not empty, got {dtype} {shape}",
            dtype=probabilities.dtype,
            shape=tuple(probabilities.shape),
        )
    lowest = probabilities.min().item()
    wrong = max(abs(total - 1) for total in probabilities.sum(-1).flatten().tolist())
    if not lowest >= 0 or wrong > SUM_TOLERANCE:  # a NaN anywhere makes `lowest` NaN
        raise Refusal(
            "probabilities must be at least 0 and sum to 1, got a smallest value of {lowest:g} and a sum {wrong:g} "
            "away from 1",
            lowest=lowest,
            wrong=wrong,
        )
