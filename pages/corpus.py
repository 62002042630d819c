"""What is it trained on?"""

import streamlit as st

from minigpt.ui import shell
from minigpt.ui.text import t

shell.guard()
st.title(t("What is it trained on?"))
