"""Mini-GPT Explorer: `streamlit run app.py`.

The router: page settings, navigation, the workspace strip, then the page of the address. Everything
else is in `pages/` (what is told), `minigpt/ui` and `minigpt/figures` (how it is drawn) and `minigpt`
(what is computed).
"""

import sys

import streamlit as st

from minigpt.ui import shell
from minigpt.ui.text import t

shell.configure()

page = shell.route()
warming = shell.warm()
if warming.is_alive() or "minigpt.ui.strip" not in sys.modules:
    with st.spinner(t("Opening the model …")):
        warming.join()
        import minigpt.ui.strip  # noqa: F401

shell.run(page)
