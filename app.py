"""Mini-GPT Explorer: `streamlit run app.py`.

The router: page settings, navigation, the workspace strip, then the page of the address. Everything
else is in `pages/` (what is told), `minigpt/ui` and `minigpt/figures` (how it is drawn) and `minigpt`
(what is computed).
"""

import streamlit as st

from minigpt.ui.base.text import t
from minigpt.ui.frame import shell

shell.configure()

page = shell.route()
warming = shell.warm()
if not warming.ready.is_set():
    front = st.empty()
    with front.container():
        st.title(t("Inside a GPT, from text to loss"))
        with st.spinner(t("Opening the model …")):
            warming.ready.wait()
    front.empty()

shell.run(page)
