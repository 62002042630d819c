"""Phases and over-fitting: named by the documented rule, on curves whose answer is known."""

import pytest

from minigpt.training.loop import Evaluation
from minigpt.training.phases import overfitting, phases


def kinds(losses) -> list[tuple[str, int, int]]:
    return [(phase.kind, phase.first, phase.last) for phase in phases(losses)]


def test_a_cliff_then_a_plain():
    assert kinds([5.0] * 50 + [1.0] * 150) == [("fast", 1, 55), ("plateau", 56, 200)]


def test_three_phases():
    fast = [5.0 - 3.6 * step / 100 for step in range(100)]
    slow = [1.4 - 0.4 * step / 200 for step in range(200)]
    found = phases(fast + slow + [1.0] * 100)
    assert [phase.kind for phase in found] == ["fast", "slow", "plateau"]
    # 80 % of the fall of 4 is the level 1.8, reached at step 89; 97 % is 1.12, reached at step 240.
    assert (found[0].first, found[0].last) == (1, 100)
    assert found[1].last == 250
    assert found[2].loss == 1.0
    assert [phase.first for phase in found[1:]] == [phase.last + 1 for phase in found[:-1]]
    assert found[-1].last == 400


def test_still_falling_has_no_plateau():
    found = kinds([5.0 - 4.0 * step / 200 for step in range(200)])
    assert [kind for kind, *_ in found] == ["fast", "slow"]
    assert found[-1][2] == 200


@pytest.mark.parametrize("losses", [[], [5.0] * 99, [5.0] * 500, [5.0 - 0.4 * step / 500 for step in range(500)]])
def test_nothing_is_named_without_a_fall_or_too_early(losses):
    assert phases(losses) == []


def test_the_phases_cover_the_steps_whatever_the_curve(data):
    for count in (100, 101, 139, 140, 777):
        found = phases([3.0 / (1 + step / 20) for step in range(count)])
        assert found[0].first == 1 and found[-1].last == count
        assert all(later.first == former.last + 1 for former, later in zip(found, found[1:], strict=False))


def curve(*pairs) -> list[Evaluation]:
    return [Evaluation(step * 50, train, validation, best=False) for step, (train, validation) in enumerate(pairs)]


def test_overfitting_needs_a_rise_that_lasts_and_a_training_loss_that_fell():
    rising = curve((5, 5), (1, 2), (0.5, 2.2), (0.4, 2.3))
    assert (overfitting(rising).best.step, overfitting(rising).last.step) == (50, 150)
    assert overfitting(rising[:3]) is None  # one evaluation after the best may be chance
    assert overfitting(curve((5, 5), (1, 2), (0.5, 2.05), (0.4, 2.09))) is None  # less than 5 %
    assert overfitting(curve((5, 5), (1, 2), (1.5, 2.2), (1.4, 2.3))) is None  # training got worse as well
    assert overfitting(curve((5, None), (1, None), (0.5, None))) is None
    assert overfitting([]) is None
