"""Checks of single values at their bounds."""

from dataclasses import dataclass, field, fields

import numpy as np
import pytest

from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig
from minigpt.generation.settings import SampleConfig
from minigpt.sentences import Sentence, say
from minigpt.validation import check_choice, check_float, check_int, check_settings, setting, settings_of, with_labels


def test_values_at_the_bounds_pass():
    check_int("n", 3, least=3)
    check_int("n", 3, least=0, most=3)
    check_float("x", 0.5, least=0.5)
    check_float("x", 1, above=0, below=2)
    check_choice("kind", "a", ("a", "b"))


@pytest.mark.parametrize("value", [2, 2.0, "3", None, True, float("nan")])
def test_whole_below_or_of_another_kind(value):
    with pytest.raises(ValueError, match="n must be a whole number of at least 3, got"):
        check_int("n", value, least=3)


def test_whole_above():
    with pytest.raises(ValueError, match="n must be a whole number from 0 to 3, got 4"):
        check_int("n", 4, least=0, most=3)


@pytest.mark.parametrize("value", [0, 1, -1, float("inf"), float("nan"), "0.5", None, True])
def test_number_outside(value):
    with pytest.raises(ValueError, match="x must be a finite number above 0 and below 1, got"):
        check_float("x", value, above=0, below=1)


def test_number_below_the_least():
    with pytest.raises(ValueError, match="x must be a finite number of at least 0, got -1e-09"):
        check_float("x", -1e-9, least=0)


def test_one_of_is_strict_about_types():
    with pytest.raises(ValueError, match="flag must be one of True, False, got 1"):
        check_choice("flag", 1, (True, False))


@dataclass(frozen=True)
class Shelf:
    """A config with a setting of each kind."""

    boards: int = field(default=3, metadata=setting(say("Boards B"), least=1, most=9))
    depth: float = field(default=0.3, metadata=setting(say("Depth"), above=0, most=1))
    open: bool = field(default=True, metadata=setting(say("Open")))
    wood: str = field(default="oak", metadata=setting(say("Wood"), choices={"oak": say("Oak"), "ash": say("Ash")}))
    note: str = field(default="", metadata=setting(say("Note")))

    def __post_init__(self) -> None:
        check_settings(self)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"boards": 10}, "boards must be a whole number from 1 to 9, got 10"),
        ({"depth": 0}, "depth must be a number above 0 and at most 1, got 0"),
        ({"open": 1}, "open must be one of True, False, got 1"),
        ({"wood": "fir"}, "wood must be one of oak, ash, got 'fir'"),
        ({"note": 7}, "note must be text, got 7"),
    ],
)
def test_settings_check_themselves(values: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence) as refused:
        Shelf(**values)
    label = settings_of(Shelf)[next(iter(values))].label
    assert with_labels(refused.value.sentence, Shelf) == f"{label}{sentence.removeprefix(next(iter(values)))}"


def test_numbers_of_numpy_become_plain():
    shelf = Shelf(boards=np.int64(4), depth=np.float32(0.5))
    assert (type(shelf.boards), type(shelf.depth)) == (int, float) and shelf == Shelf(4, 0.5)


@pytest.mark.parametrize("config", [ModelConfig, TrainConfig, TokenizerConfig, SampleConfig])
def test_every_field_of_a_config_describes_itself(config: type):
    known = settings_of(config)
    assert list(known) == [each.name for each in fields(config)]
    for each in known.values():
        assert isinstance(each.label, Sentence) and each.form in ("", "first", "shape", "more")
    assert len({each.label for each in known.values()}) == len(known)
