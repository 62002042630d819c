"""The config in five numbers, and where it can go from here: to training, or untrained into the explorer."""

from math import log

import streamlit as st

from minigpt.config import ModelConfig
from minigpt.model.parameters import parameter_count
from minigpt.shapes import shape_name
from minigpt.sizing.memory import memory, readable_bytes
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t
from minigpt.ui.shared import corpora, training_shape
from minigpt.ui.shared.training_shape import FITTED

GO = "models_go"  # session: the page that a button asked for; a page changes after the callback


def draw(name: str, config: ModelConfig) -> None:
    """Numbers of the config that the preset `name` was changed into, and two buttons."""
    if GO in st.session_state:
        st.switch_page(f"pages/{st.session_state.pop(GO)}.py")
    held = memory(config)
    numbers = st.columns(5)
    numbers[0].metric(t("Parameters"), f"{parameter_count(config):,}")
    numbers[1].metric(t("Weights"), readable_bytes(held.weights))
    numbers[2].metric(t("While training"), readable_bytes(held.training), help=t("Weights, gradients, Adam's moments."))
    numbers[3].metric(t("KV cache, full"), readable_bytes(held.cache_context), help=t("Of one text."))
    numbers[4].metric(t("Guessing costs, ln V"), t("{loss:.4f} nats", loss=log(config.vocab_size)))
    with st.container(horizontal=True, vertical_alignment="center", key="models_buttons"):
        st.button(
            t("Train this"), key="models_train", type="primary", icon=":material/model_training:", on_click=_train,
            args=(name, config),
        )  # fmt: skip
        st.button(
            t("Explore it untrained"), key="models_explore", icon=":material/visibility:", on_click=_explore,
            args=(name, config),
        )  # fmt: skip
        st.caption(t("A run takes its vocabulary from the corpus it is trained on."), width="content")


def _train(name: str, config: ModelConfig) -> None:
    """Callback: the next run has this shape, whatever suits its corpus."""
    training_shape.hand_over(name, config)
    st.session_state[FITTED] = corpora.current().key
    st.session_state[GO] = "training"


def _explore(name: str, config: ModelConfig) -> None:
    """Callback: every page shows the untrained model of this config."""
    workspace.choose(model=shape_name(name, config), step=None, block=0, head=0)
    st.session_state[GO] = "overview"
