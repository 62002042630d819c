"""Downloads of the comparison, and its link."""

import streamlit as st

from minigpt.generation.compare import Comparison
from minigpt.generation.export import to_csv, to_markdown
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.sampling.setup import Setup


def draw(view: View, setup: Setup, comparison: Comparison) -> None:
    """Two files and where the link is."""
    table, page, _ = st.columns([1, 1, 2])
    table.download_button(
        t("Every token as CSV"),
        lambda: to_csv(comparison),
        "samples.csv",
        "text/csv",
        key="sampling_csv",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
    )
    source = t("{model} at step {step}", model=view.space.model, step=view.space.step)
    page.download_button(
        t("The texts as Markdown"),
        lambda: to_markdown(comparison, setup.prompt, source),
        "samples.md",
        "text/markdown",
        key="sampling_markdown",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
    )
    st.caption(
        t("The address of this page holds model, step, prompt, settings and seeds: who opens it gets the same texts.")
    )
