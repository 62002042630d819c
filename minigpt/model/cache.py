"""The key-value cache: keys and values of past positions, kept so that a new token costs one row.

It is an argument of the forward, never a part of the model: one model serves many texts at once.
"""

import torch

from minigpt.config import ModelConfig
from minigpt.sentences import Refusal


class KVCache:
    """Preallocated keys and values, (L, B, H, capacity, D) each; `length` positions are filled.

    Raises ValueError for a capacity beyond the context length: learned positions end there.
    """

    def __init__(self, config: ModelConfig, batch: int = 1, capacity: int | None = None):
        capacity = config.context_length if capacity is None else capacity
        if not 1 <= capacity <= config.context_length:
            raise Refusal(
                "cache capacity must be 1 to {context_length} positions, got {capacity}",
                context_length=config.context_length,
                capacity=capacity,
            )
        shape = (config.layers, batch, config.heads, capacity, config.head_width)
        self.keys = torch.empty(shape, dtype=getattr(torch, config.dtype))
        self.values = torch.empty_like(self.keys)
        self.length = 0

    @property
    def capacity(self) -> int:
        """Greatest number of positions."""
        return self.keys.shape[3]

    @property
    def bytes(self) -> int:
        """Bytes held: 2 x L x B x H x capacity x D x bytes a number."""
        return 2 * self.keys.numel() * self.keys.element_size()

    def append(self, block: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Write (B, H, T, D) after the filled positions of `block`; all its keys and values so far."""
        end = self.length + k.shape[2]
        self.keys[block, :, :, self.length : end] = k
        self.values[block, :, :, self.length : end] = v
        return self.keys[block, :, :, :end], self.values[block, :, :, :end]

    def room(self, positions: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of all blocks, (L, B, H, length + positions, D): the filled and the next places, to write."""
        end = self.length + positions
        return self.keys[:, :, :, :end], self.values[:, :, :, :end]

    def keep(self, rows: list[int]) -> None:
        """Go on with these texts of the batch only, in this order."""
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def advance(self, positions: int) -> None:
        """Count `positions` as filled, once every block has appended them."""
        self.length += positions


def cache_bytes(config: ModelConfig, positions: int) -> int:
    """2 x layers x heads x head width x positions x bytes a number, of one text.

    >>> cache_bytes(preset("gpt2-small").model, 1024)
    75497472
    """
    numbers = 2 * config.layers * config.heads * config.head_width * positions
    return numbers * getattr(torch, config.dtype).itemsize
