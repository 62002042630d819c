"""The config that the models page measures: a preset, its fields, what is wrong with them, and its link."""

from dataclasses import fields

import streamlit as st

from minigpt.config import ACTIVATIONS, DTYPES, PRESETS, ModelConfig, model_faults, preset
from minigpt.model.parameters import shape_only
from minigpt.shapes import shape_name, shape_preset
from minigpt.ui import messages
from minigpt.ui.text import t

PRESET = "models_preset"  # session: the name of the chosen preset
LINK = "shape"  # parameter of the address
SIZES = ("vocab_size", "context_length", "width", "heads", "layers", "ffn_width")
SWITCHES = ("tied_head", "attention_bias", "head_bias", "residual")
CHOICES = {"activation": ACTIVATIONS, "dtype": DTYPES}
FINE = ("dropout", "norm_epsilon", "init_std", "init_seed")
MOST = 2**53 - 1  # that a number box of a browser holds
LABELS = {
    "vocab_size": "Vocabulary V",
    "context_length": "Context T",
    "width": "Width C",
    "heads": "Heads H",
    "layers": "Blocks L",
    "ffn_width": "FFN width F",
    "tied_head": "LM head tied to the token table",
    "attention_bias": "Biases on Q, K, V, O",
    "head_bias": "Bias on the LM head",
    "residual": "Residual connections",
    "activation": "Activation",
    "dtype": "Numbers",
    "dropout": "Dropout",
    "norm_epsilon": "Norm epsilon",
    "init_std": "Spread of the first weights",
    "init_seed": "Seed of the weights",
}


def draw() -> ModelConfig | None:
    """The form; the config it says, or None beside a sentence for each fault. Nothing typed is lost."""
    _start()
    name = st.segmented_control(
        t("Preset"), tuple(PRESETS), key=PRESET, required=True, persist_state="session", on_change=_forget_link
    )
    base = preset(name)
    for column, field in zip(st.columns(len(SIZES)), SIZES, strict=True):
        with column:
            _number(name, field)
    with st.container(horizontal=True, vertical_alignment="center", key="models_switches"):
        for field in SWITCHES:
            st.checkbox(t(LABELS[field]), key=_key(name, field), persist_state="session", width="content")
    with st.expander(t("Activation, numbers, dropout, first weights"), key="models_fine"):
        columns = st.columns(3)
        for place, field in enumerate((*CHOICES, *FINE)):
            with columns[place % 3]:
                _fine(name, field)
    values = chosen(name)
    faults = model_faults(values) or _too_large(values)
    for fault in faults:
        messages.problem(fault)
    if faults:
        _back(name, bool(values))
        return None
    config = ModelConfig(**values)
    _back(name, config != base.model)
    _write_link(shape_name(name, config))
    return config


def chosen_preset() -> str:
    """The name of the chosen preset."""
    return st.session_state[PRESET]


def chosen(name: str) -> dict:
    """What the widgets of a preset say at this moment."""
    return {field.name: st.session_state[_key(name, field.name)] for field in fields(ModelConfig)}


def _start() -> None:
    """Every field of every preset has a value; at first, and after a link to another shape, what the link says."""
    for base in PRESETS.values():
        for field in fields(ModelConfig):
            st.session_state.setdefault(_key(base.name, field.name), getattr(base.model, field.name))
    st.session_state.setdefault(PRESET, next(iter(PRESETS)))
    linked = st.query_params.get(LINK)
    if linked is None or st.session_state.get("models_linked") == linked:
        return
    st.session_state["models_linked"] = linked
    try:
        _take(shape_preset(linked))
    except ValueError as error:
        messages.notice(t("The link cannot be used: {fault}.", fault=str(error)))


def _take(linked) -> None:
    values = {field.name: getattr(linked.model, field.name) for field in fields(ModelConfig)}
    for name, value in values.items():
        if isinstance(value, int) and value > MOST:
            raise ValueError(f"{name} must be at most {MOST}, got {value}")
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


def _too_large(values: dict) -> list[str]:
    try:
        shape_only(ModelConfig(**values))
    except ValueError as error:
        return [str(error)]
    return []


def _back(name: str, differs: bool) -> None:
    if differs:
        label = t("Back to {name}", name=name)
        st.button(label, key="models_back", icon=":material/undo:", on_click=_reset, args=(name,))


def _reset(name: str) -> None:
    for field in fields(ModelConfig):
        st.session_state[_key(name, field.name)] = getattr(preset(name).model, field.name)


def _key(name: str, field: str) -> str:
    return f"models_{name}_{field}"


def _number(name: str, field: str) -> None:
    key = _key(name, field)
    if isinstance(st.session_state[key], int):
        st.number_input(t(LABELS[field]), step=1, key=key, persist_state="session")
    else:
        step = getattr(preset(name).model, field) / 10 or 0.01
        st.number_input(t(LABELS[field]), step=step, format="%g", key=key, persist_state="session")


def _fine(name: str, field: str) -> None:
    if field in CHOICES:
        st.selectbox(t(LABELS[field]), CHOICES[field], key=_key(name, field), persist_state="session")
    else:
        _number(name, field)
