"""The frame around every page: navigation, background warm-up, and the guard for pages opened directly."""

import gc
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit import runtime
from streamlit.navigation.page import Page

from minigpt.ui.base import browser, workspace
from minigpt.ui.base.text import t

if TYPE_CHECKING:  # needs torch
    from minigpt.ui.base.view import View

ICON = Path(__file__).parent / "icon.png"  # a causal mask; a file, as named icons are fetched from the internet
CHOICES = Path(__file__).parents[1] / "components" / "choices.css"
WITHOUT_STRIP = {"corpus", "models"}  # addresses of pages that show no record
_frame: ContextVar["View | None"] = ContextVar("frame")  # while app.py runs a page: its view, None without one


def configure() -> None:
    """Title, icon, width and own style of the browser page."""
    st.set_page_config(page_title=t("Mini-GPT Explorer"), page_icon=str(ICON), layout="wide")
    st.html(CHOICES)  # a file of ours: Streamlit puts it into a style element that takes no space


def route() -> Page:
    """The one navigation of the app, in the order of computation; addresses do not depend on the language.

    Without icons, so that all names fit beside each other in a window of 820 px.
    """
    return st.navigation(
        [
            st.Page("pages/overview.py", title=t("Overview"), default=True),
            st.Page("pages/tokens.py", title=t("Tokens"), url_path="tokens"),
            st.Page("pages/stages.py", title=t("Stages"), url_path="stages"),
            st.Page("pages/attention.py", title=t("Attention"), url_path="attention"),
            st.Page("pages/logits.py", title=t("Logits"), url_path="logits"),
            st.Page("pages/training.py", title=t("Training"), url_path="training"),
            st.Page("pages/sampling.py", title=t("Sampling"), url_path="sampling"),
            st.Page("pages/corpus.py", title=t("Corpus"), url_path="corpus"),
            st.Page("pages/models.py", title=t("Models"), url_path="models"),
        ],
        position="top",
    )


def guard() -> None:
    """First line of every page. A page that app.py does not frame, as on a first visit to its address, is sent back.

    A folder named `pages` makes Streamlit serve its files directly until some session has run the navigation.
    """
    try:
        _frame.get()
    except LookupError:
        configure()  # else the page's named icon would be fetched from the internet
        route()
        st.rerun()


def run(page: Page) -> None:
    """Draw the strip if the page shows a record, then the page. Without a usable record it says so and stays usable."""
    from minigpt.ui.frame import strip  # needs torch, which `warm` imports in the background

    workspace.start()
    view = None if page.url_path in WITHOUT_STRIP else strip.draw()
    workspace.write_url()
    token = _frame.set(view)
    try:
        page.run()
    finally:
        _frame.reset(token)
        browser.one_entry_a_page()
        warm().drawn.set()


def view() -> "View":
    """What the page shows. Ends the page when the record or model cannot be used."""
    shown = _frame.get()
    if shown is None:
        st.stop()
    return shown


@dataclass(frozen=True)
class Warming:
    """How far the background imports are: `ready` when the strip can be drawn, `drawn` when a page has been."""

    ready: threading.Event
    drawn: threading.Event


@st.cache_resource(show_spinner=False)
def warm() -> Warming:
    """Import the slow packages once, in the background.

    Torch comes first, as nothing can be shown without it; what the first page can do without waits until that page
    is drawn. At the end everything imported is exempted from garbage collection, and the trainer process is
    started, to be warm when someone trains. One torch thread: several readers on two cores are served faster so.
    """
    warming = Warming(threading.Event(), threading.Event())

    def work() -> None:
        try:
            import torch

            torch.set_num_threads(1)
            import minigpt.ui.frame.strip  # noqa: F401
        finally:
            warming.ready.set()  # a fault in an import shows where the import is needed
        warming.drawn.wait(timeout=10)
        import pandas  # noqa: F401
        import plotly.graph_objects  # noqa: F401

        gc.collect()
        gc.freeze()
        if runtime.exists() and isinstance(runtime.get_instance(), runtime.Runtime):  # a server, not a test of pages
            from minigpt.ui.shared.trainer import trainer

            trainer()

    threading.Thread(target=work, daemon=True).start()
    return warming
