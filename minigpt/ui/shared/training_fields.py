"""The fields of a run's settings: what each is called, and the widget that sets it."""

from dataclasses import fields

import streamlit as st

from minigpt.config import MODES, OPTIMIZERS, SCHEDULES, TOKENIZERS, ModelConfig, TokenizerConfig, TrainConfig
from minigpt.presets import Preset
from minigpt.ui.base.text import t

FIRST = ("steps", "learning_rate")
SHAPE = ("kind", "merges", "mode", "context_length", "width", "heads", "layers", "init_seed")
MORE = (
    "batch_size", "accumulation", "optimizer", "weight_decay", "schedule", "warmup_steps", "final_learning_rate",
    "clip_norm", "beta1", "beta2", "evaluate_every", "evaluation_rows", "batch_seed", "dropout_seed", "dropout",
    "sample_every",
)  # fmt: skip
CHOICES = {"optimizer": OPTIMIZERS, "schedule": SCHEDULES, "mode": MODES, "kind": TOKENIZERS}
LABELS = {
    "steps": "Steps",
    "learning_rate": "Learning rate",
    "kind": "Tokenizer",
    "merges": "Merges",
    "mode": "Batches of",
    "context_length": "Context length",
    "width": "Width",
    "heads": "Heads",
    "layers": "Blocks",
    "init_seed": "Seed of the weights",
    "batch_size": "Records in a batch",
    "accumulation": "Batches an update",
    "optimizer": "Optimizer",
    "weight_decay": "Weight decay",
    "schedule": "Learning rate over time",
    "warmup_steps": "Warm-up steps",
    "final_learning_rate": "Final learning rate",
    "clip_norm": "Clip the gradient norm at (0 = off)",
    "beta1": "Adam: beta 1",
    "beta2": "Adam: beta 2",
    "evaluate_every": "Steps between evaluations",
    "evaluation_rows": "Records an evaluation (0 = all)",
    "batch_seed": "Seed of the batches",
    "dropout_seed": "Seed of the dropout",
    "dropout": "Dropout",
    "sample_every": "Steps between samples (0 = none)",
}
PARTS = {"training": TrainConfig, "model": ModelConfig, "tokenizer": TokenizerConfig}


def part_of(name: str) -> str:
    """Which config a field belongs to."""
    return next(part for part, kind in PARTS.items() if name in {known.name for known in fields(kind)})


def in_columns(base: Preset, names: tuple[str, ...]) -> None:
    """Widgets for these fields, four in a row."""
    columns = st.columns(4)
    for place, field_name in enumerate(names):
        with columns[place % 4]:
            field(base, field_name)


def key_of(base: Preset, name: str) -> str:
    """The widget key of a field: each preset has its own."""
    return f"train_{base.name}_{name}"


def value_of(base: Preset, name: str):
    """What the next run takes: as set, else the preset's value."""
    key = key_of(base, name)
    if key in st.session_state:
        return st.session_state[key]
    if name == "sample_every":  # a newcomer sees text go from noise to pattern without asking
        return base.training.sample_every or base.training.evaluate_every
    return _default(base, name)


def field(base: Preset, name: str) -> None:
    """A widget for one field, its own for each preset, kept while it is not on the page."""
    key, default, label = key_of(base, name), _default(base, name), t(LABELS[name])
    st.session_state[key] = value_of(base, name)
    if name in CHOICES:
        st.selectbox(label, CHOICES[name], key=key, persist_state="session", format_func=_option_title)
    elif isinstance(default, int):
        off = name == "merges" and value_of(base, "kind") != "byte_bpe"
        st.number_input(label, step=1, key=key, persist_state="session", disabled=off)
    else:
        st.number_input(label, step=default / 10 or 0.001, format="%g", key=key, persist_state="session")


def _default(base: Preset, name: str):
    return getattr(getattr(base, part_of(name)), name)


def _option_title(option: str) -> str:
    names = {"byte_bpe": t("byte-level BPE"), "chars": t("characters")}
    names |= {"records": t("whole records"), "windows": t("windows of the text")}
    return names.get(option, option)
