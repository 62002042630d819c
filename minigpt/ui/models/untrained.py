"""The loss before training, measured on a real model of the config at hand, against ln V."""

import threading

import streamlit as st

from minigpt.config import ModelConfig
from minigpt.model.parameters import parameter_count
from minigpt.sizing.memory import memory, readable_bytes
from minigpt.sizing.untrained import UntrainedLoss, check_untrained, untrained_loss
from minigpt.ui.base import messages
from minigpt.ui.base.text import t

AT_ONCE = 3_000_000  # parameters that are built without being asked: a tenth of a second
WANTED = "models_untrained_wanted"  # session: the config that the button asked for


def draw(config: ModelConfig) -> None:
    """Measured, ln V, and why they differ; a large model on request."""
    st.subheader(t("Before training"))
    try:
        check_untrained(config)
    except ValueError as error:
        messages.problem(str(error))
        return
    count = parameter_count(config)
    if count > AT_ONCE and st.session_state.get(WANTED) != config:
        _offer(config, count)
        return
    lock = _one_at_a_time()
    if not lock.acquire(timeout=0 if count > AT_ONCE else 10):
        st.session_state.pop(WANTED, None)
        messages.notice(t("Another reader's model is being measured; try again in a moment."))
        _offer(config, count)
        return
    try:
        with st.spinner(t("Making the model …")):
            found = _measured(config)
    finally:
        lock.release()
    _result(found)


def sentence(found: UntrainedLoss) -> str:
    """Why an untrained model loses about ln V."""
    return t(
        "Measured at {positions} positions of random ids, over all that could follow. With equal logits the loss is "
        "ln V exactly. These differ a little, with a variance of {spread:.4f}; half of it, {half:.4f}, is about what "
        "lies between the two numbers.",
        positions=found.positions,
        spread=found.spread,
        half=found.spread / 2,
    )


def _result(found: UntrainedLoss) -> None:
    loss, uniform, gap = st.columns(3)
    loss.metric(t("Untrained loss"), f"{found.loss:.4f}", help=t("In nats per position."))
    uniform.metric(t("ln V"), f"{found.uniform:.4f}")
    gap.metric(t("Between them"), f"{found.loss - found.uniform:+.4f}".replace("-", "−"))
    st.caption(sentence(found))
    if abs(found.loss - found.uniform) > 0.5:
        text = "That is far from ln V: the first weights are large for this shape, so it begins sure and wrong."
        messages.notice(t(text))


def _offer(config: ModelConfig, count: int) -> None:
    size = readable_bytes(memory(config).weights)
    text = "{count} random weights are made for this, {size} for a moment, and read once."
    st.caption(t(text, count=f"{count:,}", size=size))
    st.button(t("Measure the untrained loss"), key="models_measure", on_click=_want, args=(config,))


def _want(config: ModelConfig) -> None:
    st.session_state[WANTED] = config


@st.cache_data(show_spinner=False, max_entries=100)
def _measured(config: ModelConfig) -> UntrainedLoss:
    return untrained_loss(config)


@st.cache_resource(show_spinner=False)
def _one_at_a_time() -> threading.Lock:
    """Several large models at once would not fit into memory."""
    return threading.Lock()
