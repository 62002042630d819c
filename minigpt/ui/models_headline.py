"""The config in five numbers, and where it can go from here: to training, or untrained into the explorer."""

from math import log

import streamlit as st

from minigpt.config import ModelConfig
from minigpt.model.memory import memory, readable_bytes
from minigpt.model.parameters import parameter_count
from minigpt.shapes import shape_name
from minigpt.ui import corpora, training_settings, training_shape, workspace
from minigpt.ui.text import t


def draw(name: str, config: ModelConfig) -> None:
    """Numbers of the config `name` was changed into, and two buttons."""
    held = memory(config)
    numbers = st.columns(5)
    numbers[0].metric(t("Parameters"), f"{parameter_count(config):,}")
    numbers[1].metric(t("Weights"), readable_bytes(held.weights))
    numbers[2].metric(t("While training"), readable_bytes(held.training), help=t("Weights, gradients, Adam's moments."))
    numbers[3].metric(t("KV cache, full"), readable_bytes(held.cache_context), help=t("Of one text."))
    numbers[4].metric(t("Guessing costs, ln V"), t("{loss:.4f} nats", loss=log(config.vocab_size)))
    with st.container(horizontal=True, vertical_alignment="center", key="models_go"):
        if st.button(t("Train this"), key="models_train", type="primary", icon=":material/model_training:"):
            training_shape.hand_over(name, config)
            st.session_state[training_settings.FITTED] = corpora.current().key  # this shape stays, whatever suits it
            st.switch_page("pages/training.py")
        if st.button(t("Explore it untrained"), key="models_explore", icon=":material/visibility:"):
            workspace.choose(model=shape_name(name, config), step=None, block=0, head=0)
            st.switch_page("pages/overview.py")
        st.caption(t("A run takes its vocabulary from the corpus it is trained on."), width="content")
