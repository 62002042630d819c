"""What does each step compute for this position?"""

import streamlit as st

from minigpt.figures.numbers import every_digit
from minigpt.inspection.stages import derive, explain, formula, recomputed, shape_text, spec_of
from minigpt.model.trace import Stage
from minigpt.ui.base import messages, workspace
from minigpt.ui.base.text import plain, t, translate
from minigpt.ui.components.chips import chips
from minigpt.ui.components.matrix import matrix
from minigpt.ui.frame import shell
from minigpt.ui.stages import choice as stage_choice
from minigpt.ui.stages import tables as stage_tables
from minigpt.ui.stages.grid import MOST, grid
from minigpt.ui.stages.sentences import check_words, hidden_words

shell.guard()
view = shell.view()
position = view.position  # not the trace: callbacks keep the names of this page alive


def go(stage: Stage | None) -> None:
    """Look at another stage."""
    if stage is not None:
        stage_choice.choose(stage)


def go_to_block() -> None:
    """Look at the same stage of another block."""
    if st.session_state["stage_block"] is not None:
        workspace.choose(block=st.session_state["stage_block"])


def go_to_number() -> None:
    """Look at a number of a vector that is too long to be on screen as a whole."""
    stage_choice.choose_number(view, stage, st.session_state["stage_jump"])


known = stage_choice.chosen(view)
stage = known or view.trace.blocks[view.block].block_input
if known is None:
    messages.notice(t("There is no stage {name}; showing {shown}.", name=view.space.stage, shown=stage.name))
    go(stage)
    workspace.write_url()

st.title(t("What each step computes"))
st.caption(
    t(
        "Position {position}, {piece}. Press the right arrow for the next step. Click any number to see where it "
        "comes from.",
        position=position,
        piece=plain(view.labels[position]),
    )
)
items, stages = stage_choice.rail(view)
chips(
    items,
    key="stage_rail",
    label=t("Stages in the order of computation"),
    selected=stages.index(stage),
    on_select=lambda chip: go(stages[chip]),
)

place = stage_choice.coordinate(view, stage)
before, after = (stage_choice.neighbour(view.trace, stage, step) for step in (-1, 1))
with st.container(horizontal=True, vertical_alignment="center"):
    st.button(
        t("Previous"),
        key="stage_previous",
        shortcut="Left",
        disabled=before is None,
        on_click=go,
        args=(before,),
    )
    st.button(
        t("Next"),
        key="stage_next",
        shortcut="Right",
        disabled=after is None,
        on_click=go,
        args=(after,),
    )
    if len(view.trace.blocks) > 1:
        st.session_state["stage_block"] = view.block
        st.segmented_control(
            t("Block"),
            range(len(view.trace.blocks)),
            key="stage_block",
            on_change=go_to_block,
            format_func=lambda block: t("block {block}", block=block),
            label_visibility="collapsed",
        )
    step = t("step {step} of {steps}", step=stage_choice.index(view.trace, stage) + 1, steps=len(view.trace.stages))
    st.caption(f"{step} · {shape_text(stage)}", width="content")

st.subheader(f"{stage.name}: {translate(spec_of(stage).title_in(view.trace.config))}".replace("_", r"\_"))
st.markdown(plain(translate(explain(view, stage))))
cells = grid(view, stage, place)
matrix(
    cells.values,
    key="stage_numbers_grid",
    label=t("{stage} at position {position}", stage=stage.name, position=position),
    rows=cells.rows,
    columns=cells.columns,
    palette=cells.palette,
    masked=cells.masked,
    row_title=cells.row_title,
    column_title=cells.column_title,
    selected=cells.cell(place),
    on_select=lambda row, column: stage_choice.choose_number(view, stage, cells.place(row, column)),
)
if not cells.whole:
    st.session_state["stage_jump"] = place
    text = t("Go to a number, 0 to {last}; {shown} are on screen", last=cells.size - 1, shown=MOST)
    st.number_input(text, 0, cells.size - 1, key="stage_jump", on_change=go_to_number)

work, check = (
    derive(view.model, view.trace, stage, position, place),
    recomputed(view.model, view.trace, stage, position),
)
name = stage_choice.place_name(view, stage, place)
st.markdown(f"**{plain(name)}**{plain(f' = {every_digit(work.shown)}')}")
st.code("\n".join([work.symbols, *work.steps, work.expression]), language=None, wrap_lines=True)
if work.hidden:
    assert isinstance(place, tuple)
    st.markdown(plain(hidden_words(work.hidden, position, place[1])))
if check.agrees:
    st.caption(f":material/check_circle: {plain(check_words(check))}")
else:
    messages.problem(check_words(check))

with st.expander(t("The terms, with every digit"), key="stage_terms", on_change="rerun") as terms:
    if terms.open:
        st.dataframe(stage_tables.terms(view, work), hide_index=True, width="stretch", key="stage_terms_table")
with st.expander(t("All numbers of this stage"), key="stage_all", on_change="rerun") as numbers:
    if numbers.open:
        st.dataframe(stage_tables.numbers(cells), hide_index=True, width="stretch", key="stage_all_table")
with st.expander(t("Formula and code"), key="stage_code", on_change="rerun") as code:
    if code.open:
        st.code(formula(stage, view.trace.config), language=None, wrap_lines=True)
        st.code(f"# {stage.source.file}:{stage.source.line}\n{stage.source.text}", wrap_lines=True)
for key, title, table in (
    ("stage_record", t("All stages: shapes and checks"), stage_tables.record),
    ("stage_parameters", t("Parameters"), stage_tables.parameters),
):
    with st.expander(title, key=key, on_change="rerun") as box:
        if box.open:
            rows, words = table(view)
            st.markdown(plain(words))
            st.dataframe(rows, hide_index=True, width="stretch", key=f"{key}_table")
