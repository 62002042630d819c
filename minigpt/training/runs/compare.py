"""Where runs differ: the settings that are not the same in all of them."""

from collections.abc import Sequence

from minigpt.config import to_dict
from minigpt.training.runs.info import RunInfo


def differing_settings(infos: Sequence[RunInfo]) -> dict[str, list]:
    """Setting -> its value in each run, in the order of the configs; only settings that differ.

    Example: two runs alike but for the learning rate give {"learning_rate": [0.01, 0.003]}.
    """
    rows = [_settings(info) for info in infos]
    values = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    return {name: row for name, row in values.items() if any(value != row[0] for value in row)}


def _settings(info: RunInfo) -> dict:
    plain = {"preset": info.preset, "corpus": info.corpus, "corpus_hash": info.corpus_hash}
    return plain | {"tokenizer": info.tokenizer} | to_dict(info.model) | to_dict(info.training)
