"""The cache view: the same text with and without the KV cache, measured here and now."""

import time
from collections.abc import Iterator

import pandas as pd
import streamlit as st

from minigpt.figures.numbers import scientific
from minigpt.figures.sampling import cost_figure
from minigpt.figures.theme import chart_config
from minigpt.generation.cost import CostStep, compare_costs, summarize
from minigpt.generation.stepping import prompt_ids
from minigpt.model.cache import cache_bytes
from minigpt.model.gpt import MiniGPT
from minigpt.model.size_limits import number_bytes
from minigpt.sentences import Refusal
from minigpt.ui.base import messages
from minigpt.ui.base.text import t, tn, translate
from minigpt.ui.base.view import View, shared_model
from minigpt.ui.sampling.setup import Setup

STATE = "sampling_cost"
WANTED = "sampling_cost_wanted"  # set by the button; the work begins where a spinner can be seen
MOST_TOKENS = 200
SLICE = 0.2  # seconds of work in one run of the script
BIG = "gpt2-small"
LEASE = 10.0  # seconds after the last slice until another reader may measure the large model
LARGE = 20_000_000  # parameters: from here on a model is measured as the large one is
BIG_EVERY = 8  # without the cache every eighth token is read again: each takes up to a second


class Measurement:
    """The tokens measured so far of one model on one prompt."""

    def __init__(self, model: MiniGPT, ids: list[int], tokens: int, every: int):
        self.config, self.prompt, self.tokens, self.every = model.config, len(ids), tokens, every
        self.steps: list[CostStep] = []
        self._source: Iterator[CostStep] = compare_costs(model, ids, tokens, every)

    @property
    def finished(self) -> bool:
        return len(self.steps) == self.tokens

    def advance(self, seconds: float) -> None:
        """Measure for about this long, at least one token."""
        end = time.monotonic() + seconds
        while not self.finished:
            self.steps.append(next(self._source))
            if time.monotonic() > end:
                return


def draw(view: View, setup: Setup) -> None:
    """Which model, a button, progress, the curve and what it comes to."""
    st.write(
        t(
            "Without a cache every new token reads the whole text again. With it, keys and values of all earlier "
            "positions are kept and only the new position is computed."
        )
    )
    titles = {"own": t("The model above"), BIG: t("GPT-2 Small's shape, random weights")}
    choice = st.segmented_control(
        t("Measured model"),
        list(titles),
        default="own",
        required=True,
        key="cost_model",
        format_func=lambda choice: titles[choice],
        label_visibility="collapsed",
    )
    asked = (choice, view.space.model, view.space.step, setup.prompt)
    if st.session_state.pop(WANTED, None) == asked:
        _start(view, setup, asked)
    key, work = st.session_state.get(STATE, (None, None))
    if key != asked:
        _offer(choice, asked)
    elif not work.finished:
        st.fragment(lambda: _progress(work, _is_large(view, choice)), run_every=0.3)()
    else:
        _result(work)
        st.button(t("Measure again"), key="cost_again", on_click=_want, args=(asked,))


def _offer(choice: str, asked: tuple) -> None:
    if choice == BIG:
        st.caption(
            t(
                "This creates 124,439,808 random parameters (a few seconds, half a gigabyte of memory): the text it "
                "writes means nothing, but the time it takes does."
            )
        )
    st.button(t("Measure"), key="cost_start", type="primary", on_click=_want, args=(asked,))
    if fault := st.session_state.pop("cost_fault", ""):
        messages.problem(fault)


def _want(asked: tuple) -> None:
    st.session_state[WANTED] = asked
    st.session_state.pop(STATE, None)


def _start(view: View, setup: Setup, asked: tuple) -> None:
    """Begin the measurement; a large model is made first, by one reader at a time."""
    chosen, big = asked[0], _is_large(view, asked[0])
    try:
        ids = prompt_ids(view.tokenizer, setup.prompt)
        if big and _lease().get("until", 0.0) > time.monotonic():
            raise Refusal("another reader is measuring a large model right now; try again in a minute")
        with st.spinner(t("Creating the model …")):
            model = shared_model(BIG, 0) if chosen == BIG else view.model
        room = model.config.context_length - len(ids) + 1
        work = Measurement(model, ids, min(MOST_TOKENS, room), BIG_EVERY if big else 1)
    except ValueError as error:
        st.session_state["cost_fault"] = translate(error)
        return
    st.session_state[STATE] = (asked, work)


