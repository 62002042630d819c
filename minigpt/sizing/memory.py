"""What a model takes in memory, in bytes, from its shape. Everything here is exact for what it names.

Python objects, the working memory of products and what torch keeps between forward and backward are not
counted: those depend on kernels, not on the config.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch

from minigpt.config import ModelConfig
from minigpt.limits import limit
from minigpt.model.cache import cache_bytes
from minigpt.model.parameters import check_parameters, parameter_count
from minigpt.sentences import Refusal

LARGE = 200_000_000  # bytes; from here on models and traces are made one at a time
_making = threading.Lock()  # of what is LARGE


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


def number_bytes(config: ModelConfig) -> int:
    """Bytes of one parameter, gradient, moment or stage value."""
    return getattr(torch, config.dtype).itemsize


def trace_bytes(config: ModelConfig, positions: int) -> int:
    """Bytes of all stages of one traced record of `positions` slots.

    A block keeps 15 rows of width C, 2 of F, scores and weights (H, T, T) as numbers, and the mask (T, T)
    as single bytes; around the blocks there are 3 rows of C and the logits. MG-1, 64 slots: 497,152.
    """
    width, heads = config.width, config.heads
    row = 15 * width + 2 * config.ffn_width + 2 * heads * positions
    numbers = positions * (config.layers * row + 3 * width + config.vocab_size)
    return numbers * number_bytes(config) + config.layers * positions * positions


def building_bytes(config: ModelConfig) -> int:
    """Bytes while a model is made: its weights, and one matrix C x C in which Q, K and V are drawn in turn.

    >>> building_bytes(preset("gpt2-small").model)
    500118528
    """
    return (parameter_count(config) + config.width**2) * number_bytes(config)


def tracing_bytes(config: ModelConfig, positions: int) -> int:
    """Bytes while a record of `positions` slots is traced: every stage, and what the forward itself holds.

    That is at most one block's stages, two more arrays (H, T, T) and a mask inside the softmax, and the logits
    twice, for their losses. MG-1, 64 slots: 1,278,464.
    """
    squares = positions * positions
    inside = (2 * config.heads * squares + positions * config.vocab_size) * number_bytes(config) + squares
    return trace_bytes(config, positions) + trace_bytes(replace(config, layers=1), positions) + inside


def check_model(config: ModelConfig) -> None:
    """Raises ValueError for a model beyond the limits of parameters, blocks or bytes; nothing is built."""
    check_parameters(config)
    needed, most = building_bytes(config), limit("MINIGPT_MODELS_BYTES")
    if needed > most:
        raise Refusal(
            "this model takes {needed:,} bytes of memory, at most {most:,} are allowed here", needed=needed, most=most
        )


def check_trace(config: ModelConfig, positions: int) -> None:
    """Raises ValueError when the stages of a record of `positions` slots are beyond the limit of bytes."""
    needed, most = tracing_bytes(config, positions), limit("MINIGPT_RECORD_BYTES")
    if needed > most:
        raise Refusal(
            "a record in {positions:,} slots takes {needed:,} bytes of memory in this model, at most {most:,} are "
            "allowed here",
            positions=positions,
            needed=needed,
            most=most,
        )


@contextmanager
def one_at_a_time(size: int) -> Iterator[None]:
    """A thread that makes something of at least LARGE bytes waits for others that do."""
    if size < LARGE:
        yield
        return
    with _making:
        yield


def readable_bytes(count: int) -> str:
    """Bytes in units of 1,024 with three digits.

    >>> readable_bytes(75_497_472), readable_bytes(500)
    ('72.0 MiB', '500 bytes')
    """
    if count < 1024:
        return f"{count} bytes"
    value, units = count / 1024, ["KiB", "MiB", "GiB", "TiB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1024, units[1:]
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f} {units[0]}"
