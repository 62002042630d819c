"""Settings every test shares: one torch thread, no network for model hubs, browser tests last."""

import os
from pathlib import Path

# Before anything imports torch: it reads this once, so tests that need no torch need not import it either.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# No deadline: a slow machine is not a failing one.
settings.register_profile("minigpt", deadline=None)
settings.load_profile("minigpt")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the browser suite after everything else: the quick tests answer first, and Playwright's event
    loop, which lives as long as its fixtures, never meets a test that starts a loop of its own."""
    items.sort(key=lambda item: "browser" in item.path.relative_to(ROOT).parts)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def data(root: Path) -> Path:
    """The folder of bundled corpora and runs."""
    return root / "data"
