"""How does text become ids and targets?"""

import streamlit as st

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

PANELS = {
    t("Inputs and targets"): tokens_panels.targets,
    t("Slots and padding"): tokens_panels.slots,
    t("Special ids"): tokens_panels.specials,
    t("Vocabulary"): tokens_vocabulary.vocabulary,
}
for tab, draw in zip(st.tabs(list(PANELS), key="tokens_panel", on_change="rerun"), PANELS.values(), strict=True):
    if tab.open:
        with tab:
            draw(view)
