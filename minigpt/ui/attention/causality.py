"""The causality test: replace one token of the record and see which positions move."""

from collections.abc import Sequence

import streamlit as st

from minigpt.inspection.edit import Edited, another_id, edit_token
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.components.chips import Chip, chips
from minigpt.ui.shared.pieces import LISTED, labels_of, search

EDIT = "causality_edit"
MOST_FOUND = 50  # pieces offered of those that a search finds


def draw(view: View) -> None:
    """Two choices, the sentence, and a chip a position with how far its logits moved."""
    position, token = edit(view)
    where, what = st.columns(2)
    with where:
        st.session_state["edit_position"] = position
        st.selectbox(
            t("Position to change"),
            range(1, view.length),
            key="edit_position",
            format_func=lambda slot: f"{slot}  {view.labels[slot]}",
            on_change=lambda: _take(view, st.session_state["edit_position"], None),
        )
    with what:
        _choose_piece(view, position, token)
    edited = _edited(view.space.model, view.step, view.space.text, position, token, view)
    moved = edited.differences[: view.length].tolist()
    st.text(sentence(view, edited))
    chips(
        [_chip(view, edited, slot, moved) for slot in range(view.length)],
        key="moved",
        label=t("How far the logits of each position move"),
        selected=view.position,
        on_select=lambda slot: workspace.choose(position=slot),
    )


def _choose_piece(view: View, position: int, id: int) -> None:
    """Any other id of a small vocabulary; of a large one those that a search finds."""
    options: Sequence[int] = range(view.model.config.vocab_size)
    place, label = st.container(), t("Put there instead")
    if len(options) > LISTED:
        box, place = st.columns(2)
        with box:
            options, label = _searched(view, position, id), t("Found")
    st.session_state["edit_id"] = id
    place.selectbox(
        label,
        [other for other in options if other != view.ids[position]],
        key="edit_id",
        format_func=lambda other: t("{piece}  (id {id})", piece=view.label(other), id=other),
        on_change=lambda: _take(view, position, st.session_state["edit_id"]),
    )


def _searched(view: View, position: int, id: int) -> list[int]:
    """A box to search in, and the ids it finds; before a search the others of the record."""
    query = st.text_input(
        t("Put there instead"),
        key="edit_search",
        placeholder=t("An id, or part of a piece"),
        on_change=lambda: _take_found(view, position),
    )
    found = search(labels_of(view), query)[:MOST_FOUND] if query else view.ids[1:]
    if query and not found:
        st.caption(t("No piece of this vocabulary holds what you typed."))
    return list(dict.fromkeys((id, *found)))


def _take_found(view: View, position: int) -> None:
    """Put the best match of the search there, if there is one."""
    found = search(labels_of(view), st.session_state["edit_search"])
    other = next((id for id in found if id != view.ids[position]), None)
    if other is not None:
        _take(view, position, other)


def edit(view: View) -> tuple[int, int]:
    """The chosen (position, id) for this record, by default the last position and another piece of the record."""
    text, position, id = st.session_state.get(EDIT, ("", 0, None))
    if text != view.space.text or not 1 <= position < view.length:
        position, id = view.length - 1, None
    if id is None or id == view.ids[position] or id >= view.model.config.vocab_size:
        id = another_id(view.batch, position, view.tokenizer.vocab_size)
    return position, id


def sentence(view: View, edited: Edited) -> str:
    """What moved and what did not, with the numbers; exactly 0 is said only when it is."""
    last = edited.position - 1
    before, there = edited.differences[: edited.position].max().item(), edited.differences[edited.position].item()
    weights = edited.weight_differences[:, :, : edited.position].max().item()
    names = {"position": edited.position, "before": before, "there": there, "weights": weights}
    pieces = [view.label(id) for id in (edited.before, edited.after)]
    change = t("Position {position}: {old} becomes {new}.", position=edited.position, old=pieces[0], new=pieces[1])
    if before == 0 and weights == 0 and not last:
        still = t("Position 0 did not move: its logits and attention weights changed by exactly 0.")
    elif before == 0 and weights == 0:
        still = t(
            "Nothing before it moved: logits and attention weights of positions 0 to {last} changed by exactly 0.",
            last=last,
        )
    else:
        still = t("Before it, logits moved by up to {before:.2g} and weights by {weights:.2g}.", **names)
    moved = t("Position {position} moved: one of its logits changed by {there:.4g}.", **names)
    return f"{change} {still} {moved}"


def _take(view: View, position: int, id: int | None) -> None:
    st.session_state[EDIT] = (view.space.text, position, id)


def _chip(view: View, edited: Edited, slot: int, moved: list[float]) -> Chip:
    text = view.labels[slot]
    if slot == edited.position:
        text = f"{text} → {view.label(edited.after)}"
    return Chip(
        text,
        below="0" if moved[slot] == 0 else f"{moved[slot]:.3g}",
        hint=t("position {position}: largest change of a logit {moved!r}", position=slot, moved=moved[slot]),
        kind="special" if view.is_special(view.ids[slot]) else "plain",
        tint=moved[slot] / max(moved) if moved[slot] else None,
    )


@st.cache_resource(show_spinner=False, max_entries=64)
def _edited(name: str, step: int, text: str, position: int, id: int, _view: View) -> Edited:
    return edit_token(_view.model, _view.batch, position, id, before=_view.trace)
