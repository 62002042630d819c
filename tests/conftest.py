"""Settings every test shares: one torch thread, no network for model hubs, browser tests last."""

import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

# Before anything imports torch: it reads this once, so tests that need no torch need not import it either.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from minigpt.model.gpt import MiniGPT

ROOT = Path(__file__).resolve().parent.parent

# No deadline: a slow machine is not a failing one.
settings.register_profile("minigpt", deadline=None)
settings.load_profile("minigpt")


# A file stays with one worker: the longest files first, so that no worker ends with a long one by itself.
LONG_BROWSER_FILES = ("test_training.py", "test_smoke.py", "test_corpus.py", "test_story.py", "test_sampling.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the browser suite after everything else: the quick tests answer first, and Playwright's event
    loop, which lives as long as its fixtures, never meets a test that starts another. Its tests get their mark."""
    items.sort(key=_turn)
    for item in items:
        if _turn(item):
            item.add_marker("browser")


def _turn(item: pytest.Item) -> int:
    """0 for what is no browser test, then the browser's long files in their order, then its others."""
    if "browser" not in item.path.relative_to(ROOT).parts:
        return 0
    name, long = item.path.name, LONG_BROWSER_FILES
    return 1 + (long.index(name) if name in long else len(long))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def data(root: Path) -> Path:
    """The folder of bundled corpora and runs."""
    return root / "data"


def drawn_model(**changes) -> "MiniGPT":
    """A small model whose every parameter is drawn, so that no bias hides at 0 and no norm at 1.

    Vocabulary 20, context 10, width 8, in evaluation mode; parameters near 0.4 in size, norm scales near 1."""
    import torch

    from minigpt.config import ModelConfig
    from minigpt.model.gpt import MiniGPT

    sizes = {"vocab_size": 20, "context_length": 10, "width": 8, "heads": 2, "layers": 1, "ffn_width": 12}
    model = MiniGPT(ModelConfig(**sizes | changes)).eval()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            drawn = torch.randn(parameter.shape, dtype=torch.float64, generator=generator) * 0.4
            parameter.copy_(drawn + name.endswith("weight"))
    return model


@pytest.fixture
def small() -> "Callable[..., MiniGPT]":
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
def grid_model(config_changes: dict) -> "MiniGPT":
    return drawn_model(**config_changes)


@pytest.fixture
def tolerance(config_changes: dict) -> float:
    """Greatest difference of two orders of the same sums."""
    return {"float64": 1e-12, "float32": 1e-5}[config_changes["dtype"]]
