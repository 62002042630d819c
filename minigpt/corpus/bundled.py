"""The corpora that the project ships: the folders of data/ that hold a corpus.json."""

from pathlib import Path

from minigpt.checks import one_of
from minigpt.corpus.records import BUNDLED_CORPUS

DATA = BUNDLED_CORPUS.parents[1]
FIRST = BUNDLED_CORPUS.parent.name  # that of the shipped run


def bundled_names() -> tuple[str, ...]:
    """Their folders' names, that of the shipped run first."""
    names = sorted(path.parent.name for path in DATA.glob("*/corpus.json"))
    return (FIRST, *(name for name in names if name != FIRST))


def bundled_path(name: str) -> Path:
    """The corpus file of one of them; ValueError that lists the names for any other."""
    one_of("the corpus", name, bundled_names())
    return DATA / name / "corpus.json"
