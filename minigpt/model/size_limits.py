"""How large a model may be: checked from its config, before memory is taken. Large things are made one at a time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from minigpt.config import ModelConfig
from minigpt.limits import limit
from minigpt.model.parameters import check_parameters, parameter_count
from minigpt.sentences import Refusal

LARGE = 200_000_000  # bytes; from here on models and traces are made one at a time
_making = threading.Lock()  # of what is LARGE


def number_bytes(config: ModelConfig) -> int:
    """Bytes of one parameter, gradient, moment or stage value."""
    return getattr(torch, config.dtype).itemsize


def building_bytes(config: ModelConfig) -> int:
    """Bytes while a model is made: its weights, and one matrix C x C in which Q, K and V are drawn in turn.

    >>> building_bytes(preset("gpt2-small").model)
    500118528
    """
    return (parameter_count(config) + config.width**2) * number_bytes(config)


def check_model(config: ModelConfig) -> None:
    """Raises ValueError for a model beyond the limits of parameters, blocks or bytes; nothing is built."""
    check_parameters(config)
    needed, most = building_bytes(config), limit("MINIGPT_MODELS_BYTES")
    if needed > most:
        raise Refusal(
            "this model takes {needed:,} bytes of memory, at most {most:,} are allowed here", needed=needed, most=most
        )


@contextmanager
def one_at_a_time(size: int) -> Iterator[None]:
    """Whoever makes something of `size` bytes waits for others who make something LARGE, if it is LARGE too."""
    if size < LARGE:
        yield
        return
    with _making:
        yield
