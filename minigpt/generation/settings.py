"""The settings of one generation: what may be chosen, in which range, named presets, and a short form for links."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any

from minigpt.config import LARGEST_SAMPLE_SEED
from minigpt.sentences import Refusal, say
from minigpt.validation import check_settings, setting

LINK_ORDER = ("temperature", "top_k", "top_p", "seed", "max_new_tokens")
FEWEST_COLUMNS, MOST_COLUMNS = 2, 4


@dataclass(frozen=True)
class SampleConfig:
    """How the next tokens are chosen; every field is validated when the object is made.

    Whole numbers are stored as int and temperature and top_p as float, so that equal settings compare and
    serialize equally. Raises ValueError naming the field, what was given and what is allowed.

    >>> SampleConfig(temperature=0.8, top_k=20).greedy
    False
    """

    # divides the logits
    temperature: float = field(
        default=1.0, metadata=setting(say("Temperature"), help=say("Temperature; 0 is greedy"), least=0)
    )
    # how many tokens stay; a k above the number of tokens keeps all
    top_k: int = field(
        default=0, metadata=setting(say("Top-k"), help=say("Keep the k most probable tokens; 0 is off"), least=0)
    )
    # probability mass that stays; 0 is refused, because it would keep no token
    top_p: float = field(
        default=1.0,
        metadata=setting(say("Top-p"), help=say("Keep this much probability; 1 is off"), above=0, most=1),
    )
    # of the column's generator
    seed: int = field(
        default=31415,
        metadata=setting(say("Seed"), help=say("Seed of the random draws"), least=0, most=LARGEST_SAMPLE_SEED),
    )
    # tokens drawn at most, a closing EOS included
    max_new_tokens: int = field(
        default=24, metadata=setting(say("Tokens"), help=say("Most new tokens, a closing EOS included"), least=1)
    )
    # "stop" ends there; "slide" drops the oldest token and recomputes
    at_context_length: str = field(
        default="stop",
        metadata=setting(
            say("At the end of the context"),
            help=say("At the end of the context, stop or slide: drop the oldest token"),
            choices=("stop", "slide"),
        ),
    )

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("temperature", "top_p"):
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def greedy(self) -> bool:
        """True if temperature is 0: the most probable token is taken and no random number is used."""
        return self.temperature == 0.0

    def to_dict(self) -> dict[str, float | int | str]:
        """The fields as a plain dict that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "SampleConfig":
        """The settings from a mapping; missing keys take their defaults, unknown keys are refused.

        Example: SampleConfig.from_dict({"top_k": 5}).top_k == 5; {"topk": 5} raises ValueError.
        """
        known = [each.name for each in fields(cls)]
        unknown = sorted(str(key) for key in values if key not in known)
        if unknown:
            raise Refusal(
                "unknown sampling settings: {unknown}; allowed: {known}",
                unknown=", ".join(unknown),
                known=", ".join(known),
            )
        return cls(**values)


PRESETS: Mapping[str, SampleConfig] = MappingProxyType(
    {
        "greedy": SampleConfig(temperature=0.0),
        "temperature-0.8": SampleConfig(temperature=0.8),
        "top-k-20": SampleConfig(top_k=20),
        "top-p-0.9": SampleConfig(top_p=0.9),
        "top-k-50-top-p-0.95": SampleConfig(temperature=0.8, top_k=50, top_p=0.95),
    }
)


def next_seed(seed: int, steps: int = 1) -> int:
    """The seed `steps` later; after the largest comes 0."""
    return (seed + steps) % (LARGEST_SAMPLE_SEED + 1)


def write_columns(columns: Sequence[SampleConfig]) -> str:
    """Columns as one plain string for a link: temperature, top-k, top-p, seed and length of each, and `slide` if set.

    >>> write_columns([SampleConfig(0.0), SampleConfig(0.8, top_k=20, at_context_length="slide")])
    '0,0,1,31415,24;0.8,20,1,31415,24,slide'
    """
    return ";".join(_write(column) for column in columns)


def read_columns(text: str) -> tuple[SampleConfig, ...]:
    """What `write_columns` wrote. Raises ValueError that names the column and what is wrong with it."""
    parts = text.split(";")
    if not FEWEST_COLUMNS <= len(parts) <= MOST_COLUMNS:
        raise Refusal(
            "there must be {fewest} to {most} columns, separated by a semicolon, got {count}",
            fewest=FEWEST_COLUMNS,
            most=MOST_COLUMNS,
            count=len(parts),
        )
    return tuple(_read(number, part) for number, part in enumerate(parts, start=1))


def _write(column: SampleConfig) -> str:
    values = [repr(getattr(column, name)).removesuffix(".0") for name in LINK_ORDER]
    return ",".join(values + (["slide"] if column.at_context_length == "slide" else []))


def _read(number: int, text: str) -> SampleConfig:
    values = text.split(",")
    slides = values[5:] == ["slide"]
    if len(values) != 5 and not slides:
        raise Refusal(
            "column {number} must be {order}, then slide or nothing, got {text!r}",
            number=number,
            order=", ".join(LINK_ORDER),
            text=text,
        )
    given = dict(zip(LINK_ORDER, map(read_number, values[:5]), strict=True))
    try:
        return SampleConfig.from_dict(given | {"at_context_length": "slide" if slides else "stop"})
    except Refusal as error:
        raise Refusal("column {number}, {text!r}: {fault}", number=number, text=text, fault=error.sentence) from error


def read_number(text: str) -> int | float | str:
    """A number if `text` is one; else the text itself, for the setting to refuse with its range."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text
