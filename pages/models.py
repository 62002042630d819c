"""How big is it, and where are the numbers?"""

import streamlit as st

from minigpt.ui.base.text import t
from minigpt.ui.frame import shell
from minigpt.ui.models import config as models_config
from minigpt.ui.models import cost as models_cost
from minigpt.ui.models import counts as models_counts
from minigpt.ui.models import exchange as models_exchange
from minigpt.ui.models import variants as models_variants

WIDE = 590  # px of an area that holds a table

shell.guard()

st.title(t("How big it is, and where the numbers are"))
st.caption(t("Choose a shape or make one; everything below follows from it. Then train it, or look inside."))
name, config = models_config.draw()
models_config.headline(name, config)
models_counts.draw(config)
with st.container(horizontal=True, gap="large", key="models_counted"):  # side by side where both have room
    with st.container(width=WIDE):
        models_counts.draw_conventions(config)
    with st.container(width=WIDE):
        models_cost.draw_untrained(config)
with st.container(horizontal=True, gap="large", key="models_held"):
    with st.container(width=WIDE):
        models_cost.draw_memory(config)
    with st.container(width=WIDE):
        models_cost.draw_doubling(config)
models_variants.draw(config)
st.divider()
models_exchange.draw()
