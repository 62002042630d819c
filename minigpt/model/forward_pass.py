"""What one forward hands down to every layer: the mask, the hook, the cache, dropout, and the kernel to use."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from minigpt.model.cache import KVCache
from minigpt.model.dropout import Dropout, no_dropout
from minigpt.model.kernels.fused_attention import FusedAttention

Hook = Callable[[str, Tensor], Tensor]
"""Called at every stage with its name and value; the forward goes on with the value that it returns.

The value may be the one it got, as when stages are recorded, or another one of the same shape. A stage of a
block passes once in each block, from the first block to the last.
"""


def unhooked(name: str, values: Tensor) -> Tensor:
    """The hook of a forward without one."""
    return values


@dataclass(frozen=True, slots=True)
class ForwardPass:
    """One forward. `visible` (B or 1, 1, T, keys) is None when `fused` computes attention instead of the stages."""

    visible: Tensor | None = None
    hook: Hook = unhooked
    cache: KVCache | None = None
    dropout: Dropout = no_dropout
    fused: FusedAttention | None = None
