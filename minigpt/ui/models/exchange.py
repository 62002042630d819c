"""Models of others in, models of ours out: the part of the models page for Hugging Face GPT-2 folders."""

import streamlit as st

from minigpt.ui.base.text import t
from minigpt.ui.models import export as models_export
from minigpt.ui.models import imports as models_import

LOCAL = ("127.0.0.1", "localhost", "::1")


def draw() -> None:
    """Both directions, side by side."""
    opening, taking = st.columns(2, gap="large")
    with opening:
        st.subheader(t("Open a GPT-2 model"))
        models_import.draw(alone())
    with taking:
        st.subheader(t("Take a run to transformers"))
        models_export.draw(alone())


def alone() -> bool:
    """Whether the app serves this computer only: then its reader may name any folder of it, nobody else may."""
    return st.get_option("server.address") in LOCAL
