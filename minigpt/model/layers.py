"""The layers inside a block other than attention: the affine map, the norm, the feed-forward network.

Weights are [inputs, outputs]: rows are inputs, columns are outputs.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from minigpt.config import ModelConfig
from minigpt.model.forward_pass import Hook

ACTIVATION: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
}


def linear(x: Tensor, matrix: Tensor, bias: Tensor | None) -> Tensor:
    """x (..., inputs) times matrix (inputs, outputs), plus bias (outputs,) if there is one."""
    return functional.linear(x, matrix.T, bias)


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, over the last axis.

    Source: J. Ba, J. Kiros, G. Hinton (2016), Layer Normalization.
    """

    vectors = 2  # of the width: weight and bias

    def __init__(self, width: int, epsilon: float, dtype: torch.dtype):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.empty(width, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(width, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """(..., C) -> (..., C)."""
        return torch.layer_norm(x, self.weight.shape, self.weight, self.bias, self.epsilon)

    def function(self) -> Callable[[Tensor], Tensor]:
        """`forward` with its parameters looked up once, for a kernel that calls it for every position."""
        shape, weight, bias, epsilon = self.weight.shape, self.weight, self.bias, self.epsilon
        return lambda x: torch.layer_norm(x, shape, weight, bias, epsilon)


NORMS = {"layer": LayerNorm}


def norm_layer(config: ModelConfig, dtype: torch.dtype) -> LayerNorm:
    """A norm over the width of `config`."""
    return NORMS["layer"](config.width, config.norm_epsilon, dtype)


def norm_parameters(config: ModelConfig) -> int:
    """How many parameters one norm has."""
    return NORMS["layer"].vectors * config.width


class FeedForward(nn.Module):
    """Two matrices with an activation between, at each position alone."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype):
        super().__init__()
        self.activation = config.activation
        self.w1 = nn.Parameter(torch.empty(config.width, config.ffn_width, dtype=dtype))
        self.b1 = nn.Parameter(torch.empty(config.ffn_width, dtype=dtype))
        self.w2 = nn.Parameter(torch.empty(config.ffn_width, config.width, dtype=dtype))
        self.b2 = nn.Parameter(torch.empty(config.width, dtype=dtype))

    def forward(self, x: Tensor, hook: Hook) -> Tensor:
        """(B, T, C) -> (B, T, C) through (B, T, F)."""
        hidden = hook("ffn_linear", linear(x, self.w1, self.b1))
        hidden = hook("ffn_activation", ACTIVATION[self.activation](hidden))
        return hook("ffn_output", linear(hidden, self.w2, self.b2))


def published_name(name: str, config: ModelConfig) -> str:
    """A stage's name on the command line and in links: that of the activation says which one it is."""
    return f"ffn_{config.activation}" if name == "ffn_activation" else name
