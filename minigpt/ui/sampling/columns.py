"""The columns of the sampling page: their tokens as they come, and where they part."""

from dataclasses import replace

import streamlit as st

from minigpt.cli.printing import readable
from minigpt.figures.numbers import percent
from minigpt.generation.compare import Comparison
from minigpt.generation.stepping import Step
from minigpt.limits import limit
from minigpt.sentences import Refusal
from minigpt.ui.base.text import t, tn
from minigpt.ui.base.view import View
from minigpt.ui.components.chips import Chip, chips
from minigpt.ui.sampling.setup import COMPARISON, LETTERS, Setup

CHOSEN = "sampling_chosen"  # (column, token) that the page shows in numbers
FIRST_SLICE, SLICE = 0.4, 0.1  # seconds of work in one run of the script
LONG, HEIGHT = 60, 340  # tokens from which on a column scrolls, and its height in px
MOST_LIVE = 120  # chips of a column while it grows; a long row is only sent once, at the end


def compared(view: View, setup: Setup) -> Comparison:
    """The comparison that this model, step and setup ask for: the current one, or a new one.

    Raises ValueError in one sentence for what cannot be generated.
    """
    asked = (view.space.model, view.space.step, replace(setup, by_hand=False))
    key, model, comparison = st.session_state.get(COMPARISON, (None, None, None))
    if key != asked or model is not view.model:
        longest, most = max(column.max_new_tokens for column in setup.columns), limit("MINIGPT_SAMPLE_TOKENS")
        if longest > most:
            raise Refusal(
                "a column asks for {tokens:,} tokens, at most {most:,} are allowed", tokens=longest, most=most
            )
        comparison = Comparison(view.model, view.tokenizer, setup.prompt, setup.columns, setup.dice)
        st.session_state[COMPARISON] = (asked, view.model, comparison)
        if not setup.by_hand:
            comparison.advance(FIRST_SLICE)
    return comparison


def chosen(comparison: Comparison) -> Step | None:
    """The token shown in numbers: the one clicked, else the first at which columns differ; None without tokens."""
    column, index = st.session_state.get(CHOSEN, (None, None))
    if column is None:
        index = (comparison.rounds - 1) if comparison.first_difference is None else comparison.first_difference
        there = [c for c, steps in enumerate(comparison.steps) if len(steps) > index]
        column = next((c for c in there if not comparison.columns[c].greedy), there[0] if there else 0)
    if column >= len(comparison.steps) or not comparison.steps[column]:
        return None
    return comparison.steps[column][min(index, len(comparison.steps[column]) - 1)]


def difference_sentence(comparison: Comparison) -> str:
    """From which token on the columns differ; tokens are counted from 1."""
    differ, written = comparison.first_difference, comparison.rounds
    if differ is None:
        return t("All columns are the same, token by token.") if written else t("No token yet.")
    if differ == 0:
        return t("The columns differ from token 1, the first (dashed line).")
    return t(
        "The columns are the same up to token {last}; they differ from token {following} (dashed line).",
        last=differ,
        following=differ + 1,
    )


def draw(comparison: Comparison) -> None:
    """A row of token chips for each column, with its text and why it stopped."""
    at = chosen(comparison)
    for number, place in enumerate(st.columns(len(comparison.columns), gap="medium")):
        with place:
            _column(comparison, number, at)


