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


# A file stays with one worker: the longest files first, so that no worker ends with a long one by itself.
LONG_BROWSER_FILES = ("test_training.py", "test_smoke.py", "test_corpus.py", "test_story.py", "test_sampling.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the browser suite after everything else: the quick tests answer first, and Playwright's event
    loop, which lives as long as its fixtures, never meets a test that starts a loop of its own."""
    items.sort(key=_turn)


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
