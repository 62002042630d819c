"""What the sampling page compares: the prompt and the columns, from the URL and from the controls above them."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from minigpt.generation.settings import (
    FEWEST_COLUMNS,
    MOST_COLUMNS,
    PRESETS,
    SampleConfig,
    next_seed,
    read_columns,
    read_number,
    write_columns,
)
from minigpt.ui.base import messages
from minigpt.ui.base.text import t, tn, translate
from minigpt.ui.components.record import record_box
from minigpt.ui.shared.open_run import PROMPT, first_prompt

STATE = "sampling"
COMPARISON = "sampling_comparison"  # the tokens so far; without it the page starts over
FOLLOWED = "sampling_followed"  # the prompt that came from the current model
LETTERS = "ABCD"
NEXT = ("greedy", "temperature-0.8", "top-k-20", "top-p-0.9")  # presets of new columns


@dataclass(frozen=True)
class Setup:
    """What is compared. `dice` is the seed of the random numbers that all columns share, None when each has its own."""

    prompt: str = PROMPT
    columns: tuple[SampleConfig, ...] = (PRESETS["greedy"], PRESETS["temperature-0.8"], PRESETS["top-k-20"])
    dice: int | None = None
    by_hand: bool = False


def current() -> Setup:
    """The setup of this session; at first what the link says. What cannot be used is named, and its default stays."""
    if STATE not in st.session_state:
        st.session_state[STATE] = _from_url()
    return st.session_state[STATE]


def choose(**changes: Any) -> None:
    """Change the setup, in a callback."""
    st.session_state[STATE] = replace(current(), **changes)


def follow(model: str) -> None:
    """Until the reader types a prompt, it is one that the model knows."""
    before, now = st.session_state.get(FOLLOWED, Setup().prompt), first_prompt(model)
    st.session_state[FOLLOWED] = now
    if current().prompt == before != now:
        choose(prompt=now)


def write_url(setup: Setup) -> None:
    """Put prompt, settings and seeds into the address bar."""
    values = {"prompt": setup.prompt, "columns": write_columns(setup.columns)}
    for name, value in values.items():
        if st.query_params.get(name) != value:
            st.query_params[name] = value
    if setup.dice is not None and st.query_params.get("dice") != str(setup.dice):
        st.query_params["dice"] = str(setup.dice)
    if setup.dice is None and "dice" in st.query_params:
        del st.query_params["dice"]


def draw_prompt(setup: Setup, note: str, wrong: bool) -> None:
    """The box of the prompt."""
    record_box(
        setup.prompt,
        key="prompt",
        label=t("Prompt"),
        note=note,
        wrong=wrong,
        placeholder=t("Empty: the model starts the text"),
        on_change=lambda text: choose(prompt=text),
    )


def draw_common(setup: Setup) -> None:
    """Number of columns, other seeds, same random numbers, token by token: as many in a row as fit."""
    st.session_state["column_count"] = len(setup.columns)
    st.session_state["same_dice"] = setup.dice is not None
    st.session_state["by_hand"] = setup.by_hand

    def title(count: int) -> str:
        return tn("{count} column", "{count} columns", count=count) if count == len(setup.columns) else str(count)

    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.segmented_control(
            t("Columns"),
            list(range(FEWEST_COLUMNS, MOST_COLUMNS + 1)),
            key="column_count",
            format_func=lambda count: (
                tn("{count} column", "{count} columns", count=count) if count == len(setup.columns) else str(count)
            ),
            required=True,
            label_visibility="collapsed",
            width="content",
            on_change=_take_count,
        )
        st.button(
            t("Other seeds"),
            key="other_seeds",
            icon=":material/casino:",
            on_click=_other_seeds,
            help=t("Increases every seed by one, also the shared one."),
        )
        st.toggle(
            t("Same random numbers"),
            key="same_dice",
            width="content",
            on_change=_take_dice,
            help=t("All columns use the same random number at each token; they differ only where their settings do."),
        )
        st.toggle(t("Token by token"), key="by_hand", width="content", on_change=_take_hand)


def _from_url() -> Setup:
    setup, params = Setup(), st.query_params
    try:
        if "columns" in params:
            setup = replace(setup, columns=read_columns(params["columns"]))
        if "dice" in params:
            setup = replace(setup, dice=SampleConfig.from_dict({"seed": read_number(params["dice"])}).seed)
    except ValueError as error:
        messages.notice(t("The link cannot be used as it is: {fault}.", fault=translate(error)))
    return replace(setup, prompt=params["prompt"]) if "prompt" in params else setup


def _take_count() -> None:
    count, columns = st.session_state["column_count"], current().columns
    new = [PRESETS[name] for name in NEXT[len(columns) : count]]
    choose(columns=(*columns[:count], *new))


def _other_seeds() -> None:
    setup = current()
    following = [replace(column, seed=next_seed(column.seed)) for column in setup.columns]
    choose(columns=tuple(following), dice=None if setup.dice is None else next_seed(setup.dice))


def _take_dice() -> None:
    choose(dice=current().columns[0].seed if st.session_state["same_dice"] else None)


def _take_hand() -> None:
    choose(by_hand=st.session_state["by_hand"])
    if st.session_state["by_hand"]:
        st.session_state.pop(COMPARISON, None)
