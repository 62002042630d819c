"""Notes to the reader: one clear sentence, shown as it is and never interpreted as Markdown."""

import streamlit as st

from minigpt.ui.base.text import plain, translate


def problem(said: str | Exception) -> None:
    """What is wrong and what is allowed; the page stays usable."""
    sentence = translate(said)
    st.error(plain(sentence[:1].upper() + sentence[1:]), icon=":material/error:")


def notice(sentence: str) -> None:
    """Something the reader should know, such as a value from a link that could not be used."""
    st.warning(plain(translate(sentence)), icon=":material/info:")


def hint(sentence: str) -> None:
    """What to click in an empty pane."""
    st.info(plain(translate(sentence)), icon=":material/touch_app:")
