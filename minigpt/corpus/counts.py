"""Statistics of a corpus as a file, so that what a job has counted is not counted again."""

from dataclasses import fields
from pathlib import Path

import numpy as np

from minigpt.corpus.statistics import SplitStatistics, Statistics
from minigpt.sentences import Refusal

SPLITS = ("train", "validation")


def write_counts(path: Path, counted: Statistics) -> None:
    """Write them as arrays of numbers (npz)."""
    values = {name: value for name, value in vars(counted).items() if name not in SPLITS}
    for split in SPLITS:
        values |= {f"{split}_{name}": value for name, value in vars(getattr(counted, split)).items()}
    with path.open("wb") as file:
        np.savez(file, **values)


def read_counts(path: Path) -> Statistics:
    """What `write_counts` wrote; ValueError for a damaged file. Nothing in it is ever executed."""
    try:
        with np.load(path, allow_pickle=False) as found:
            values = {name: array if array.ndim else int(array) for name, array in found.items()}
        own = {split: {field.name: values.pop(f"{split}_{field.name}") for field in fields(SplitStatistics)}
               for split in SPLITS}  # fmt: skip
        return Statistics(**{split: SplitStatistics(**parts) for split, parts in own.items()}, **values)
    except (OSError, ValueError, TypeError, KeyError, EOFError) as error:
        raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
