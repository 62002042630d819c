"""What is it trained on?"""

import streamlit as st

from minigpt.ui import (
    browser,
    corpora,
    corpus_batches,
    corpus_download,
    corpus_intake,
    corpus_numbers,
    corpus_own,
    corpus_plan,
    corpus_reading,
    corpus_records,
    corpus_split,
    corpus_tokenizer,
    messages,
    shell,
    tokenizing,
    workspace,
)
from minigpt.ui.text import t

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
        outcome = corpus_own.outcome(choice)
    corpus_reading.draw(choice, outcome)
    split = outcome.split
    if split is None:
        st.stop()

config = corpus_plan.tokenizer_of(choice)
learned = tokenizing.learned(choice, config)
plan = corpus_plan.of(choice, config)
corpus_numbers.draw(choice, plan, learned)

texts, lengths = st.columns([1.7, 1], gap="large")
with texts:
    corpus_records.draw(choice, learned)
with lengths:
    corpus_batches.draw_lengths(learned, plan)


def tokenizer_panel() -> None:
    corpus_tokenizer.draw_choice(choice)
    corpus_tokenizer.draw(choice, config, learned)


PANELS = {
    t("Tokenizer"): tokenizer_panel,
    t("Split"): lambda: corpus_split.draw(choice, split),
    t("Batches"): lambda: corpus_batches.draw(choice, plan, learned),
    t("Take along"): lambda: corpus_download.draw(choice, learned),
}
for tab, draw in zip(st.tabs(list(PANELS), key="corpus_panel", on_change="rerun"), PANELS.values(), strict=True):
    if tab.open:
        with tab:
            draw()
