"""The settings of one column of the sampling page: a preset, and every field in a box that opens."""

from dataclasses import replace

import streamlit as st

from minigpt.generation.settings import LARGEST_SEED, PRESETS, SampleConfig
from minigpt.limits import limit
from minigpt.ui.base.text import t
from minigpt.ui.sampling.setup import LETTERS, Setup, choose, current

STALE = "sampling_stale"  # set where more than the settings must be drawn anew
CUSTOM = "custom"


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
        CUSTOM: t("Own settings"),
    }
    return titles[name]


def summary(column: SampleConfig, own_seed: bool = True) -> str:
    """The settings in one line; the seed only where the column has its own dice."""
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

    The button's name stays the same, as a popover of another name is another one, which takes the focus away.
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
    most = limit("MINIGPT_SAMPLE_TOKENS")
    fields = (
        ("temperature", t("Temperature"), {"min_value": 0.0, "step": 0.1, "format": "%g"}, t("0 is greedy")),
        ("top_k", t("Top-k"), {"min_value": 0, "step": 1}, t("how many tokens may be drawn; 0 is off")),
        ("top_p", t("Top-p"), {"min_value": 0.0, "max_value": 1.0, "step": 0.05, "format": "%g"}, t("1 is off")),
        ("seed", t("Seed"), {"min_value": 0, "max_value": LARGEST_SEED}, t("of this column's own dice")),
        ("max_new_tokens", t("Tokens"), {"min_value": 1, "max_value": most}, t("at most; the end of the text counts")),
    )
    for name, label, options, help in fields:
        key = f"{name}_{number}"
        value = min(getattr(column, name), options.get("max_value", float("inf")))
        if name == "seed" and setup.dice is not None:
            value, help = setup.dice, t("of the dice that all columns share")
        st.session_state[key] = value
        st.number_input(label, key=key, help=help, on_change=_take_setting, args=(number, name), **options)
    key = f"slide_{number}"
    st.session_state[key] = column.at_context_length == "slide"
    st.toggle(
        t("Slide at the context's end"),
        key=key,
        help=t("Instead of stopping: drop the oldest token, read the rest again at new positions."),
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


def _change(number: int, **changes) -> None:
    """Change one column; a value out of range is refused in a sentence and the old one stays."""
    columns = list(current().columns)
    try:
        columns[number] = replace(columns[number], **changes)
    except ValueError as error:
        st.session_state["sampling_refused"] = str(error)
        return
    choose(columns=tuple(columns))
