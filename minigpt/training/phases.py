"""What a loss curve tells: its phases, and over-fitting. Named only when the numbers show them.

Phases. The steps so far are cut into 40 equal parts (fewer when there are under 40), each with the mean
of its batch losses. The fall is from the first batch loss to the lowest of these means.

    fast      until the first part that has done 80 % of the fall
    slow      from there until the first part that has done 97 % of it
    plateau   from there on, if that is at least a quarter of all steps

Nothing is named in the first 100 steps, nor when the fall is less than a tenth of the first loss.

Over-fitting. The last two evaluations are both later than the best one, the last validation loss is at
least 5 % above the best, and the training loss is lower than it was there: the model gets better at what
it has seen and worse at what it has not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from minigpt.training.loop import Evaluation

PARTS = 40
FAST, SLOW = 0.80, 0.97  # shares of the fall
PLATEAU = 0.25  # of all steps
FIRST_STEPS = 100
LEAST_FALL = 0.1
RISE = 1.05


@dataclass(frozen=True)
class Phase:
    """A stretch of steps: `kind` is fast, slow or plateau, `loss` the mean batch loss of its last part."""

    kind: str
    first: int
    last: int
    loss: float


@dataclass(frozen=True)
class Overfitting:
    """The evaluation to go back to, and the last one."""

    best: Evaluation
    last: Evaluation


def phases(losses: Sequence[float]) -> list[Phase]:
    """The phases of a run from its batch losses, step 1 first; empty while nothing can be named.

    Example: 100 losses that fall from 5 to 1 in 20 steps and stay there are fast 1-20 and plateau 21-100.
    """
    count = len(losses)
    if count < FIRST_STEPS:
        return []
    ends = [count * part // PARTS for part in range(PARTS + 1)]
    means = [sum(losses[a:b]) / (b - a) for a, b in zip(ends, ends[1:], strict=False)]
    fall = losses[0] - min(means)
    if fall < LEAST_FALL * losses[0]:
        return []
    fast, slow = (next(i for i, mean in enumerate(means) if mean <= losses[0] - share * fall) for share in (FAST, SLOW))
    found = [Phase("fast", 1, ends[fast + 1], means[fast])]
    flat = count - ends[slow + 1] >= PLATEAU * count
    until = ends[slow + 1] if flat else count
    if until > ends[fast + 1]:
        found.append(Phase("slow", ends[fast + 1] + 1, until, means[slow] if flat else means[-1]))
    if flat:
        found.append(Phase("plateau", until + 1, count, means[-1]))
    return found


def overfitting(evaluations: Sequence[Evaluation]) -> Overfitting | None:
    """Over-fitting by the rule above; None when the evaluations do not show it."""
    scored = [row for row in evaluations if row.validation_loss is not None]
    if len(scored) < 3:
        return None
    best, last = min(scored, key=lambda row: row.validation_loss), scored[-1]
    later = best.step < scored[-2].step
    risen = last.validation_loss >= RISE * best.validation_loss
    return Overfitting(best, last) if later and risen and last.train_loss < best.train_loss else None