def _is_large(view: View, choice: str) -> bool:
    return choice == BIG or view.parameters > LARGE


@st.cache_resource(show_spinner=False)
def _lease() -> dict[str, float]:
    """Until when the large model is taken: its steps take a second each, and all readers share the processors."""
    return {}


def _progress(work: Measurement, big: bool) -> None:
    if STATE not in st.session_state:
        st.rerun()
    if big:
        _lease()["until"] = time.monotonic() + LEASE
    count, cancel = st.columns([5, 1], vertical_alignment="bottom")
    count.progress(
        len(work.steps) / work.tokens, t("token {number} of {tokens}", number=len(work.steps), tokens=work.tokens)
    )
    cancel.button(t("Cancel"), key="cost_cancel", on_click=_cancel, args=(big,), width="stretch")
    _curve(work)
    work.advance(SLICE)  # last, so that what is drawn is never stale meanwhile
    if work.finished:
        _release(big)
        st.rerun()


def _cancel(big: bool) -> None:
    st.session_state.pop(STATE, None)
    _release(big)


def _release(big: bool) -> None:
    if big:
        _lease().clear()


def _result(work: Measurement) -> None:
    st.markdown(sentence(work))
    curve, table = st.columns([3, 2], gap="large")
    with curve:
        _curve(work)
    table.dataframe(cost_frame(work), hide_index=True, width="stretch", key="cost_table")
    table.caption(formula(work))


def sentence(work: Measurement) -> str:
    """What the cache saved, and that it changed nothing (Markdown)."""
    found = summarize(work.steps)
    saved = tn(
        "{count} token after a prompt of {prompt} ids: **{ratio:.1f} times faster with the cache**. "
        "The logits differ by at most {difference}.",
        "{count} tokens after a prompt of {prompt} ids: **{ratio:.1f} times faster with the cache**. "
        "The logits differ by at most {difference}.",
        count=found.tokens,
        prompt=work.prompt,
        ratio=found.ratio,
        difference=scientific(found.difference) if found.difference else "0",
    )
    some = t("Without the cache only one token in {every} was measured.", every=work.every)
    return saved if work.every == 1 else " ".join([saved, some])


def cost_frame(work: Measurement) -> pd.DataFrame:
    """Prefill, decode and uncached times, and the bytes held."""
    found = summarize(work.steps)
    rows = [
        (tn("prefill: {count} id at once", "prefill: {count} ids at once", count=work.prompt), found.prefill_seconds),
        (t("decode: one token with the cache"), found.decode_seconds),
        (t("one token without the cache"), found.uncached_seconds),
    ]
    table = [(name, "–" if value is None else f"{1000 * value:.3f} ms") for name, value in rows]
    length = work.steps[-1].length
    table.append((t("bytes held at the end"), f"{cache_bytes(work.config, length):,}"))
    table.append((t("bytes held by a full context"), f"{cache_bytes(work.config, work.config.context_length):,}"))
    return pd.DataFrame(table, columns=[t("what"), t("measured")])


def formula(work: Measurement) -> str:
    """The bytes held, with the numbers put in."""
    c, length = work.config, work.steps[-1].length
    return tn(
        "2 (key and value) × {count} block × {heads} heads × {width} numbers × {length} positions × {size} bytes = "
        "{total:,} bytes.",
        "2 (key and value) × {count} blocks × {heads} heads × {width} numbers × {length} positions × {size} bytes = "
        "{total:,} bytes.",
        count=c.layers,
        heads=c.heads,
        width=c.head_width,
        length=length,
        size=number_bytes(c),
        total=cache_bytes(c, length),
    )


def _curve(work: Measurement) -> None:
    steps = work.steps
    figure = cost_figure(
        [step.length for step in steps],
        [1000 * step.cached_seconds for step in steps],
        [None if step.uncached_seconds is None else 1000 * step.uncached_seconds for step in steps],
        (t("with cache"), t("without cache")),
        (t("length of the text (ids)"), t("processor ms per token")),
    )
    st.plotly_chart(figure, key="cost_curve", config=chart_config("cache"), alt=t("Time of each token by length"))
