"""What would the model say next, and how sure is it?"""

import streamlit as st

from minigpt.inspection.prediction import predict
from minigpt.ui.base import panels
from minigpt.ui.base.text import t
from minigpt.ui.frame import shell
from minigpt.ui.logits import distribution as logits_distribution
from minigpt.ui.logits import lens as logits_lens
from minigpt.ui.logits import panels as logits_panels

shell.guard()
view = shell.view()
prediction = predict(view.trace.logits.at(view.position))

st.title(t("What would it say next?"))
st.markdown(logits_panels.sentence(view, prediction))

next_token, record = st.columns(2, gap="large")
with next_token:
    st.subheader(t("Next token"))
    count = st.segmented_control(
        t("Candidates"),
        [5, 10, 20, 50],
        default=10,
        key="candidates_shown",
        format_func=lambda count: t("top {count}", count=count),
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    logits_panels.candidates(view, prediction, count)
    st.caption(t("Amber is the target. The strip is all of the probability; the bars below it have another scale."))
with record:
    st.subheader(t("Loss of each position, in nats"))
    st.caption(t("Click a column to choose its position; the targets are below it."))
    logits_panels.losses(view, prediction)

panels.tabs(
    {
        t("Softmax in numbers"): lambda: logits_panels.arithmetic(view, prediction),
        t("Whole distribution"): lambda: logits_distribution.draw(view, prediction),
        t("After each block"): lambda: logits_lens.draw(view),
        t("All positions"): lambda: logits_panels.positions(view),
    },
    key="logits_panel",
)
