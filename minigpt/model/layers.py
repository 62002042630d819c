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


class RMSNorm(nn.Module):
    """x / sqrt(mean square + epsilon) * weight, over the last axis.

    Source: B. Zhang, R. Sennrich (2019), Root Mean Square Layer Normalization.
    """

    vectors = 1  # of the width: weight

    def __init__(self, width: int, epsilon: float, dtype: torch.dtype):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.empty(width, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """(..., C) -> (..., C)."""
        return torch.rms_norm(x, self.weight.shape, self.weight, self.epsilon)

    def function(self) -> Callable[[Tensor], Tensor]:
        """`forward` with its parameters looked up once, for a kernel that calls it for every position."""
        shape, weight, epsilon = self.weight.shape, self.weight, self.epsilon
        return lambda x: torch.rms_norm(x, shape, weight, epsilon)


NORMS: dict[str, type[LayerNorm] | type[RMSNorm]] = {"layer": LayerNorm, "rms": RMSNorm}


def norm_layer(config: ModelConfig, dtype: torch.dtype) -> LayerNorm | RMSNorm:
    """A norm over the width of `config`."""
    return NORMS[config.norm](config.width, config.norm_epsilon, dtype)


def norm_parameters(config: ModelConfig) -> int:
    """How many parameters one norm has."""
    return NORMS[config.norm].vectors * config.width


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
