"""What happens between text and loss?"""

from math import log

import streamlit as st

from minigpt.figures.training import loss_curve
from minigpt.huggingface.imports import is_import
from minigpt.inspection.record import logit_summary
from minigpt.inspection.sources import source_evaluations
from minigpt.inspection.stages import BLOCK_INPUT
from minigpt.ui.base import workspace
from minigpt.ui.base.text import plain, t
from minigpt.ui.components.pipeline import pipeline
from minigpt.ui.frame import shell
from minigpt.ui.overview import experiments_table
from minigpt.ui.overview.pipeline_boxes import boxes
from minigpt.ui.training.run_sentences import course_words

shell.guard()
view = shell.view()
target = logit_summary(view.trace.logits.at(view.position), view.targets[view.position])


def open_page(station: str) -> None:
    """Remember the station; the page changes after the callback."""
    st.session_state["open_station"] = station


st.title(t("Inside a GPT, from text to loss"))
st.caption(
    t(
        "Every number is computed by the model above for position {position}, {piece}. Click a box to look inside it.",
        position=view.position,
        piece=plain(view.labels[view.position]),
    )
)
pipeline(boxes(view), key="pipeline", label=t("From text to loss"), on_open=open_page)

station = st.session_state.pop("open_station", None)
if station is not None:
    page = {"tokens": "tokens", "attention": "attention", "logits": "logits", "loss": "logits"}.get(station, "stages")
    if page == "stages":
        workspace.choose(stage=station, block=0 if station == BLOCK_INPUT.kind else view.block)
    st.switch_page(f"pages/{page}.py")

mean, uniform, here, rank = st.columns(4)
mean.metric(t("Mean loss of the record"), t("{loss:.6f} nats", loss=view.loss))
uniform.metric(t("If all pieces were equal"), t("{loss:.6f} nats", loss=log(view.model.config.vocab_size)))
here.metric(t("Probability of the right piece"), f"{target['probability']:.4%}")
rank.metric(t("Parameters"), f"{view.parameters:,}")

rows = source_evaluations(view.space.model)
learned, checked = st.columns(2, gap="large")
with learned:
    st.subheader(t("How this model learned"))
    if rows:
        st.caption(plain(course_words(rows)))
        curve = loss_curve(
            [row.step for row in rows],
            [row.train_loss for row in rows],
            [row.validation_loss for row in rows],
            names=(t("training records"), t("validation records")),
            uniform=(t("all pieces equal"), log(view.model.config.vocab_size)),
            here=(t("shown"), view.step),
        )
        st.echarts_chart(curve, key="learned", height=260, alt=t("Loss over training steps"))
    elif is_import(view.space.model):
        st.caption(t("This model was learned elsewhere: the imported folder holds its weights, not its way there."))
    else:
        st.caption(t("This model is untrained: its weights are those of its seed, its guesses near chance."))
with checked:
    st.subheader(t("Check it yourself"))
    experiments_table.draw(view)
experiments_table.numbers(view)
st.page_link("pages/corpus.py", label=t("Train a model on your own text: Corpus"), icon=":material/upload_file:")
