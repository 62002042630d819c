"""What a model takes in memory, in bytes, from its shape. Everything here is exact for what it names.

Python objects, the working memory of products and what torch keeps between forward and backward are not
counted: those depend on kernels, not on the config.
"""

from dataclasses import dataclass

from minigpt.config import ModelConfig
from minigpt.model.cache import cache_bytes
from minigpt.model.parameters import parameter_count
from minigpt.model.size_limits import number_bytes


@dataclass(frozen=True)
class Memory:
    """Bytes of the stored numbers of one model. A tied matrix is held once."""

    number: int  # bytes of one number: 8 in float64, 4 in float32
    weights: int
    gradients: int  # one for each weight, while an update is made
    moments: int  # Adam's two for each weight
    cache_token: int  # keys and values of one position of one text
    cache_context: int  # of a full context
    logits_context: int  # scores of a full context

    @property
    def training(self) -> int:
        """Weights, gradients and moments: 4 numbers a parameter."""
        return self.weights + self.gradients + self.moments


def memory(config: ModelConfig) -> Memory:
    """The memory of a model of `config`; nothing is built.

    >>> memory(preset("gpt2-small").model).weights, memory(preset("gpt2-small").model).cache_context
    (497759232, 75497472)
    """
    size = number_bytes(config)
    weights = parameter_count(config) * size
    return Memory(
        number=size,
        weights=weights,
        gradients=weights,
        moments=2 * weights,
        cache_token=cache_bytes(config, 1),
        cache_context=cache_bytes(config, config.context_length),
        logits_context=config.context_length * config.vocab_size * size,
    )


def readable_bytes(count: int) -> str:
    """Bytes in units of 1,024 with three digits.

    >>> readable_bytes(75_497_472), readable_bytes(500)
    ('72.0 MiB', '500 B')
    """
    if count < 1024:
        return f"{count} B"
    value, units = count / 1024, ["KiB", "MiB", "GiB", "TiB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1024, units[1:]
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f} {units[0]}"
