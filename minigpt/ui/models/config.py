"""The config that the models page measures: a form with its link, the config in five numbers, and where it can go.

The form follows the fields of ModelConfig: sizes in a row, switches below, the rest in an expander.
"""

from dataclasses import fields
from math import log
from typing import Any

import streamlit as st

from minigpt.config import ModelConfig, model_faults, to_dict
from minigpt.model.parameters import parameter_count, shape_only
from minigpt.presets import PRESETS, Preset, changed_words, preset, shape_name, shape_preset
from minigpt.sentences import Refusal
from minigpt.sizing.memory import memory, readable_bytes
from minigpt.ui.base import messages, workspace
from minigpt.ui.base.text import plain, t, translate
from minigpt.ui.shared import corpora, training_fields
from minigpt.validation import settings_of, with_labels

PRESET = "models_preset"  # session: the name of the chosen preset
GO = "models_go"  # session: the page that a button asked for; a page changes after the callback
LINK = "shape"  # parameter of the address
SETTINGS = settings_of(ModelConfig)
SIZES = ("vocab_size", "context_length", "width", "heads", "layers", "ffn_width")
SWITCHES = tuple(known.name for known in fields(ModelConfig) if known.type is bool)
CHOICES = tuple(name for name, known in SETTINGS.items() if known.choices)
FINE = tuple(name for name in SETTINGS if name not in (*SIZES, *SWITCHES, *CHOICES))
MOST = 2**53 - 1  # that a number box of a browser holds


def draw() -> tuple[str, ModelConfig]:
    """The chosen preset's name, and the config that the form says; with a fault in it, the last one that worked.

    Each fault gets a sentence. Nothing typed is lost.
    """
    _start()
    with st.container(horizontal=True, vertical_alignment="bottom", key="models_presets"):
        name = st.segmented_control(
            t("Preset"), tuple(PRESETS), key=PRESET, required=True, persist_state="session", on_change=_forget_link
        )
        assert name is not None  # the session has a preset before the control is drawn
        if chosen(name) != to_dict(preset(name).model):
            label = t("Back to {name}", name=name)
            st.button(label, key="models_back", icon=":material/undo:", on_click=_reset, args=(name,))
    st.caption(plain(about(name, chosen(name))))
    for column, field in zip(st.columns(len(SIZES)), SIZES, strict=True):
        with column:
            _number(name, field)
    with st.container(horizontal=True, vertical_alignment="center", key="models_switches"):
        for field in SWITCHES:
            st.checkbox(_label(field), key=_key(name, field), persist_state="session", width="content")
    if not st.session_state[_key(name, "residual")]:
        st.caption(
            t("Without residual connections each branch replaces the vector: an ablation, with as many parameters.")
        )
    with st.expander(t("Activation, norm, numbers, dropout, first weights"), key="models_fine"):
        columns = st.columns(3)
        for place, field in enumerate((*CHOICES, *FINE)):
            with columns[place % 3]:
                _fine(name, field)
    return name, _config(name)


def _config(name: str) -> ModelConfig:
    values = chosen(name)
    faults: list[str] = [with_labels(fault, ModelConfig) for fault in model_faults(values)] or _too_large(values)
    last = f"models_valid_{name}"
    if faults:
        for fault in faults:
            messages.problem(fault)
        config = st.session_state.get(last, preset(name).model)
        shape = translate(changed_words(name, to_dict(config))) or name
        st.caption(plain(t("Everything below still belongs to the last shape that works: {shape}.", shape=shape)))
        return config
    st.session_state[last] = config = ModelConfig(**values)
    _write_link(shape_name(name, config))
    return config


