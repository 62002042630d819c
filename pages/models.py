"""How big is it, and where are the numbers?"""

import streamlit as st

from minigpt.ui.base.text import t
from minigpt.ui.frame import shell
from minigpt.ui.models import config as models_config
from minigpt.ui.models import counts as models_counts
from minigpt.ui.models import exchange as models_exchange
from minigpt.ui.models import headline as models_headline
from minigpt.ui.models import memory as models_memory
from minigpt.ui.models import untrained as models_untrained
from minigpt.ui.models import variants as models_variants

WIDE = 590  # px of an area that holds a table

shell.guard()

st.title(t("How big it is, and where the numbers are"))
st.caption(t("Choose a shape or make one; everything below is counted from it. Then train it, or look inside."))
config = models_config.draw()
models_headline.draw(models_config.chosen_preset(), config)
models_counts.draw(config)
with st.container(horizontal=True, gap="large", key="models_counted"):  # beside each other where both have room
    with st.container(width=WIDE):
        models_counts.conventions(config)
    with st.container(width=WIDE):
        models_untrained.draw(config)
with st.container(horizontal=True, gap="large", key="models_held"):
    with st.container(width=WIDE):
        models_memory.draw(config)
    with st.container(width=WIDE):
        models_memory.doubling(config)
models_variants.draw(config)
st.divider()
models_exchange.draw()
