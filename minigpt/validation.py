"""Checks of single values: each raises ValueError in one sentence that names what, got and allowed."""

from sys import float_info

from minigpt.sentences import Refusal


def check_int(name: str, value, least: int, most: int | None = None) -> None:
    """`value` must be an int (no bool) from `least` to `most`."""
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
    if not fits or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise Refusal("{name} must be a whole number {allowed}, got {value!r}", name=name, allowed=allowed, value=value)


def check_float(
    name: str, value, least: float | None = None, above: float | None = None, below: float | None = None
) -> None:
    """`value` must be finite (no bool, NaN or infinity) and within the bounds given."""
    allowed = [f"at least {least:g}"] if least is not None else []
    allowed += [f"above {above:g}"] if above is not None else []
    allowed += [f"below {below:g}"] if below is not None else []
    finite = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= float_info.max
    too_low = finite and ((least is not None and value < least) or (above is not None and value <= above))
    too_high = finite and below is not None and value >= below
    if not finite or too_low or too_high:
        raise Refusal(
            "{name} must be a finite number {allowed}, got {value!r}",
            name=name,
            allowed=" and ".join(allowed),
            value=value,
        )


def check_choice(name: str, value, allowed: tuple) -> None:
    """`value` must be one of `allowed`, of the same type (1 is not True)."""
    if not any(value == choice and type(value) is type(choice) for choice in allowed):
        raise Refusal(
            "{name} must be one of {map}, got {value!r}", name=name, map=", ".join(map(str, allowed)), value=value
        )
