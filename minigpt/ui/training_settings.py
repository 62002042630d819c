"""The settings of the next run: a known-good preset, the few fields one changes most, all others on request."""

from dataclasses import fields, replace

import streamlit as st

from minigpt.config import OPTIMIZERS, PRESETS, SCHEDULES, ModelConfig, Preset, TrainConfig, preset
from minigpt.corpus.records import Corpus, bundled_corpus
from minigpt.training.shelf import NAME_CHARACTERS
from minigpt.ui import messages
from minigpt.ui.text import plain, t

SHOWN = ("steps", "learning_rate")
MORE = (
    "batch_size", "accumulation", "optimizer", "weight_decay", "schedule", "warmup_steps", "final_learning_rate",
    "clip_norm", "beta1", "beta2", "evaluate_every", "batch_seed", "dropout_seed",
)  # fmt: skip
CHOICES = {"optimizer": OPTIMIZERS, "schedule": SCHEDULES}
LABELS = {
    "steps": "Steps",
    "learning_rate": "Learning rate",
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
    "batch_seed": "Seed of the batches",
    "dropout_seed": "Seed of the dropout",
    "dropout": "Dropout",
}


def draw(on_start) -> None:
    """One row with Start, the rest in an expander. `on_start(preset, corpus, name)` is called by the button."""
    name, steps, rate, seed, start = st.columns([2.2, 1.4, 1.4, 1.6, 1.6], vertical_alignment="bottom")
    with name:
        chosen = preset(
            st.selectbox(
                t("Preset"), tuple(PRESETS), key="train_preset", persist_state="session", help=_about(),
            )
        )  # fmt: skip
    with steps:
        values = {"steps": _field(chosen, "steps")}
    with rate:
        values["learning_rate"] = _field(chosen, "learning_rate")
    with seed:
        model = {"init_seed": _field(chosen, "init_seed")}
    with st.expander(t("More settings"), key="train_more"):
        columns = st.columns(4)
        for place, field in enumerate(MORE):
            with columns[place % 4]:
                values[field] = _field(chosen, field)
        with columns[len(MORE) % 4]:
            model["dropout"] = _field(chosen, "dropout")
        with columns[(len(MORE) + 1) % 4]:
            title = st.text_input(
                t("Name of the run"), key="train_name", max_chars=NAME_CHARACTERS, persist_state="session"
            )
    ready, faults = settle(chosen, values, model)
    for fault in faults:
        messages.problem(fault)
    with start:
        st.button(
            t("Start"), type="primary", key="train_start", shortcut="S", width="stretch", icon=":material/play_arrow:",
            disabled=ready is None, on_click=on_start, args=(ready, title),
        )  # fmt: skip
    corpus = bundled_corpus()
    text = "{about}. Corpus {corpus}: {train} training and {validation} validation records."
    about = {"about": t(chosen.about).capitalize(), "corpus": corpus.name}
    st.caption(plain(t(text, train=len(corpus.train), validation=len(corpus.validation), **about)))


def corpus() -> Corpus:
    """The corpus of the next run."""
    return bundled_corpus()


def settle(chosen: Preset, training: dict, model: dict) -> tuple[Preset | None, list[str]]:
    """The preset with these fields; or None, and a sentence for each part that is wrong."""
    parts, faults = {}, []
    for part, values in (("training", training), ("model", model)):
        try:
            parts[part] = replace(getattr(chosen, part), **values)
        except ValueError as error:
            faults.append(str(error))
    return (None, faults) if faults else (replace(chosen, **parts), [])


def _field(chosen: Preset, name: str):
    """A widget for one field, its own for each preset, kept while one looks at other pages."""
    part = chosen.training if name in {field.name for field in fields(TrainConfig)} else chosen.model
    key, default, label = f"train_{chosen.name}_{name}", getattr(part, name), t(LABELS[name])
    if name in CHOICES:
        options = CHOICES[name]
        return st.selectbox(label, options, options.index(default), key=key, persist_state="session")
    if _kind(name) is int:
        return st.number_input(label, value=default, step=1, key=key, persist_state="session")
    step = 10.0**-3 if default == 0 else default / 10
    return st.number_input(label, value=float(default), step=step, format="%g", key=key, persist_state="session")


def _kind(name: str) -> type:
    return next(field.type for kind in (TrainConfig, ModelConfig) for field in fields(kind) if field.name == name)


def _about() -> str:
    return t("The settings of the source texts. Everything else follows from them.")
