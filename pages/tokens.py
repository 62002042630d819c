"""How does text become ids and targets?"""

import streamlit as st

from minigpt.ui.base import panels
from minigpt.ui.base.text import t
from minigpt.ui.frame import shell
from minigpt.ui.tokens import panels as tokens_panels
from minigpt.ui.tokens import replay as tokens_replay
from minigpt.ui.tokens import vocabulary as tokens_vocabulary

shell.guard()
view = shell.view()

st.title(t("How does text become ids and targets?"))
st.caption(tokens_replay.rule(view))
tokens_replay.draw(view)

panels.tabs(
    {
        t("Inputs and targets"): lambda: tokens_panels.targets(view),
        t("Slots and padding"): lambda: tokens_panels.slots(view),
        t("Special ids"): lambda: tokens_panels.specials(view),
        t("Vocabulary"): lambda: tokens_vocabulary.vocabulary(view),
    },
    key="tokens_panel",
)
