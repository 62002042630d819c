"""Checks of single values, each with one sentence: what, got, allowed; and config fields that describe themselves.

A field of a config says once what it is called, what it allows and where a form shows it:
`steps: int = field(default=600, metadata=setting(say("Steps"), least=1))`. The check of the config, the Models and
Training pages and the command line all read it from there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Integral, Real
from typing import Any

from minigpt.sentences import Refusal, Sentence


def check_int(name: str, value: object, least: int, most: int | None = None) -> None:
    """`value` must be a whole number (no bool) from `least` to `most`."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        if least <= int(value) and (most is None or int(value) <= most):
            return
    if most is None:
        raise Refusal(
            "{name} must be a whole number of at least {least}, got {value!r}", name=name, least=least, value=value
        )
    raise Refusal(
        "{name} must be a whole number from {least} to {most}, got {value!r}",
        name=name,
        least=least,
        most=most,
        value=value,
    )


def check_float(
    name: str,
    value: object,
    least: float | None = None,
    above: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> None:
    """`value` must be finite (no bool, NaN or infinity) and within the bounds given: `least` or `above` at least."""
    number = _finite(value)
    if (
        number is not None
        and (least is None or number >= least)
        and (above is None or number > above)
        and (below is None or number < below)
        and (most is None or number <= most)
    ):
        return
    values = {"name": name, "value": value, "least": least, "above": above, "below": below, "most": most}
    if most is not None:
        raise Refusal("{name} must be a number above {above:g} and at most {most:g}, got {value!r}", **values)
    if below is None and above is None:
        raise Refusal("{name} must be a finite number of at least {least:g}, got {value!r}", **values)
    if below is None:
        raise Refusal("{name} must be a finite number above {above:g}, got {value!r}", **values)
    if above is None:
        raise Refusal(
            "{name} must be a finite number of at least {least:g} and below {below:g}, got {value!r}", **values
        )
    raise Refusal("{name} must be a finite number above {above:g} and below {below:g}, got {value!r}", **values)


def check_choice(name: str, value: object, allowed: Sequence[object]) -> None:
    """`value` must be one of `allowed`, of the same type (1 is not True)."""
    if not any(value == choice and type(value) is type(choice) for choice in allowed):
        raise Refusal(
            "{name} must be one of {allowed}, got {value!r}",
            name=name,
            allowed=", ".join(map(str, allowed)),
            value=value,
        )


@dataclass(frozen=True)
class Setting:
    """What a field of a config is called, what it allows, and in which part of the training form it is shown."""

    label: str
    help: str
    bounds: Mapping[str, Any]  # least, most, above, below, as the checks take them
    choices: Mapping[str, str]  # each with the name by which a form shows it; empty for numbers and free text
    form: str  # "first", "shape" or "more"; "" is not shown on the Training page


def setting(
    label: str,
    *,
    help: str = "",  # as in argparse and Streamlit, which take it under this name
    choices: Sequence[str] | Mapping[str, str] = (),
    form: str = "",
    **bounds: float,
) -> dict[str, Setting]:
    """The metadata of a dataclass field that `check_settings` checks and forms show."""
    named = choices if isinstance(choices, Mapping) else {choice: choice for choice in choices}
    return {"setting": Setting(label, help, bounds, named, form)}


def settings_of(config: Any) -> dict[str, Setting]:
    """The settings of a config or of its class, by the names of the fields, in their order."""
    return {field.name: field.metadata["setting"] for field in fields(config) if "setting" in field.metadata}


def check_settings(config: Any) -> None:
    """Every setting of a new config must be of its field's type and within its bounds; numpy scalars become plain."""
    known = settings_of(config)
    for field in fields(config):
        name, value, described = field.name, getattr(config, field.name), known[field.name]
        if field.type is bool:
            check_choice(name, value, (True, False))
        elif field.type is int:
            check_int(name, value, **described.bounds)
        elif field.type is float:
            check_float(name, value, **described.bounds)
        elif described.choices:
            check_choice(name, value, tuple(described.choices))
        elif not isinstance(value, str):
            raise Refusal("{name} must be text, got {value!r:.60}", name=name, value=value)
        if not isinstance(value, bool | int | float | str):
            object.__setattr__(config, name, int(value) if field.type is int else float(value))


def with_labels(sentence: str, config: Any) -> str:
    """A sentence of a check, with the field called by its label as in a form."""
    known = settings_of(config)
    if isinstance(sentence, Sentence) and (name := sentence.values.get("name")) in known:
        return Sentence(sentence.template, sentence.values | {"name": known[name].label}, sentence.plural)
    return sentence


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
