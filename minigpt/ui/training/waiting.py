"""Start on a large corpus: its tokenizer is learned first, then the run begins."""

from collections.abc import Callable

import streamlit as st

from minigpt.config import TokenizerConfig
from minigpt.ui.base import messages
from minigpt.ui.base.text import t, translate
from minigpt.ui.shared import tokenizing
from minigpt.ui.shared.corpora import Choice
from minigpt.ui.shared.tokenizer_progress import draw_progress

STATE = "training_waits"  # session: the key and the config of the tokenizer that Start waits for


def wait(choice: Choice, config: TokenizerConfig) -> None:
    """Let Start go on when this tokenizer is learned."""
    st.session_state[STATE] = (choice.key, config)


def draw(choice: Choice, config: TokenizerConfig, on_start: Callable[[], None]) -> None:
    """Nothing, unless Start waits: then its progress, and a button to cancel. Other settings cancel too."""
    if STATE not in st.session_state:
        return
    if st.session_state[STATE] != (choice.key, config):
        give_up()
        st.rerun()
    state = tokenizing.state(choice, config)
    if state.status.active:
        draw_progress(choice, config, on_cancel=give_up)
        return
    give_up()
    if state.status == "finished":
        on_start()
        st.rerun()
    messages.problem(translate(state.reason) or t("The tokenizer was not finished; press Start again."))


def give_up() -> None:
    """Start no longer waits."""
    st.session_state.pop(STATE, None)
