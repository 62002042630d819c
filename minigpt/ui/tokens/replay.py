"""The merge-by-merge replay: the text as chips at one step of its encoding, and the rule that made it."""

import streamlit as st

from minigpt.sentences import say
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.labels import visible_label
from minigpt.ui.base import messages
from minigpt.ui.base.text import t, tn, translate
from minigpt.ui.base.view import View
from minigpt.ui.components.chips import Chip, chips
from minigpt.ui.tokens.token_facts import ReplayState, byte_text, replay, split_characters

STEP, OF = "replay_step", "replay_of"
MOST_SPLIT = 8  # characters explained
MOST_PIECES = 400  # chips of the text at one step


def rule(view: View) -> str:
    """How this kind of tokenizer makes tokens, with the numbers of the text."""
    numbers = {"size": len(view.space.text.encode()), "tokens": view.length - 1}
    rules = {
        "byte_bpe": say(
            "Text is bytes first. Then learned merges join neighbors, always in the same order (bytes here: "
            "{size}, tokens: {tokens}).",
            **numbers,
        ),
        "gpt2": say(
            "Text is split into words, and each word is bytes first. Then learned merges join neighbors inside the "
            "word, the earliest learned first (bytes here: {size}, tokens: {tokens}).",
            **numbers,
        ),
        "chars": say(
            "Every character of a known alphabet is one token: nothing is merged (bytes here: {size}, "
            "tokens: {tokens}).",
            **numbers,
        ),
    }
    marks = t("A space is written ·, anything else that cannot be seen in ‹ ›.")
    return f"{translate(rules[view.tokenizer.kind])} {marks}"


def draw(view: View) -> None:
    """Controls, the rule in words and chips, and the text at this step; characters as they are."""
    if view.tokenizer.kind == "chars":
        whole = ReplayState(tuple(view.ids[1:]), before=view.length - 1)
        chips(_pieces(view.tokenizer, whole), key="replay", label=t("The characters of the text"))
        return
    try:
        states = replay(view.tokenizer, view.space.text)
    except ValueError as error:  # more steps than can be shown
        messages.notice(translate(error))
        return
    last = len(states) - 1
    step = _start(view, last)
    if last:
        _controls(step, last)
    _rule(view.tokenizer, states[step], step, last)
    chips(_pieces(view.tokenizer, states[step]), key="replay", label=t("The text at this step"))
    _split(view)


def _start(view: View, last: int) -> int:
    """The step shown; a new text or tokenizer starts with its bytes."""
    shown = (view.space.text, view.tokenizer.fingerprint)
    if st.session_state.get(OF) != shown:
        st.session_state[OF], st.session_state[STEP] = shown, 0
    st.session_state[STEP] = min(st.session_state.get(STEP, 0), last)
    return st.session_state[STEP]


def _controls(step: int, last: int) -> None:
    back, forth, slider = st.columns([1.3, 1.3, 6], vertical_alignment="bottom")
    back.button(
        t("Previous"), key="replay_back", shortcut="P", disabled=step == 0, on_click=_move, args=(-1,), width="stretch"
    )
    forth.button(
        t("Next"),
        key="replay_next",
        shortcut="N",
        disabled=step == last,
        on_click=_move,
        args=(1,),
        width="stretch",
    )
    slider.slider(t("Merges applied"), 0, last, key=STEP)


def _move(by: int) -> None:
    st.session_state[STEP] += by


def _rule(tokenizer: Tokenizer, state: ReplayState, step: int, last: int) -> None:
    merge = state.step
    if merge is None:
        sentence = t("Bytes of the text in UTF-8, not merged yet: {size}", size=len(state.ids))
        if not last:
            sentence = t("Bytes of the text in UTF-8, which no learned merge fits: {size}", size=len(state.ids))
        chips([Chip(sentence, kind="group")], key="rule", label=t("Rule"))
        return
    head = t("Step {step} of {last}, rank {rank}:", step=step, last=last, rank=merge.rank)
    tail = tn(
        "at {count} place: {before} tokens become {after}",
        "at {count} places: {before} tokens become {after}",
        count=state.places,
        before=state.before,
        after=len(state.ids),
    )
    row = [
        Chip(head, kind="group"),
        _chip(tokenizer, merge.left),
        Chip("+", kind="group"),
        _chip(tokenizer, merge.right),
    ]
    row += [Chip("→", kind="group"), _chip(tokenizer, merge.id, kind="fresh"), Chip(tail, kind="group")]
    chips(row, key="rule", label=t("Rule"))


def _pieces(tokenizer: Tokenizer, state: ReplayState) -> list[Chip]:
    """The pieces at this step; of a long text those around the first merge."""
    made = state.step.id if state.step else None
    place = state.ids.index(made) if made in state.ids else 0
    first = max(0, min(place - MOST_PIECES // 4, len(state.ids) - MOST_PIECES))
    shown = state.ids[first : first + MOST_PIECES]
    row = [_chip(tokenizer, token, kind="fresh" if token == made else "plain") for token in shown]
    after = len(state.ids) - first - len(shown)
    before = [Chip(t("{count:,} before", count=first), kind="group")] if first else []
    return [*before, *row, *([Chip(t("{count:,} after", count=after), kind="group")] if after else [])]


def _split(view: View) -> None:
    """Characters that no single piece holds, with the pieces that do."""
    found = split_characters(view.tokenizer, view.space.text)
    if not found:
        return
    st.caption(
        t(
            "UTF-8 writes one character with up to four bytes. Where no merge has joined them all, a piece is only a "
            "part of it and shows its bytes in hex. In this text ({shown} of {count}):",
            shown=min(MOST_SPLIT, len(found)),
            count=len(found),
        )
    )
    row = []
    for split in found[:MOST_SPLIT]:
        row.append(Chip(f"{visible_label(split.text.encode())} =", kind="group"))
        row += [_chip(view.tokenizer, token) for token in split.ids]
    chips(row, key="split", label=t("Characters in several pieces"))


def _chip(tokenizer: Tokenizer, token: int, kind: str = "plain") -> Chip:
    hint = t("id {token} · bytes {hex}", token=token, hex=byte_text(tokenizer, token))
    return Chip(tokenizer.piece_label(token), below=str(token), hint=hint, kind=kind)
