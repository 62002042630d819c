"""Who reads whom?"""

import streamlit as st

from minigpt.inspection.stages import WEIGHTS
from minigpt.ui.attention import attention_views, causality
from minigpt.ui.base import panels, workspace
from minigpt.ui.base.text import t, translate
from minigpt.ui.components.gallery import gallery
from minigpt.ui.components.matrix import matrix
from minigpt.ui.components.table import table
from minigpt.ui.frame import shell

shell.guard()
view = shell.view()
names = {spec.kind: translate(title) for spec, title in attention_views.PICTURES.items()}
kinds = {spec.kind: spec for spec in attention_views.PICTURES}

st.title(t("Who reads whom?"))
st.text(attention_views.query_sentence(view))

small, large = st.columns([2, 3], gap="large")
with small:
    st.caption(attention_views.thumbnails_sentence(view))
    gallery(
        attention_views.all_weights(view),
        key="heads",
        label=t("Weights of every head"),
        selected=(view.block, view.head),
        on_select=lambda block, head: workspace.choose(block=block, head=head),
        mark_row=view.position // attention_views.thumbnail_step(view),
    )
    st.text(attention_views.head_sentence(view))
    heading, every = st.columns([3, 2], vertical_alignment="center")
    heading.markdown(t("**Keys of query {query}**", query=view.position))
    together = every.toggle(t("Every head"), key="together", persist_state="session")
    columns = attention_views.side_by_side if together else attention_views.key_columns
    title = t("Keys of query {query}", query=view.position)
    read = attention_views.cell(view, view.length)[1]
    marked = read if read <= view.position else None  # a clicked cell may lie behind the mask
    table(columns(view, view.position), key="keys", label=title, selected=marked)
with large:
    chosen, slots = st.columns([3, 2], vertical_alignment="center")
    kind = chosen.segmented_control(
        t("Drawn"),
        list(names),
        default=WEIGHTS.kind,
        required=True,
        key="picture",
        format_func=lambda kind: names[kind],
        label_visibility="collapsed",
        persist_state="session",
    )
    full = view.slots == view.length
    padding = slots.toggle(t("Draw padding slots"), key="padding", disabled=full, persist_state="session")
    drawn = view.slots if padding else view.length
    query, key = attention_views.cell(view, drawn)
    shown = attention_views.picture(view, kinds[kind], drawn)
    labels = attention_views.slot_labels(view, drawn)
    matrix(
        shown.values,
        key="head",
        label=t("{name} of block {block}, head {head}", name=names[kind], block=view.block, head=view.head),
        rows=labels,
        columns=labels,
        palette=shown.palette,
        limit=shown.limit,
        masked=shown.masked,
        selected=(query, key),
        mark_row=view.position,
        row_title=t("query, who reads"),
        column_title=t("key, who is read"),
        on_select=lambda query, key: attention_views.take_cell(view, query, key),
        max_cell=44,
    )
    st.caption(attention_views.padding_sentence(view, padding))


def cell_panel() -> None:
    """The clicked cell: its dot product, its share."""
    st.subheader(t("Query {query} and key {key} in numbers", query=query, key=key))
    score, weight = attention_views.cell_work(view, query, key)
    if weight.hidden:
        st.text(attention_views.hidden_sentence(weight, query, key))
    lines, products = st.columns(2)
    text = [score.symbols, score.expression, "", weight.symbols, *weight.steps, weight.expression]
    lines.code("\n".join(text), language=None, wrap_lines=True)
    lines.caption(attention_views.difference_sentence(score, weight))
    long = len(score.terms) > 16
    products.code(attention_views.terms_text(score), language=None, height=440 if long else "content")


def heads_panel() -> None:
    """What each head does on average."""
    st.caption(t("Mean share of the weight over the positions after 0; shares of the same position overlap."))
    st.dataframe(attention_views.heads_frame(view), hide_index=True)


panels.tabs(
    {
        t("One cell in numbers"): cell_panel,
        t("Can a position see the future?"): lambda: causality.draw(view),
        t("All heads in numbers"): heads_panel,
    },
    key="attention_panel",
)
st.caption(
    t(
        "To try: move the training step from 0 to 600 and watch evenly spread rows sharpen, or repeat a word in the "
        "text."
    )
)
