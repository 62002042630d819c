"""The settings of the next run: a known-good preset, the few fields one changes most, all others on request."""

from dataclasses import fields, replace

import streamlit as st

from minigpt.config import OPTIMIZERS, PRESETS, SCHEDULES, Preset, TrainConfig, preset
from minigpt.corpus.records import Corpus, bundled_corpus
from minigpt.training.samples import common_start
from minigpt.training.shelf import NAME_CHARACTERS
from minigpt.ui import messages
from minigpt.ui.text import plain, t

FIRST = ("steps", "learning_rate", "init_seed")
MORE = (
    "batch_size", "accumulation", "optimizer", "weight_decay", "schedule", "warmup_steps", "final_learning_rate",
    "clip_norm", "beta1", "beta2", "evaluate_every", "batch_seed", "dropout_seed", "sample_every",
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
    "sample_every": "Steps between samples (0 = none)",
    "dropout": "Dropout",
}


def draw(on_start) -> None:
    """One row with Start, the rest in an expander. `on_start` is the callback of the button."""
    name, steps, rate, seed, start = st.columns([2.2, 1.4, 1.4, 1.6, 1.6], vertical_alignment="bottom")
    with name:
        help = t("The settings of the source texts. Everything else follows from them.")
        st.selectbox(t("Preset"), tuple(PRESETS), key="train_preset", persist_state="session", help=help)
    base = preset(st.session_state["train_preset"])
    for column, field in ((steps, "steps"), (rate, "learning_rate"), (seed, "init_seed")):
        with column:
            _field(base, field)
    with st.expander(t("More settings"), key="train_more"):
        columns = st.columns(4)
        for place, field in enumerate((*MORE, "dropout")):
            with columns[place % 4]:
                _field(base, field)
        with columns[(len(MORE) + 1) % 4]:
            most = NAME_CHARACTERS
            st.text_input(t("Name of the run"), key="train_name", max_chars=most, persist_state="session")
        _prompts(base)
    _, faults = chosen()
    for fault in faults:
        messages.problem(fault)
    with start:
        st.button(
            t("Start"), type="primary", key="train_start", shortcut="S", width="stretch", icon=":material/play_arrow:",
            disabled=bool(faults), on_click=on_start,
        )  # fmt: skip
    text = "{about}. Corpus {corpus}: {train} training and {validation} validation records."
    records = corpus()
    about = {"about": t(base.about).capitalize(), "corpus": records.name}
    st.caption(plain(t(text, train=len(records.train), validation=len(records.validation), **about)))


def chosen() -> tuple[Preset | None, list[str]]:
    """What the widgets say at this moment; read in a callback too, where a click may bring a value just typed."""
    base = preset(st.session_state["train_preset"])
    values = {name: st.session_state[_key(base, name)] for name in (*FIRST, *MORE, "dropout")}
    values["sample_prompts"] = st.session_state[_prompts_key(base)]
    model = {name: values.pop(name) for name in ("init_seed", "dropout")}
    return settle(base, values, model)


def corpus() -> Corpus:
    """The corpus of the next run."""
    return bundled_corpus()


def settle(base: Preset, training: dict, model: dict) -> tuple[Preset | None, list[str]]:
    """The preset with these fields; or None, and a sentence for each part that is wrong."""
    parts, faults = {}, []
    for part, values in (("training", training), ("model", model)):
        try:
            parts[part] = replace(getattr(base, part), **values)
        except ValueError as error:
            faults.append(str(error))
    return (None, faults) if faults else (replace(base, **parts), [])


def _key(base: Preset, name: str) -> str:
    return f"train_{base.name}_{name}"


def _field(base: Preset, name: str) -> None:
    """A widget for one field, its own for each preset, kept while one looks at other pages."""
    part = base.training if name in {field.name for field in fields(TrainConfig)} else base.model
    key, default, label = _key(base, name), getattr(part, name), t(LABELS[name])
    if name == "sample_every" and not default:  # a newcomer sees text go from noise to pattern without asking
        default = base.training.evaluate_every
    if name in CHOICES:
        options = CHOICES[name]
        st.selectbox(label, options, options.index(default), key=key, persist_state="session")
    elif isinstance(default, int):
        st.number_input(label, value=default, step=1, key=key, persist_state="session")
    else:
        step = default / 10 or 0.001
        st.number_input(label, value=default, step=step, format="%g", key=key, persist_state="session")


def _prompts(base: Preset) -> None:
    """What the samples go on from; at first a beginning that the corpus knows."""
    st.text_area(
        t("Sample prompts, one a line"), base.training.sample_prompts or common_start(corpus()),
        key=_prompts_key(base), height=90, persist_state="session",
        help=t("Every so many steps the run goes on from each of them, with the same seed. Empty: from nothing."),
    )  # fmt: skip


def _prompts_key(base: Preset) -> str:
    return f"{_key(base, 'sample_prompts')}_{corpus().name}"
