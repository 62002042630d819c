"""The settings of one column of the sampling page: a preset, and every field in a box that opens."""

from dataclasses import replace
from typing import Any

import streamlit as st

from minigpt.generation.settings import PRESETS, SampleConfig
from minigpt.limits import limit
from minigpt.sentences import Refusal, say
from minigpt.ui.base.text import t, translate
from minigpt.ui.sampling.setup import LETTERS, Setup, choose, current
from minigpt.validation import settings_of, with_labels

STALE = "sampling_stale"  # set where more than the settings must be redrawn
CUSTOM = "custom"
STEPS = {"temperature": 0.1, "top_p": 0.05}  # of a press of + or −


def preset_of(column: SampleConfig) -> str:
    """The preset with these filters, whatever seed and length; `custom` without one."""
    own = (column.temperature, column.top_k, column.top_p)
    return next((name for name, p in PRESETS.items() if (p.temperature, p.top_k, p.top_p) == own), CUSTOM)


def preset_title(name: str) -> str:
    """How a preset is called."""
    titles = {
        "greedy": t("Greedy"),
        "temperature-0.8": t("Temperature 0.8"),
        "top-k-20": t("Top-k 20"),
        "top-p-0.9": t("Top-p 0.9"),
        "top-k-50-top-p-0.95": t("T 0.8, top-k 50, top-p 0.95"),
        CUSTOM: t("Custom settings"),
    }
    return titles[name]


def summary(column: SampleConfig, own_seed: bool = True) -> str:
    """The settings in one line; the seed only where the column has its own random numbers."""
    parts = [t("greedy") if column.greedy else t("T {value:g}", value=column.temperature)]
    if column.top_k and not column.greedy:
        parts.append(t("top-k {value}", value=column.top_k))
    if column.top_p < 1 and not column.greedy:
        parts.append(t("top-p {value:g}", value=column.top_p))
    if own_seed and not column.greedy:
        parts.append(t("seed {value}", value=column.seed))
    return " · ".join(parts)


def draw_column(setup: Setup, number: int) -> None:
    """Preset and settings of one column."""
    column = setup.columns[number]
    st.session_state[f"preset_{number}"] = preset_of(column)
    st.selectbox(
        t("Column {letter}", letter=LETTERS[number]),
        [*PRESETS, CUSTOM],
        key=f"preset_{number}",
        format_func=preset_title,
        on_change=_take_preset,
        args=(number,),
    )
    st.caption(summary(column, own_seed=setup.dice is None))  # above the box, which covers what is below it
    st.session_state.pop(STALE, None)
    st.fragment(lambda: _popover(number))()


def _popover(number: int) -> None:
    """A column's settings, a fragment: opening them draws them alone, changing and closing them the whole page.

    The button's name stays the same, because a popover with another name is a new one, which takes the focus away.
    """
    setup, key = current(), f"settings_{number}"
    box = st.popover(
        t("Settings"), icon=":material/tune:", width="stretch", key=key, on_change=_take_popover, args=(key,)
    )
    if box.open and number < len(setup.columns):  # closed, its fields would still cost a redraw at each click
        with box:
            _settings(setup, number)
    if st.session_state.pop(STALE, False):  # last, so that the fields stay and keep the focus meanwhile
        st.rerun()


def _settings(setup: Setup, number: int) -> None:
    column = setup.columns[number]
    for name, known in settings_of(SampleConfig).items():
        if known.choices:
            continue
        key, value, explained = f"{name}_{number}", getattr(column, name), known.help
        low, high = known.bounds.get("least", known.bounds.get("above")), known.bounds.get("most")
        if name == "max_new_tokens":
            high = limit("MINIGPT_SAMPLE_TOKENS")
        if name == "seed" and setup.dice is not None:
            value, explained = setup.dice, say("Seed of the random numbers that all columns share")
        fraction = isinstance(value, float)
        kind = float if fraction else int
        st.session_state[key] = value if high is None else min(value, high)
        st.number_input(
            translate(known.label),
            min_value=kind(low),
            max_value=None if high is None else kind(high),
            step=STEPS[name] if fraction else 1,
            format="%g" if fraction else None,
            key=key,
            help=translate(explained),
            on_change=_take_setting,
            args=(number, name),
        )
    key = f"slide_{number}"
    st.session_state[key] = column.at_context_length == "slide"
    st.toggle(
        t("Slide at the end of the context"),
        key=key,
        help=t("Instead of stopping, drop the oldest token and read the rest again at new positions."),
        on_change=_take_slide,
        args=(number,),
    )


def _take_preset(number: int) -> None:
    name = st.session_state[f"preset_{number}"]
    if name != CUSTOM:
        preset = PRESETS[name]
        _change(number, temperature=preset.temperature, top_k=preset.top_k, top_p=preset.top_p)


def _take_popover(key: str) -> None:
    if not st.session_state[key]:  # the same click may have meant something elsewhere on the page
        st.session_state[STALE] = True


def _take_setting(number: int, name: str) -> None:
    st.session_state[STALE] = True
    if name == "seed" and current().dice is not None:
        choose(dice=st.session_state[f"seed_{number}"])
        return
    _change(number, **{name: st.session_state[f"{name}_{number}"]})


def _take_slide(number: int) -> None:
    st.session_state[STALE] = True
    _change(number, at_context_length="slide" if st.session_state[f"slide_{number}"] else "stop")


def _change(number: int, **changes: Any) -> None:
    """Change one column; a value out of range is refused in a sentence and the old one stays."""
    columns = list(current().columns)
    try:
        columns[number] = replace(columns[number], **changes)
    except Refusal as error:
        st.session_state["sampling_refused"] = translate(with_labels(error.sentence, SampleConfig))
        return
    choose(columns=tuple(columns))
