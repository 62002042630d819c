"""Phases and course: named by the documented rule, on curves whose answer is known."""

from math import inf, nan
from random import Random

import pytest

from minigpt.training.loop import Evaluation
from minigpt.training.phases import course, phases, rate_may_be_too_high


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


@pytest.mark.parametrize("losses", [[], [5.0] * 99, [5.0 - step / 20 for step in range(99)]])
def test_nothing_is_named_too_early(losses):
    assert phases(losses) == []


@pytest.mark.parametrize("losses", [[5.0] * 500, [0.0] * 500, [5.0 - 0.4 * step / 500 for step in range(500)]])
def test_a_small_change_is_flat(losses):
    assert kinds(losses) == [("flat", 1, 500)]


def test_a_fall_that_is_lost_again_is_a_rise():
    found = phases([5.0] * 10 + [2.5] * 20 + [2.0] * 70 + [2.0 + 1.2 * step / 100 for step in range(100)])
    assert [phase.kind for phase in found] == ["fast", "slow", "rise"]
    assert (found[-1].start, found[-1].last) == (2.0, 200) and found[-1].loss > 3.15


def test_a_curve_that_only_rises_is_one_rise():
    found = phases([5.0 + step / 20 for step in range(200)])
    assert [(phase.kind, phase.first, phase.last, phase.start) for phase in found] == [("rise", 1, 200, 5.0)]
    assert found[0].loss > 14.5


def test_up_and_down_is_neither_plateau_nor_rise():
    waves = [2.0 if step // 10 % 2 else 3.0 for step in range(200)]  # two parts up, two down
    found = phases([5.0] * 10 + waves[10:])
    assert [phase.kind for phase in found] == ["fast", "unsteady"]
    assert (found[-1].start, found[-1].loss) == (2.0, 3.0)


def test_one_high_part_at_the_end_is_not_yet_a_rise():
    assert kinds([5.0] * 50 + [1.0] * 145 + [4.0] * 5) == [("fast", 1, 55), ("unsteady", 56, 200)]


def test_from_the_first_loss_that_is_not_finite_on_the_curve_is_broken():
    assert kinds([5.0, nan, 1.0]) == [("broken", 2, 3)]
    assert kinds([5.0] * 50 + [1.0] * 150 + [inf] * 3)[1:] == [("plateau", 56, 200), ("broken", 201, 203)]


@pytest.mark.parametrize("seed", range(200))
def test_a_fall_ends_lower_and_a_rise_higher_than_it_begins_whatever_the_curve(seed):
    random = Random(seed)
    level, losses = 5.0, []
    for _ in range(random.randrange(100, 400)):
        level = max(0.05, level + random.gauss(random.choice((-0.02, 0.01)), 0.15))
        losses.append(level)
    found = phases(losses)
    assert found[0].first == 1
    assert all(later.first == former.last + 1 for former, later in zip(found, found[1:], strict=False))
    for phase in found:
        if phase.kind in ("fast", "slow"):
            assert phase.loss < phase.start
        elif phase.kind in ("rise", "unsteady"):
            assert phase.loss > phase.start


def test_a_rise_is_laid_to_a_high_rate_only():
    (rise,) = phases([5.0 + step / 20 for step in range(200)])
    assert rate_may_be_too_high(rise, [0.1] * 200)
    assert not rate_may_be_too_high(rise, [1e-4] * 200) and not rate_may_be_too_high(rise, [])
    fall = phases([5.0] * 50 + [1.0] * 150)[0]
    assert not rate_may_be_too_high(fall, [0.1] * 200)


def test_the_phases_cover_the_steps_whatever_the_curve(data):
    for count in (100, 101, 139, 140, 777):
        found = phases([3.0 / (1 + step / 20) for step in range(count)])
        assert found[0].first == 1 and found[-1].last == count
        assert all(later.first == former.last + 1 for former, later in zip(found, found[1:], strict=False))


def curve(*pairs) -> list[Evaluation]:
    return [Evaluation(step * 50, train, validation, best=False) for step, (train, validation) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("pairs", "kind", "best"),
    [
        ([(5, 5)], "single", 0),
        ([(5, None), (1, None)], "unvalidated", 0),
        ([(5, 5), (1, 5.01), (0.5, 4.99)], "flat", 100),  # training alone may fall as it likes
        ([(5, 5), (1, 2)], "improving", 50),
        ([(5, 5), (1, 2), (0.5, 2.3), (0.4, 1.9)], "improving", 150),  # a wobble, and the last is the lowest
        ([(5, 5), (1, 2), (0.5, 2.2)], "open", 50),  # one evaluation after the best may be chance
        ([(5, 5), (1, 2), (0.5, 2.05), (0.4, 2.2)], "open", 50),
        ([(5, 5), (1, 2), (0.5, 2.05), (0.4, 2.09)], "open", 50),  # less than 5 %
        ([(5, 5), (1, 2), (0.5, 2.2), (0.4, 2.3)], "memorizing", 50),
        ([(5, 5), (4, 5.5), (3, 6)], "memorizing", 0),
        ([(5, 5), (1, 2), (0.98, 2.2), (0.97, 2.3)], "worse", 50),  # training hardly fell
        ([(5, 5), (1, 2), (1.5, 2.2), (1.4, 2.3)], "worse", 50),
        ([(5, 5), (6, 6), (9, 9)], "worse", 0),
        ([(5, 5), (1, 2), (nan, nan)], "broken", 50),
        ([(5, 5), (1, 2), (0.5, nan), (0.4, 2.3)], "open", 50),
        ([(nan, nan)], "broken", 0),
    ],
)
def test_the_course_on_new_text_is_named_by_the_rule(pairs, kind, best):
    found = course(curve(*pairs))
    assert (found.kind, found.best.step, found.last.step) == (kind, best, 50 * (len(pairs) - 1))


def test_without_evaluations_there_is_no_course():
    assert course([]) is None
