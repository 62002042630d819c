"""The titles of runs, for every list of them."""

from functools import lru_cache
from pathlib import Path

from minigpt.config import ModelConfig, to_dict
from minigpt.inspection.sources import BUNDLED
from minigpt.presets import PRESETS, changed_words
from minigpt.training.runs.info import read_info
from minigpt.training.runs.library import RUNS, run_folder
from minigpt.ui.base.text import t


def run_title(run_id: str) -> str:
    """The title of a run: its name if it has one, its settings, and the end of its id."""
    try:
        return _title(run_folder(run_id))
    except ValueError:
        return t("deleted run {id}", id=run_id[-4:])


@lru_cache(maxsize=1024)  # nothing of it changes while the run is there, and a deleted one keeps its name
def _title(folder: Path) -> str:
    info, label = read_info(folder), RUNS.label(folder.name)
    changed = shape_words(info.preset, info.model)
    rate = info.training.learning_rate
    if changed:
        about = t("{shape}; rate {rate:g}", shape=changed, rate=rate)
    else:
        about = t("{preset}, rate {rate:g}", preset=info.preset, rate=rate)
    if label is None:
        return t("Command line: {about} · {id}", about=about, id=folder.name)
    return t("{name}: {about} · {id}", name=label.name or t("Run"), about=about, id=folder.name[-4:])


def shape_words(preset_name: str, model: ModelConfig) -> str:
    """Where a shape is not that of its preset: `mg-1, changed: width 24, heads 3`; "" for the preset itself.

    The vocabulary follows from the corpus, hidden layers in the preset's ratio from the width; a seed is
    not part of the shape. A preset that is no longer there has no changes.
    """
    if preset_name not in PRESETS:
        return ""
    base, values = PRESETS[preset_name].model, to_dict(model)
    follows = {"vocab_size", "init_seed"}
    if model.ffn_width == model.width * base.ffn_width // base.width:
        follows.add("ffn_width")
    return changed_words(preset_name, {name: value for name, value in values.items() if name not in follows})


def source_title(run_id: str) -> str:
    """The title of a run in a comparison: `mini-gpt` is the shipped one."""
    return t("the shipped run") if run_id == BUNDLED else run_title(run_id)
