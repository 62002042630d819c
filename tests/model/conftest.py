"""Small models whose every parameter is drawn, so that no bias hides at 0 and no norm at 1."""

from collections.abc import Callable
from itertools import product

import pytest
import torch

from minigpt.config import ModelConfig
from minigpt.model.gpt import MiniGPT


def drawn_model(**changes) -> MiniGPT:
    """Vocabulary 20, context 10, width 8, in evaluation mode; parameters near 0.4 in size, norm scales near 1."""
    sizes = {"vocab_size": 20, "context_length": 10, "width": 8, "heads": 2, "layers": 1, "ffn_width": 12}
    model = MiniGPT(ModelConfig(**sizes | changes)).eval()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            drawn = torch.randn(parameter.shape, dtype=torch.float64, generator=generator) * 0.4
            parameter.copy_(drawn + name.endswith("scale"))
    return model


@pytest.fixture
def small() -> Callable[..., MiniGPT]:
    """The factory of drawn models: `small(layers=3, tied_head=True)`."""
    return drawn_model


def _grid() -> list[dict]:
    activations = ("relu", "gelu", "gelu_tanh")
    rows = product((1, 3), (False, True), ("float64", "float32"))
    return [
        {
            "layers": layers,
            "tied_head": tied,
            "dtype": dtype,
            "activation": activations[i % 3],
            "attention_bias": i % 2 == 0,
            "head_bias": i % 4 < 2,
            "heads": (2, 4, 1)[i % 3],
            "dropout": 0.1 * (i % 2),
        }
        for i, (layers, tied, dtype) in enumerate(rows)
    ]


@pytest.fixture(params=_grid(), ids=lambda row: "-".join(map(str, row.values())))
def config_changes(request: pytest.FixtureRequest) -> dict:
    """One row of the grid: blocks x tying x dtype, with activations, biases, heads and dropout cycled through."""
    return request.param


@pytest.fixture
def grid_model(config_changes: dict) -> MiniGPT:
    return drawn_model(**config_changes)


@pytest.fixture
def tolerance(config_changes: dict) -> float:
    """Greatest difference of two orders of the same sums."""
    return {"float64": 1e-12, "float32": 1e-5}[config_changes["dtype"]]