def headline(name: str, config: ModelConfig) -> None:
    """Five numbers of the config that the preset `name` was changed into, and two buttons."""
    if GO in st.session_state:
        st.switch_page(f"pages/{st.session_state.pop(GO)}.py")
    held = memory(config)
    numbers = st.columns(5)
    numbers[0].metric(t("Parameters"), f"{parameter_count(config):,}")
    numbers[1].metric(t("Weights"), readable_bytes(held.weights))
    numbers[2].metric(
        t("While training"), readable_bytes(held.training), help=t("Weights, gradients, and Adam's moments.")
    )
    numbers[3].metric(t("KV cache, full"), readable_bytes(held.cache_context), help=t("For one text."))
    numbers[4].metric(t("Guessing costs, ln V"), t("{loss:.4f} nats", loss=log(config.vocab_size)))
    with st.container(horizontal=True, vertical_alignment="center", key="models_buttons"):
        st.button(
            t("Train this"),
            key="models_train",
            type="primary",
            icon=":material/model_training:",
            on_click=_train,
            args=(name, config),
        )
        st.button(
            t("Explore it untrained"),
            key="models_explore",
            icon=":material/visibility:",
            on_click=_explore,
            args=(name, config),
        )
        st.caption(t("A run takes its vocabulary from the corpus it is trained on."), width="content")


def about(name: str, values: dict[str, Any]) -> str:
    """What the preset is and what to try; once a field is changed, what differs from it instead."""
    changed = changed_words(name, values)
    if changed:
        return t("Preset {shape}.", shape=changed)
    return f"{translate(preset(name).about)} {translate(preset(name).to_try)}"


def chosen(name: str) -> dict[str, Any]:
    """What the widgets of a preset say at this moment."""
    return {field: st.session_state[_key(name, field)] for field in SETTINGS}


def _start() -> None:
    """Every field of every preset has a value; at first, and after a link to another shape, what the link says."""
    for base in PRESETS.values():
        for field in SETTINGS:
            st.session_state.setdefault(_key(base.name, field), getattr(base.model, field))
    st.session_state.setdefault(PRESET, next(iter(PRESETS)))
    linked = st.query_params.get(LINK)
    if linked is None or st.session_state.get("models_linked") == linked:
        return
    st.session_state["models_linked"] = linked
    try:
        _take(shape_preset(linked))
    except ValueError as error:
        messages.notice(t("The link cannot be used: {fault}.", fault=translate(error)))


def _take(linked: Preset) -> None:
    values = to_dict(linked.model)
    for name, value in values.items():
        if isinstance(value, int) and value > MOST:
            raise Refusal("{name} must be at most {most}, got {value}", name=name, most=MOST, value=value)
    st.session_state[PRESET] = linked.name
    for name, value in values.items():
        st.session_state[_key(linked.name, name)] = value


def _write_link(name: str) -> None:
    st.session_state["models_linked"] = name
    if st.query_params.get(LINK) != name:
        st.query_params[LINK] = name


def _forget_link() -> None:
    """Callback: the reader has chosen; what the address says is old."""
    st.session_state["models_linked"] = st.query_params.get(LINK)


def _too_large(values: dict[str, Any]) -> list[str]:
    try:
        shape_only(ModelConfig(**values))
    except ValueError as error:
        return [translate(error)]
    return []


def _reset(name: str) -> None:
    for field, value in to_dict(preset(name).model).items():
        st.session_state[_key(name, field)] = value


def _train(name: str, config: ModelConfig) -> None:
    """Callback: the next run has this shape, whatever suits its corpus."""
    training_fields.hand_over(name, config)
    st.session_state[training_fields.FITTED] = corpora.current().key
    st.session_state[GO] = "training"


def _explore(name: str, config: ModelConfig) -> None:
    """Callback: every page shows the untrained model of this config."""
    workspace.choose(model=shape_name(name, config), step=None, block=0, head=0)
    st.session_state[GO] = "overview"


def _key(name: str, field: str) -> str:
    return f"models_{name}_{field}"


def _label(field: str) -> str:
    return translate(SETTINGS[field].label)


def _number(name: str, field: str) -> None:
    key = _key(name, field)
    if isinstance(st.session_state[key], int):
        st.number_input(_label(field), step=1, key=key, persist_state="session")
    else:
        step = getattr(preset(name).model, field) / 10 or 0.01
        st.number_input(_label(field), step=step, format="%g", key=key, persist_state="session")


def _fine(name: str, field: str) -> None:
    if field in CHOICES:
        titles = {choice: translate(title) for choice, title in SETTINGS[field].choices.items()}
        st.selectbox(
            _label(field),
            list(titles),
            key=_key(name, field),
            persist_state="session",
            format_func=lambda choice: titles[choice],
        )
    else:
        _number(name, field)
