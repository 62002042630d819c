"""Settings as one short plain string, for links: `0.8,50,0.95,31415,24` and `;` between columns."""

from collections.abc import Sequence
from contextlib import suppress

from minigpt.generation.settings import SampleConfig
from minigpt.sentences import Refusal

ORDER = ("temperature", "top_k", "top_p", "seed", "max_new_tokens")
FEWEST, MOST = 2, 4  # columns


def write_columns(columns: Sequence[SampleConfig]) -> str:
    """Temperature, top-k, top-p, seed and length of each column; `slide` follows where a column slides.

    >>> write_columns([SampleConfig(0.0), SampleConfig(0.8, top_k=20, at_context_length="slide")])
    '0,0,1,31415,24;0.8,20,1,31415,24,slide'
    """
    return ";".join(_write(column) for column in columns)


def read_columns(text: str) -> tuple[SampleConfig, ...]:
    """What `write_columns` wrote. Raises ValueError that names the column and what is wrong with it."""
    parts = text.split(";")
    if not FEWEST <= len(parts) <= MOST:
        raise Refusal(
            "{count} columns are given; allowed: {fewest} to {most}, separated by ;",
            count=len(parts),
            fewest=FEWEST,
            most=MOST,
        )
    return tuple(_read(number, part) for number, part in enumerate(parts, start=1))


def _write(column: SampleConfig) -> str:
    values = [repr(getattr(column, name)).removesuffix(".0") for name in ORDER]
    return ",".join(values + (["slide"] if column.at_context_length == "slide" else []))


def _read(number: int, text: str) -> SampleConfig:
    values = text.split(",")
    slides = values[5:] == ["slide"]
    if len(values) != 5 and not slides:
        raise Refusal(
            "column {number} is {text!r}; allowed: {order}, then slide or nothing",
            number=number,
            text=text,
            order=", ".join(ORDER),
        )
    try:
        temperature, top_k, top_p, seed, length = map(_number, values[:5])
        return SampleConfig(temperature, top_k, top_p, seed, length, "slide" if slides else "stop")
    except ValueError as error:
        raise Refusal("column {number}, {text!r}: {error}", number=number, text=text, error=error) from error


def _number(text: str) -> int | float | str:
    """A number if `text` is one; else the text itself, for the setting to refuse with its range."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text
