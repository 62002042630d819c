"""How do settings change its voice?"""

import streamlit as st

from minigpt.generation.compare import Comparison
from minigpt.ui.base import messages, panels
from minigpt.ui.base.text import plain, t, translate
from minigpt.ui.frame import shell
from minigpt.ui.sampling import cache as sampling_cache
from minigpt.ui.sampling import columns as sampling_columns
from minigpt.ui.sampling import numbers as sampling_numbers
from minigpt.ui.sampling import seeds as sampling_seeds
from minigpt.ui.sampling import settings as sampling_settings
from minigpt.ui.sampling import setup as sampling_setup
from minigpt.ui.sampling import step as sampling_step

shell.guard()
view = shell.view()
sampling_setup.follow(view.space.model)
setup = sampling_setup.current()

st.title(t("How do settings change its voice?"))
st.caption(
    t(
        "Every column continues the prompt below; the record above is for the other pages and changes nothing here. "
        "The number and color of a token show its probability before any setting changed it. Click a token to see its "
        "draw."
    )
)
fault, made = "", None
try:
    made = sampling_columns.compared(view, setup)
except ValueError as error:
    fault = translate(error)
sampling_setup.draw_prompt(setup, sampling_columns.prompt_note(view, made), wrong=bool(fault))
sampling_setup.draw_common(setup)
for number, place in enumerate(st.columns(len(setup.columns), gap="medium")):
    with place:
        sampling_settings.draw_column(setup, number)
if refused := st.session_state.pop("sampling_refused", ""):
    messages.problem(refused)
if made is None:
    messages.problem(fault)
    st.stop()
comparison: Comparison = made
sampling_setup.write_url(setup)

sampling_columns.draw_growing(comparison, setup.by_hand)
st.markdown(plain(sampling_columns.difference_sentence(comparison)))

panels.tabs(
    {
        t("One draw in numbers"): lambda: sampling_step.draw(comparison),
        t("The columns in numbers"): lambda: sampling_numbers.draw(comparison, sampling_numbers.records_of(view)),
        t("Twenty seeds"): lambda: sampling_seeds.draw(view, setup),
        t("With and without cache"): lambda: sampling_cache.draw(view, setup),
        t("Export"): lambda: sampling_numbers.draw_export(view, setup, comparison),
    },
    key="sampling_panel",
)
