"""The fields of a run's settings on the training form: their widgets, and a shape handed over from the Models page.

What each field is called, what it allows and where the form shows it is in the config's own metadata.
"""

from dataclasses import fields, replace
from typing import Any

import streamlit as st

from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig
from minigpt.corpus.advice import Advice
from minigpt.presets import SEPARATOR, Preset, preset, shape_name
from minigpt.ui.base.text import plain, t, translate
from minigpt.ui.shared import corpora
from minigpt.ui.shared.corpus_fit import advice_for
from minigpt.validation import Setting, settings_of

PARTS = {"training": TrainConfig, "model": ModelConfig, "tokenizer": TokenizerConfig}
SETTINGS: dict[str, Setting] = {  # in the order of the form
    name: known for part in ("tokenizer", "training", "model") for name, known in settings_of(PARTS[part]).items()
}
FIRST, SHAPE, MORE = (
    tuple(name for name, known in SETTINGS.items() if known.form == form) for form in ("first", "shape", "more")
)
UNFOLDED = "train_another"  # session: whether the settings are open beside a run, as they are when handed over
FITTED = "train_fitted"  # session: key of the corpus that the settings were last fitted to
SHAPED = "train_shaped"  # session: the preset's name and the model fields that differ from it


def part_of(name: str) -> str:
    """Which config a field belongs to."""
    return next(part for part, kind in PARTS.items() if name in settings_of(kind))


def in_columns(base: Preset, names: tuple[str, ...]) -> None:
    """Widgets for these fields, four in a row."""
    columns = st.columns(4)
    for place, name in enumerate(names):
        with columns[place % 4]:
            field(base, name)


def key_of(base: Preset, name: str) -> str:
    """The widget key of a field: each preset has its own."""
    return f"train_{base.name}_{name}"


def value_of(base: Preset, name: str) -> Any:
    """What the next run takes: as set, else the preset's value."""
    key = key_of(base, name)
    if key in st.session_state:
        return st.session_state[key]
    if name == "sample_every":  # so that a newcomer sees text go from noise to pattern
        return base.training.sample_every or base.training.evaluate_every
    return _default(base, name)


def field(base: Preset, name: str) -> None:
    """A widget for one field, a different one for each preset, kept while it is not on the page."""
    known, key, default = SETTINGS[name], key_of(base, name), _default(base, name)
    label = translate(known.label)
    st.session_state[key] = value_of(base, name)
    if known.choices:
        titles = {choice: translate(title) for choice, title in known.choices.items()}
        st.selectbox(label, list(titles), key=key, persist_state="session", format_func=lambda choice: titles[choice])
    elif isinstance(default, bool):
        st.checkbox(label, key=key, persist_state="session")
    elif isinstance(default, int):
        off = name == "merges" and value_of(base, "kind") != "byte_bpe"
        st.number_input(label, step=1, key=key, persist_state="session", disabled=off)
    else:
        st.number_input(label, step=default / 10 or 0.001, format="%g", key=key, persist_state="session")


def hand_over(name: str, config: ModelConfig) -> None:
    """Make the next run one of this config; its vocabulary is left to the corpus."""
    base = preset(name)
    values = {known.name: getattr(config, known.name) for known in fields(ModelConfig)}
    values = {field: value for field, value in values.items() if field != "vocab_size"}
    st.session_state["train_preset"] = name
    st.session_state[UNFOLDED] = True
    st.session_state[SHAPED] = (name, {f: value for f, value in values.items() if value != getattr(base.model, f)})
    for field in (*FIRST, *SHAPE, *MORE):
        if field in values:
            st.session_state[key_of(base, field)] = values[field]


def fit(choice: corpora.Choice, advice: Advice | None = None) -> None:
    """Set what a first run on this corpus does best with, or what was advised, before the widgets are drawn."""
    advice = advice or advice_for(choice)
    st.session_state["train_preset"] = advice.preset
    values: dict[str, Any] = {
        "kind": advice.tokenizer.kind,
        "mode": advice.mode,
        "context_length": advice.context_length,
        "evaluation_rows": advice.evaluation_rows,
    }
    if advice.tokenizer.kind == "byte_bpe":
        values["merges"] = advice.tokenizer.merges
    for name, value in values.items():
        st.session_state[key_of(preset(advice.preset), name)] = value
    st.session_state[FITTED] = choice.key
    st.session_state[UNFOLDED] = True


def shaped(base: Preset) -> Preset:
    """The preset with the shape that was handed over for it, or as it is."""
    name, changes = st.session_state.get(SHAPED, ("", {}))
    return replace(base, model=replace(base.model, **changes)) if name == base.name else base


def note(base: Preset) -> None:
    """Say what was handed over for this preset beyond the fields of the form, and offer to drop it all."""
    differing = shape_name(base.name, replace(shaped(base).model, **_in_form(base.name))).split(SEPARATOR)[1:]
    if not differing:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="train_shape_note"):
        st.caption(plain(t("From the Models page: {fields}.", fields=", ".join(differing))), width="content")
        st.button(t("Drop"), key="train_shape_drop", type="tertiary", on_click=_drop, args=(base.name,))


def _drop(name: str) -> None:
    st.session_state.pop(SHAPED, None)
    for field, value in _in_form(name).items():
        st.session_state[key_of(preset(name), field)] = value


def _in_form(name: str) -> dict[str, Any]:
    """The preset's values of the model fields that the form has widgets for."""
    model = preset(name).model
    return {field: getattr(model, field) for field in (*SHAPE, *MORE) if field in settings_of(ModelConfig)}


def _default(base: Preset, name: str) -> Any:
    return getattr(getattr(base, part_of(name)), name)
