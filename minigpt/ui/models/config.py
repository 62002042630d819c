"""The config that the models page measures: a preset, its fields, what is wrong with them, and its link."""

from dataclasses import fields

import streamlit as st

from minigpt.config import ACTIVATIONS, DTYPES, ModelConfig, model_faults, to_dict
from minigpt.model.parameters import shape_only
from minigpt.presets import PRESETS, preset
from minigpt.shapes import changed_words, shape_name, shape_preset
from minigpt.ui.base import messages
from minigpt.ui.base.text import plain, t

PRESET = "models_preset"  # session: the name of the chosen preset
LINK = "shape"  # parameter of the address
SIZES = ("vocab_size", "context_length", "width", "heads", "layers", "ffn_width")
SWITCHES = ("tied_head", "attention_bias", "head_bias", "residual")
CHOICES = {"activation": ACTIVATIONS, "dtype": DTYPES}
FINE = ("dropout", "norm_epsilon", "init_std", "init_seed")
MOST = 2**53 - 1  # that a number box of a browser holds
TO_TRY = {
    "mg-1": "Try a vocabulary of 292: what does one more piece cost?",
    "chapter-7": "A run takes vocabulary and context from its corpus. Try a tied LM head.",
    "poems": "Try 8 blocks of width 256 with FFN width 1024; untie the LM head; take the residual connections away and "
    "train both for 300 steps.",
    "numpy-demo": "Try GELU for ReLU, and train both for 500 steps.",
    "gpt2-small": "Try 24 blocks, then 12 of width 1536 with FFN width 6144; take the biases on Q, K, V, O away.",
}
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


def draw() -> ModelConfig:
    """The form and the config it says; with a sentence for each fault, the last config that worked.

    Nothing typed is lost.
    """
    _start()
    with st.container(horizontal=True, vertical_alignment="bottom", key="models_presets"):
        name = st.segmented_control(
            t("Preset"), tuple(PRESETS), key=PRESET, required=True, persist_state="session", on_change=_forget_link
        )
        if chosen(name) != to_dict(preset(name).model):
            label = t("Back to {name}", name=name)
            st.button(label, key="models_back", icon=":material/undo:", on_click=_reset, args=(name,))
    st.caption(plain(about(name, chosen(name))))
    for column, field in zip(st.columns(len(SIZES)), SIZES, strict=True):
        with column:
            _number(name, field)
    with st.container(horizontal=True, vertical_alignment="center", key="models_switches"):
        for field in SWITCHES:
            st.checkbox(t(LABELS[field]), key=_key(name, field), persist_state="session", width="content")
    if not st.session_state[_key(name, "residual")]:
        text = "Without residual connections each branch replaces the vector: an ablation, with as many parameters."
        st.caption(t(text))
    with st.expander(t("Activation, numbers, dropout, first weights"), key="models_fine"):
        columns = st.columns(3)
        for place, field in enumerate((*CHOICES, *FINE)):
            with columns[place % 3]:
                _fine(name, field)
    values = chosen(name)
    faults = model_faults(values) or _too_large(values)
    last = f"models_valid_{name}"
    if faults:
        for fault in faults:
            messages.problem(labelled(fault, values))
        config = st.session_state.get(last, preset(name).model)
        text = "Everything below is still that of the last shape that works: {shape}."
        st.caption(plain(t(text, shape=changed_words(name, to_dict(config)) or name)))
        return config
    st.session_state[last] = config = ModelConfig(**values)
    _write_link(shape_name(name, config))
    return config


def about(name: str, values: dict) -> str:
    """What the preset is; once a field is changed, what differs from it instead."""
    changed = changed_words(name, values)
    if changed:
        return t("{changed}.", changed=changed)
    said = t(preset(name).about)
    return f"{said[:1].upper()}{said[1:]}. {t(TO_TRY[name])}"


def labelled(fault: str, values: dict) -> str:
    """A fault with its field named as in the form; for a width that its heads do not divide, those that they do."""
    if fault.startswith("width must be divisible"):
        width, heads = values["width"], values["heads"]
        below = width // heads * heads
        near = t("{below} and {above}", below=below, above=below + heads) if below else f"{heads}"
        text = "{width} must be divisible by {heads}, got {wide} for {count} heads; nearest widths that work: {near}"
        names = {"width": t(LABELS["width"]), "heads": t(LABELS["heads"])}
        return t(text, wide=width, count=heads, near=near, **names)
    field, _, rest = fault.partition(" ")
    return f"{t(LABELS[field])} {rest}" if field in LABELS else fault


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