def _column(comparison: Comparison, number: int, at: Step | None) -> None:
    steps, differ = comparison.steps[number], comparison.first_difference
    first = 0 if comparison.finished else max(0, len(steps) - MOST_LIVE)
    items: list[Chip] = []
    indices: list[int | None] = []
    if first:
        items.append(Chip(tn("{count} earlier token", "{count} earlier tokens", count=first), kind="group"))
        indices.append(None)
    for step in steps[first:]:
        if step.index == differ:
            items.append(Chip(t("from here on the columns differ"), kind="divider"))
            indices.append(None)
        items.append(_chip(comparison, step))
        indices.append(step.index)
    own = at.index if at is not None and at.column == number else None
    long = max(map(len, comparison.steps)) > LONG
    with st.container(height=HEIGHT if long else "content", border=False, key=f"column_{number}"):
        chips(
            items,
            key=f"tokens_{number}",
            label=t("Tokens of column {letter}", letter=LETTERS[number]),
            selected=indices.index(own) if own is not None and own in indices else None,
            on_select=lambda place: st.session_state.update({CHOSEN: (number, indices[place])}),
        )
    text = readable(comparison.written(number)) or " "
    st.code(text, language=None, wrap_lines=True, height=HEIGHT // 2 if long else "content")
    st.caption(stop_sentence(steps))


def _chip(comparison: Comparison, step: Step) -> Chip:
    token, shown = step.index + 1, comparison.tokenizer.piece_bytes(step.id).hex(" ").upper() or "–"
    lines = [
        t("token {token} · id {token_id} · bytes {piece}", token=token, token_id=step.id, piece=shown),
        t("raw {raw}, drawn from {own}", raw=percent(step.raw_probability), own=percent(step.probability)),
        t("rank {rank} of {kept} kept", rank=step.rank, kept=step.kept),
    ]
    return Chip(
        comparison.tokenizer.piece_label(step.id),
        below=percent(step.raw_probability),
        hint="\n".join(lines),
        kind="special" if step.id == comparison.tokenizer.eos else "plain",
        tint=step.raw_probability,
    )


def stop_sentence(steps: list[Step]) -> str:
    """Why a column ended, and after how many tokens; an EOS is one of them."""
    if not steps:
        return t("No token yet.")
    stop, count = steps[-1].stop, len(steps)
    if stop == "eos":
        return tn(
            "The model ended the text: {count} token, EOS.",
            "The model ended the text: {count} tokens, the last one EOS.",
            count=count,
        )
    if stop == "length":
        return tn(
            "Stopped at the requested length, {count} token.",
            "Stopped at the requested length, {count} tokens.",
            count=count,
        )
    if stop == "context_limit":
        return tn(
            "Stopped at the end of the context after {count} token (context_limit).",
            "Stopped at the end of the context after {count} tokens (context_limit).",
            count=count,
        )
    return tn("{count} token so far …", "{count} tokens so far …", count=count)


def prompt_note(view: View, comparison: Comparison | None) -> str:
    """How much of the context the prompt takes."""
    if comparison is None:
        return ""
    return t(
        "{used} of {available} positions",
        used=len(comparison.prompt_ids),
        available=view.model.config.context_length,
    )


def draw_growing(comparison: Comparison, by_hand: bool) -> None:
    """The columns; while they grow a fragment runs slice after slice, by hand each press of a button is one token."""
    if by_hand:
        _hand(comparison)
    if by_hand or comparison.finished:
        draw(comparison)
        return
    clicked = st.session_state.get(CHOSEN)

    def panel() -> None:
        draw(comparison)
        comparison.advance(SLICE)
        if comparison.finished or st.session_state.get(CHOSEN) != clicked:
            st.rerun()

    st.fragment(panel, run_every=0.3)()


def restart() -> None:
    """Forget the tokens; the next run of the page starts over."""
    st.session_state.pop(COMPARISON, None)
    st.session_state.pop(CHOSEN, None)


def _hand(comparison: Comparison) -> None:
    following, again, _ = st.columns([1, 1, 4])
    following.button(
        t("Next token"),
        key="next_token",
        type="primary",
        icon=":material/skip_next:",
        width="stretch",
        disabled=comparison.finished,
        on_click=_next,
        args=(comparison,),
    )
    again.button(
        t("From the start"), key="from_start", width="stretch", disabled=comparison.rounds == 0, on_click=restart
    )


def _next(comparison: Comparison) -> None:
    comparison.advance_round()
    st.session_state.pop(CHOSEN, None)
