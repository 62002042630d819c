"""What a model costs: its memory, what twice the size costs, and its loss before training, measured against ln V."""

import threading

import pandas as pd
import streamlit as st

from minigpt.config import ModelConfig
from minigpt.inspection.stages import trace_bytes
from minigpt.inspection.trace_memory import check_trace
from minigpt.model.parameters import parameter_count
from minigpt.model.size_limits import check_model
from minigpt.sizing.memory import Memory, memory, readable_bytes
from minigpt.sizing.untrained import UntrainedLoss, positions_read, untrained_loss
from minigpt.sizing.variants import Doubled, doublings
from minigpt.ui.base import messages
from minigpt.ui.base.text import t, tn
from minigpt.ui.components.table import Column, table

AT_ONCE = 3_000_000  # parameters that are built without being asked: a tenth of a second
WANTED = "models_untrained_wanted"  # session: the config that the button asked for


def text_table(frame: pd.DataFrame, words: tuple[str, ...], *, key: str, label: str) -> None:
    """A table of texts, whole at any width: columns named in `words` wrap, the others are right-aligned, unbroken."""
    columns = [Column(name, frame[name].tolist(), "words" if name in words else "number") for name in frame.columns]
    table(columns, key=key, label=label, height=600)


def draw_memory(config: ModelConfig) -> None:
    """Bytes by purpose, each with its rule."""
    st.subheader(t("Memory"))
    words = (t("what"), t("rule"))
    text_table(memory_frame(config, memory(config)), words, key="models_memory", label=t("Memory"))
    st.caption(
        t(
            "These are exact. What torch keeps between forward and backward is not included: it depends on its "
            "kernels, and is added when training."
        )
    )


def draw_doubling(config: ModelConfig) -> None:
    """Each size doubled alone."""
    st.subheader(t("What twice the size costs"))
    found = doublings(config)
    text_table(doubling_frame(found), (t("size"),), key="models_doubling", label=t("What twice the size costs"))
    st.caption(doubling_sentence(found))


def memory_frame(config: ModelConfig, found: Memory) -> pd.DataFrame:
    """What is held, its rule with the numbers put in, and bytes."""
    c, size = config, found.number
    count = f"{found.weights // size:,}"
    pair = tn(
        "2 (key, value) · {count} block · {width}",
        "2 (key, value) · {count} blocks · {width}",
        count=c.layers,
        width=f"{c.width:,}",
    )
    rows = [
        (t("Weights"), f"{count} · {size}", found.weights),
        (t("Gradients, while training"), f"{count} · {size}", found.gradients),
        (t("Adam's two moments"), f"2 · {count} · {size}", found.moments),
        (t("Weights, gradients and moments"), t("4 numbers per parameter"), found.training),
        (t("KV cache of one token"), f"{pair} · {size}", found.cache_token),
        (t("KV cache of a full context"), f"{c.context_length:,} · {found.cache_token:,}", found.cache_context),
        (t("Logits of a full context"), f"{c.context_length:,} · {c.vocab_size:,} · {size}", found.logits_context),
        (t("Every stage of a full context"), t("all rows and scores of a trace"), trace_bytes(c, c.context_length)),
    ]
    table = [(what, readable_bytes(count), f"{count:,}", rule) for what, rule, count in rows]
    return pd.DataFrame(table, columns=[t("what"), t("about"), t("bytes"), t("rule")])


def doubling_frame(found: list[Doubled]) -> pd.DataFrame:
    """Parameters, full cache and products of each doubling, and how many times those of the current model."""
    base = found[0]
    titles = {
        "as_it_is": t("unchanged"),
        "layers": tn("{count} block", "{count} blocks", count=2 * base.config.layers),
        "width": t("width {width}", width=f"{2 * base.config.width:,}"),
        "context_length": t("context {context}", context=f"{2 * base.config.context_length:,}"),
        "vocab_size": t("vocabulary {size}", size=f"{2 * base.config.vocab_size:,}"),
    }
    rows = [
        (
            titles[each.name],
            _times(each.parameters, base.parameters),
            readable_bytes(each.cache_context),
            _times(each.products, base.products),
        )
        for each in found
    ]
    return pd.DataFrame(rows, columns=[t("size"), t("parameters"), t("KV cache"), t("products")])


def doubling_sentence(found: list[Doubled]) -> str:
    """Depth against width, in times."""
    by_name = {each.name: each.parameters / found[0].parameters for each in found}
    return t(
        "Twice the blocks: {depth:.2f} times the parameters; twice the width, FFN included: {width:.2f} times, as a "
        "matrix grows with both of its sides. More or fewer heads change no count. Products are those of the last "
        "token of a full context, with the others in the cache.",
        depth=by_name["layers"],
        width=by_name["width"],
    )


def _times(count: int, base: int) -> str:
    return f"{count:,}" if count == base else f"{count:,} (× {count / base:.2f})"


def draw_untrained(config: ModelConfig) -> None:
    """Measured, ln V, and why they differ; a large model on request."""
    st.subheader(t("Before training"))
    try:
        check_model(config)
        check_trace(config, positions_read(config))
    except ValueError as error:
        messages.problem(error)
        return
    count = parameter_count(config)
    if count > AT_ONCE and st.session_state.get(WANTED) != config:
        _offer(config, count)
        return
    lock = _one_at_a_time()
    if not lock.acquire(timeout=0 if count > AT_ONCE else 10):
        st.session_state.pop(WANTED, None)
        messages.notice(t("Another reader's model is being measured; try again in a moment."))
        _offer(config, count)
        return
    try:
        with st.spinner(t("Creating the model …")):
            found = _measured(config)
    finally:
        lock.release()
    _result(found)


def untrained_sentence(found: UntrainedLoss) -> str:
    """Why an untrained model loses about ln V."""
    return t(
        "Measured at {positions} positions of random ids, averaged over all ids that could follow. With equal logits "
        "the loss is exactly ln V. These differ a little, with a variance of {spread:.4f}; half of it, {half:.4f}, is "
        "about the difference between the two numbers.",
        positions=found.positions,
        spread=found.spread,
        half=found.spread / 2,
    )


def _result(found: UntrainedLoss) -> None:
    loss, uniform, gap = st.columns(3)
    loss.metric(t("Untrained loss"), f"{found.loss:.4f}", help=t("In nats per position."))
    uniform.metric(t("ln V"), f"{found.uniform:.4f}")
    gap.metric(t("Difference"), f"{found.loss - found.uniform:+.4f}".replace("-", "−"))
    st.caption(untrained_sentence(found))
    if abs(found.loss - found.uniform) > 0.5:
        messages.notice(
            t("That is far from ln V: the first weights are large for this shape, so it starts confident and wrong.")
        )


def _offer(config: ModelConfig, count: int) -> None:
    size = readable_bytes(memory(config).weights)
    st.caption(
        t(
            "This creates {count} random weights, {size} for a moment, to measure them.",
            count=f"{count:,}",
            size=size,
        )
    )
    st.button(t("Measure the untrained loss"), key="models_measure", on_click=_want, args=(config,))


def _want(config: ModelConfig) -> None:
    st.session_state[WANTED] = config


@st.cache_data(show_spinner=False, max_entries=100)
def _measured(config: ModelConfig) -> UntrainedLoss:
    return untrained_loss(config)


@st.cache_resource(show_spinner=False)
def _one_at_a_time() -> threading.Lock:
    """Several large models at once would not fit into memory."""
    return threading.Lock()
