"""A shape handed over from the models page to the training page, with what the form there has no field for."""

from dataclasses import fields, replace

import streamlit as st

from minigpt.config import ModelConfig
from minigpt.corpus.advice import Advice
from minigpt.presets import Preset, preset
from minigpt.shapes import SEPARATOR, shape_name
from minigpt.ui.base.text import plain, t
from minigpt.ui.shared import corpora
from minigpt.ui.shared.corpus_fit import advice_for
from minigpt.ui.shared.training_fields import FIRST, MORE, SHAPE, key_of

UNFOLDED = "train_another"  # session: whether the settings are open beside a run, as they do when handed over
FITTED = "train_fitted"  # session: key of the corpus that the settings were last fitted to
SHAPED = "train_shaped"  # session: the preset's name and the model fields that differ from it


def hand_over(name: str, config: ModelConfig) -> None:
    """Make the next run one of this config; its vocabulary is left to the corpus."""
    base = preset(name)
    values = {field.name: getattr(config, field.name) for field in fields(ModelConfig)}
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
    values = {"kind": advice.tokenizer.kind, "mode": advice.mode, "context_length": advice.context_length}
    if advice.tokenizer.kind == "byte_bpe":
        values["merges"] = advice.tokenizer.merges
    for name, value in (values | {"evaluation_rows": advice.evaluation_rows}).items():
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


def _in_form(name: str) -> dict:
    """The preset's values of the model fields that the training page has widgets for."""
    model = preset(name).model
    return {field.name: getattr(model, field.name) for field in fields(ModelConfig) if field.name in (*SHAPE, *MORE)}
