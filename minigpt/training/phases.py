"""What the loss curves of a run show. Every name is given by a rule on the numbers.

Phases, of the batch loss. The steps so far are cut into 40 equal parts, each with the mean of its batch
losses. The fall is from the first batch loss to the lowest of these means; a change of less than a tenth
of the fall is a wobble.

    fast      until the first part that has done 80 % of the fall
    slow      from there until the lowest part, or until a plateau begins
    plateau   from the first part that has done 97 % of the fall on, if that is at least a quarter of all
              steps and none of its parts is more than a wobble above the lowest
    rise      after the lowest part, if from the first part that is more than a wobble above it on all are,
              at least two
    unsteady  after the lowest part, if that is a tenth of all steps or more, it is not a rise, and a part
              is more than a wobble above the lowest

Where the fall is less than a tenth of the first loss, the whole is one rise, unsteady or flat phase, by
the first loss in place of the lowest part and a tenth of it as the wobble. From the first loss that is
not finite, the phase is broken. Nothing else is named in the first 100 steps.

Course, of the evaluations: see `course`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import isfinite, nan

from minigpt.training.loop import Evaluation

PARTS = 40
FAST, SLOW = 0.80, 0.97  # shares of the fall
UNSTEADY_PARTS = 4
PLATEAU = 0.25  # of all steps
FIRST_STEPS = 100
LEAST_FALL = 0.1  # of the first loss
WOBBLE = 0.1  # of the fall
HIGH_RATE = 1e-3  # below it, Adam's own default, a rise has other causes more often
NOTICEABLE = 0.05  # of a loss, between evaluations
FLAT = 0.01  # of the lowest validation loss


@dataclass(frozen=True)
class Phase:
    """A stretch of steps: its kind, and the mean batch losses it leads from and to.

    From is where the phase before ended (the first batch loss for the first one). An unsteady phase has its
    lowest and highest part there, a broken one NaN.
    """

    kind: str  # fast, slow, plateau, rise, unsteady, flat or broken
    first: int
    last: int
    start: float
    loss: float


@dataclass(frozen=True)
class Course:
    """How the validation loss went: its kind, its lowest evaluation (the earliest on ties) and the last one."""

    kind: str
    best: Evaluation
    last: Evaluation


def phases(losses: Sequence[float]) -> list[Phase]:
    """The phases of a run from its batch losses, step 1 first; empty while nothing can be named.

    Example: 100 losses that fall from 5 to 1 in 20 steps and stay there are fast 1-20 and plateau 21-100.
    """
    finite = list(takewhile(isfinite, losses))
    found = _named(finite) if len(finite) >= FIRST_STEPS else []
    if len(finite) < len(losses):
        found.append(Phase("broken", len(finite) + 1, len(losses), nan, nan))
    return found


def _named(losses: list[float]) -> list[Phase]:
    count, first = len(losses), losses[0]
    ends = [count * part // PARTS for part in range(PARTS + 1)]
    means = [sum(losses[a:b]) / (b - a) for a, b in zip(ends, ends[1:], strict=False)]
    low = min(means)
    fall = first - low
    if fall <= LEAST_FALL * first:
        return [_after([first, *means], 1, count, LEAST_FALL * first) or Phase("flat", 1, count, first, means[-1])]
    fast, slow = (next(i for i, mean in enumerate(means) if mean <= first - share * fall) for share in (FAST, SLOW))
    lowest, wobble = means.index(low), WOBBLE * fall
    then = _after(means[lowest:], ends[lowest + 1] + 1, count, wobble)
    turn = lowest
    if then is None and count - ends[slow + 1] >= PLATEAU * count and max(means[slow:]) - low <= wobble:
        turn, then = slow, Phase("plateau", ends[slow + 1] + 1, count, means[slow], means[-1])
    found = [Phase("fast", 1, ends[fast + 1], first, means[fast])]
    if turn > fast:
        found.append(Phase("slow", ends[fast + 1] + 1, ends[turn + 1], means[fast], means[turn]))
    return [*found, then] if then else found


def _after(means: list[float], first: int, last: int, wobble: float) -> Phase | None:
    """The rise or unsteady phase that follows the level `means[0]`, None when there is neither."""
    start, above = means[0], [mean - means[0] > wobble for mean in means]
    if sum(above) >= 2 and all(above[above.index(True) :]):
        return Phase("rise", first, last, start, means[-1])
    if any(above) and len(means) > UNSTEADY_PARTS:
        return Phase("unsteady", first, last, min(means), max(means))
    return None


def rate_may_be_too_high(phase: Phase, rates: Sequence[float]) -> bool:
    """Whether the learning rate, one a step from step 1 on, is a likely cause: of a rise under a high rate."""
    taken = rates[phase.first - 1 : phase.last]
    return phase.kind == "rise" and bool(taken) and sum(taken) / len(taken) >= HIGH_RATE


def course(evaluations: Sequence[Evaluation]) -> Course | None:
    """How a run went on new text; None without evaluations. The first that fits of these kinds:

    unvalidated  no evaluation has a validation loss
    broken       a loss of the last one is not a finite number
    single       only one has
    flat         they differ by 1 % at most
    improving    the last one is the lowest
    memorizing   the last two are both at least 5 % above the lowest, while the training loss fell by at least
                 5 % since: over-fitting
    worse        the last two are both at least 5 % above the lowest, and the training loss did not fall so
    open         anything else: no verdict
    """
    if not evaluations:
        return None
    scored = [row for row in evaluations if row.validation_loss is not None]
    if not scored:
        return Course("unvalidated", evaluations[0], evaluations[-1])
    finite = [row for row in scored if _finite(row)]
    best, last = min(finite or scored, key=_validation), scored[-1]
    return Course(_kind(scored, best), best, last)


def _validation(row: Evaluation) -> float:
    assert row.validation_loss is not None
    return row.validation_loss


def _finite(row: Evaluation) -> bool:
    return isfinite(_validation(row)) and isfinite(row.train_loss)


def _kind(scored: list[Evaluation], best: Evaluation) -> str:
    low, last = _validation(best), scored[-1]
    if not _finite(last):
        return "broken"
    if len(scored) == 1:
        return "single"
    if all(_validation(row) - low <= FLAT * low for row in scored):
        return "flat"
    if last.step == best.step:
        return "improving"
    if best.step < scored[-2].step and all(_validation(row) >= (1 + NOTICEABLE) * low for row in scored[-2:]):
        return "memorizing" if last.train_loss <= (1 - NOTICEABLE) * best.train_loss else "worse"
    return "open"
