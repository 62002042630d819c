"""The settings of one generation: what may be chosen, in which range, and named presets."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType

from minigpt.sentences import Refusal

CONTEXT_POLICIES = ("stop", "slide")
LARGEST_SEED = 2**32 - 1


def check_temperature(value: object) -> float:
    """Return the temperature as float.

    0 means greedy; any finite number above 0 divides the logits. Raises ValueError for negative
    numbers, NaN, inf, booleans and text.

    Example: check_temperature(1) == 1.0; check_temperature("0,7") raises.
    """
    number = _as_float(value)
    if number is None or not (0.0 <= number < math.inf):
        raise Refusal("temperature is {value!r}; allowed: 0 (greedy) or a finite number above 0", value=value)
    return number


def check_top_k(value: object) -> int:
    """Return top_k as int.

    0 means off; k >= 1 keeps the k best tokens, and a k above the number of tokens keeps all.
    Raises ValueError for negative numbers, fractions (also 2.0), booleans and text.

    Example: check_top_k(20) == 20; check_top_k(-1) raises.
    """
    return _as_int("top_k", value, 0)


def check_top_p(value: object) -> float:
    """Return top_p as float.

    1.0 means off. The range is (0, 1]: 0 is an error, because no set of tokens is meant by it.

    Example: check_top_p(0.9) == 0.9; check_top_p(0) raises.
    """
    number = _as_float(value)
    if number is None or not (0.0 < number <= 1.0):
        raise Refusal("top_p is {value!r}; allowed: a number in (0, 1], where 1 means off", value=value)
    return number


@dataclass(frozen=True)
class SampleConfig:
    """How the next tokens are chosen; every field is validated when the object is made.

    Whole numbers are stored as int and temperature and top_p as float, so equal settings compare and
    serialise equally. Raises ValueError naming the field, what was given and what is allowed.

    Example: SampleConfig(temperature=0.8, top_k=20).greedy is False.
    """

    temperature: float = 1.0  # divides the logits; 0 is greedy
    top_k: int = 0  # how many tokens stay; 0 is off
    top_p: float = 1.0  # probability mass that stays, (0, 1]; 1 is off
    seed: int = 31415  # of the column's own generator; its 32 bits are all that torch uses on the CPU
    max_new_tokens: int = 24  # tokens drawn at most, a closing EOS included
    at_context_length: str = "stop"  # "stop" ends there; "slide" drops the oldest token and recomputes

    def __post_init__(self) -> None:
        checked = {
            "temperature": check_temperature(self.temperature),
            "top_k": check_top_k(self.top_k),
            "top_p": check_top_p(self.top_p),
            "seed": _as_int("seed", self.seed, 0, LARGEST_SEED),
            "max_new_tokens": _as_int("max_new_tokens", self.max_new_tokens, 1),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.at_context_length not in CONTEXT_POLICIES:
            raise Refusal(
                "at_context_length is {at_context_length!r}; allowed: 'stop' or 'slide'",
                at_context_length=self.at_context_length,
            )

    @property
    def greedy(self) -> bool:
        """True if temperature is 0: the best token is taken and no random number is used."""
        return self.temperature == 0.0

    def to_dict(self) -> dict[str, float | int | str]:
        """Return the fields as a plain dict that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> "SampleConfig":
        """Build the settings from a mapping; missing keys take their defaults, unknown keys are refused.

        Example: SampleConfig.from_dict({"top_k": 5}).top_k == 5; {"topk": 5} raises ValueError.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(str(key) for key in values if key not in known)
        if unknown:
            raise Refusal(
                "unknown sampling settings {unknown}; allowed: {known}",
                unknown=", ".join(unknown),
                known=", ".join(known),
            )
        return cls(**values)


def _as_float(value: object) -> float | None:
    """Return a real number as float, None for anything else; whole numbers beyond float become inf."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _as_int(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return a whole number from `low` to `high` as int, or raise; `high` None is no upper bound."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        upper = "" if high is None else f" to {high}"
        off = " (0 is off)" if name == "top_k" else ""
        raise Refusal(
            "{name} is {value!r}; allowed: a whole number from {low}{upper}{off}",
            name=name,
            value=value,
            low=low,
            upper=upper,
            off=off,
        )
    return int(value)


PRESETS: Mapping[str, SampleConfig] = MappingProxyType(
    {
        "greedy": SampleConfig(temperature=0.0),
        "temperature-0.8": SampleConfig(temperature=0.8),
        "top-k-20": SampleConfig(top_k=20),
        "top-p-0.9": SampleConfig(top_p=0.9),
        "top-k-50-top-p-0.95": SampleConfig(temperature=0.8, top_k=50, top_p=0.95),
    }
)
