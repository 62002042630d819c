"""What the model takes in memory, and what twice the size costs."""

import pandas as pd
import streamlit as st

from minigpt.config import ModelConfig
from minigpt.inspection.stages import trace_bytes
from minigpt.sizing.memory import Memory, memory, readable_bytes
from minigpt.sizing.scaling import Doubled, doublings
from minigpt.ui.base.text import t
from minigpt.ui.models import table as models_table


def draw(config: ModelConfig) -> None:
    """Bytes by purpose, each with its rule."""
    st.subheader(t("Memory"))
    words = (t("what"), t("rule"))
    models_table.draw(memory_frame(config, memory(config)), words, key="models_memory", label=t("Memory"))
    st.caption(
        t(
            "Exact for the numbers named. What torch keeps between forward and backward is not: it depends on its "
            "kernels, and comes on top when training."
        )
    )


def doubling(config: ModelConfig) -> None:
    """Each size doubled alone."""
    st.subheader(t("What twice the size costs"))
    found = doublings(config)
    models_table.draw(doubling_frame(found), (t("size"),), key="models_doubling", label=t("What twice the size costs"))
    st.caption(doubling_sentence(found))


def memory_frame(config: ModelConfig, found: Memory) -> pd.DataFrame:
    """What is held, its rule with the numbers put in, and bytes."""
    c, size = config, found.number
    count = f"{found.weights // size:,}"
    pair = t("2 (key, value) · {layers} blocks · {width}", layers=c.layers, width=f"{c.width:,}")
    rows = [
        (t("Weights"), f"{count} · {size}", found.weights),
        (t("Gradients, while training"), f"{count} · {size}", found.gradients),
        (t("Adam's two moments"), f"2 · {count} · {size}", found.moments),
        (t("Weights, gradients and moments"), t("4 numbers a parameter"), found.training),
        (t("KV cache of one token"), f"{pair} · {size}", found.cache_token),
        (t("KV cache of a full context"), f"{c.context_length:,} · {found.cache_token:,}", found.cache_context),
        (t("Logits of a full context"), f"{c.context_length:,} · {c.vocab_size:,} · {size}", found.logits_context),
        (t("Every stage of a full context"), t("all rows and scores of a trace"), trace_bytes(c, c.context_length)),
    ]
    table = [(what, readable_bytes(count), f"{count:,}", rule) for what, rule, count in rows]
    return pd.DataFrame(table, columns=[t("what"), t("about"), t("bytes"), t("rule")])


def doubling_frame(found: list[Doubled]) -> pd.DataFrame:
    """Parameters, full cache and products of each doubling, and how many times those of the model at hand."""
    base = found[0]
    titles = {
        "as_it_is": t("as it is"),
        "layers": t("{layers} blocks", layers=2 * base.config.layers),
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
