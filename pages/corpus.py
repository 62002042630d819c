"""What is it trained on?"""

import streamlit as st

from minigpt.ui.base import browser, messages, panels, workspace
from minigpt.ui.base.text import t
from minigpt.ui.corpus import batches as corpus_batches
from minigpt.ui.corpus import intake as corpus_intake
from minigpt.ui.corpus import numbers as corpus_numbers
from minigpt.ui.corpus import own as corpus_own
from minigpt.ui.corpus import plan as corpus_plan
from minigpt.ui.corpus import records as corpus_records
from minigpt.ui.corpus import source_file as corpus_source_file
from minigpt.ui.corpus import split as corpus_split
from minigpt.ui.corpus import tokenizer as corpus_tokenizer
from minigpt.ui.frame import shell
from minigpt.ui.shared import corpora, tokenizing, training_fields

shell.guard()
browser.keep()
if corpus_numbers.went_on():
    st.switch_page("pages/training.py")

st.title(t("What is it trained on?"))
st.caption(
    t("A model knows its corpus and nothing else. Choose one or bring your own; what you see here is what it will see.")
)
choice = corpora.current()
for sentence in filter(None, (*workspace.notices(), corpora.gone())):
    messages.notice(sentence)
corpus_intake.draw(choice)

split = None
if choice.own:
    with st.spinner(t("Reading the file …")):
        prepared = corpus_own.prepared(choice)
    corpus_source_file.draw(choice, prepared)
    split = prepared.split
    if split is None:
        st.stop()

config = corpus_plan.tokenizer_of(choice)
learned = tokenizing.learned(choice, config)
plan = corpus_plan.of(choice, config)
corpus_numbers.draw(choice, plan, learned, on_train=training_fields.fit)

texts, lengths = st.columns([1.7, 1], gap="large")
with texts:
    corpus_records.draw(choice, learned)
with lengths:
    corpus_batches.draw_lengths(learned, plan)


def tokenizer_panel() -> None:
    corpus_tokenizer.draw_choice(choice)
    corpus_tokenizer.draw(choice, config, learned)


panels.tabs(
    {
        t("Tokenizer"): tokenizer_panel,
        t("Split"): lambda: corpus_split.draw(choice, split),
        t("Batches"): lambda: corpus_batches.draw(choice, plan, learned),
        t("Downloads"): lambda: corpus_records.draw_downloads(choice, learned),
    },
    key="corpus_panel",
)
