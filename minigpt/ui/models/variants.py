"""What newer models change: where in this block, and how the numbers of the current model would change."""

import pandas as pd
import streamlit as st

from minigpt.config import NORM_TITLES, ModelConfig
from minigpt.figures.numbers import percent
from minigpt.model.parameters import parameter_count
from minigpt.sizing.memory import memory, readable_bytes
from minigpt.sizing.variants import VARIANTS, Variant, divisors, gated_width, variants
from minigpt.ui.base.text import t, tn, translate
from minigpt.ui.components.anatomy import Mark, Part, anatomy
from minigpt.ui.models.cost import text_table

CHOICE = "models_variant"
DRAWING, WORDS = 480, 700  # px; where both have no room the words are below
PLACES = {
    "rope": ("positions", "attention"),
    "rmsnorm": ("norm1", "norm2", "final"),
    "swiglu": ("ffn",),
    "gqa": ("attention",),
    "experts": ("ffn",),
}
EXPERTS = (2, 4, 8, 16, 32, 64, 128)


def draw(config: ModelConfig) -> None:
    """The drawing with its five marks; beside it the chosen change in words and numbers, and all five in a table."""
    st.subheader(t("What newer models change"))
    st.caption(t("Five changes, each alone, calculated for the model above. Click a number to see its place."))
    beside = st.container(horizontal=True, gap="large", key="models_newer")
    drawing, words = beside.container(width=DRAWING), beside.container(width=WORDS)
    with words:
        chosen = st.segmented_control(
            t("Change"), VARIANTS, key=CHOICE, persist_state="session", format_func=title, label_visibility="collapsed"
        )
        groups, experts, used = _settings(config, chosen)
        found = {each.name: each for each in variants(config, groups, experts, used)}
        st.markdown(sentence(config, chosen, groups, experts, used))
        _numbers(config, found.get(chosen or ""))
        table = frame(list(found.values()))
        text_table(table, (t("change"),), key="models_variants", label=t("What newer models change"))
        st.caption(
            t(
                "RMSNorm can be chosen above, under Norm, and trained. The other four are calculated here, not built; "
                "their counts follow from the papers' shapes: RoPE 2021, SwiGLU 2020, grouped-query attention 2023, "
                "experts as in Mixtral 2024."
            )
        )
    with drawing:
        anatomy(
            parts(config, chosen, groups, experts, used),
            [Mark(name, at, title(name), PLACES[name]) for at, name in enumerate(VARIANTS, start=1)],
            key="models_anatomy",
            label=t("The model from ids to logits, with the places of five changes"),
            frame=tn("block, {count} time", "block, {count} times", count=config.layers),
            ends=(t("ids"), t("logits")),
            heads=(config.heads, groups if chosen == "gqa" else config.heads),
            residual=config.residual,
            selected=chosen or "",
            on_choose=_choose,
        )


def title(name: str) -> str:
    """How a change is called, after its number in the drawing."""
    titles = {
        "rope": t("1 RoPE"),
        "rmsnorm": t("2 RMSNorm"),
        "swiglu": t("3 SwiGLU"),
        "gqa": t("4 Grouped queries"),
        "experts": t("5 Experts"),
    }
    return titles[name]


def sentence(config: ModelConfig, name: str | None, groups: int, experts: int, used: int) -> str:
    """What the change is and does to this config."""
    offsets, norms = f"{(2 * config.layers + 1) * config.width:,}", 2 * config.layers + 1
    if name == "rope":
        return t(
            "**Rotary positions.** There is no position table. Queries and keys are rotated by an angle that grows "
            "with their position, so that a score depends on how far apart the two are. The table's {table} numbers "
            "are gone.",
            table=f"{config.context_length * config.width:,}",
        )
    if name == "rmsnorm" and config.norm == "rms":
        return t("**RMSNorm.** This model already has it: there is nothing to change.")
    if name == "rmsnorm":
        return t(
            "**RMSNorm.** Each vector is divided by the root of its mean square and multiplied by a learned scale. No "
            "mean is subtracted and no offset added: {offsets} numbers fewer in {norms} norms.",
            offsets=offsets,
            norms=norms,
        )
    if name == "swiglu":
        return t(
            "**SwiGLU.** Two matrices read the vector; the SiLU of one product gates the other, number by number, and "
            "a third matrix leads back. With {gated} hidden numbers instead of {hidden} the three cost what two did; "
            "the biases are gone.",
            gated=f"{gated_width(config):,}",
            hidden=f"{config.ffn_width:,}",
        )
    if name == "gqa":
        return _gqa_sentence(groups, config.heads)
    if name == "experts":
        return t(
            "**Mixture of experts.** {experts} FFNs instead of one, and a router of C × {experts} numbers that sends "
            "each token to {used} of them. All are stored; a token uses only those.",
            experts=experts,
            used=used,
        )
    return t(
        "The model as it is: learned positions, two matrices in each FFN, a key and a value for every head. Choose a "
        "change."
    )


def _gqa_sentence(groups: int, heads: int) -> str:
    if groups == heads:
        return t(
            "**Grouped-query attention.** With as many groups as heads, {heads}, nothing changes: each head has its "
            "own key and value.",
            heads=heads,
        )
    share = percent(groups / heads)
    if groups == 1:
        return t(
            "**Multi-query attention**, the extreme of grouped-query attention: all {heads} query heads share one key "
            "and one value. K and V have fewer columns, and the cache holds {share} of what it did.",
            heads=heads,
            share=share,
        )
    return t(
        "**Grouped-query attention.** {each} query heads share one key and one value: {groups} pairs instead of "
        "{heads}. K and V have fewer columns, and the cache holds {share} of what it did. One group alone is "
        "multi-query attention.",
        each=heads // groups,
        groups=groups,
        heads=heads,
        share=share,
    )


def parts(config: ModelConfig, name: str | None, groups: int, experts: int, used: int) -> dict[str, Part]:
    """The boxes of the drawing, as they are or as the change would make them."""
    c = config
    norm = Part(translate(NORM_TITLES[config.norm]))
    found = {
        "tokens": Part(t("Token table"), f"{c.vocab_size:,} × {c.width:,}"),
        "positions": Part(t("Position table"), f"{c.context_length:,} × {c.width:,}"),
        "norm1": norm,
        "attention": Part(
            t("Attention"), tn("{count} head of {width}", "{count} heads of {width}", count=c.heads, width=c.head_width)
        ),
        "norm2": norm,
        "ffn": Part(t("Feed-forward"), f"{c.width:,} → {c.ffn_width:,} → {c.width:,}"),
        "final": norm,
        "head": Part(t("LM head"), f"{c.width:,} × {c.vocab_size:,}"),
    }
    if c.tied_head:
        found["head"] = Part(t("LM head"), t("the token table, transposed"))
    gated = f"{c.width:,} → 2 × {gated_width(c):,} → {c.width:,}"
    copies = tn("{count} feed-forward", "{count} feed-forwards", count=experts)
    routed = t("{used} for each token", used=used)
    rms = Part(translate(NORM_TITLES["rms"]), changed=config.norm != "rms")
    pairs = tn(
        "{heads} queries, {count} key and value",
        "{heads} queries, {count} keys and values",
        count=groups,
        heads=c.heads,
    )
    changes: dict[str, dict[str, Part]] = {
        "rope": {
            "positions": Part(t("Position table"), t("not needed"), gone=True),
            "attention": Part(t("Attention"), t("Q and K turned by position"), changed=True),
        },
        "rmsnorm": {"norm1": rms, "norm2": rms, "final": rms},
        "swiglu": {"ffn": Part(t("Gated feed-forward"), gated, changed=True)},
        "gqa": {"attention": Part(t("Attention"), pairs, changed=True)},
        "experts": {"ffn": Part(copies, routed, changed=True, copies=experts)},
    }
    return found | changes.get(name or "", {})


def frame(found: list[Variant]) -> pd.DataFrame:
    """All changes side by side."""
    rows = [
        (
            title(each.name),
            f"{each.parameters:,}",
            f"{each.difference:+,}".replace("-", "−"),
            f"{each.active:,}",
            f"{each.cache_token:,}",
        )
        for each in found
    ]
    names = (t("change"), t("parameters"), t("difference"), t("used by a token"), t("cache bytes per token"))
    return pd.DataFrame(rows, columns=list(names))


def _settings(config: ModelConfig, chosen: str | None) -> tuple[int, int, int]:
    """Groups, experts and experts per token: the widgets of the chosen change, kept while another is shown."""
    options = divisors(config.heads)
    groups = st.session_state.get("models_groups")
    groups = groups if groups in options else 2 if 2 in options[:-1] else 1  # 1 is multi-query, all of them no change
    experts, used = st.session_state.get("models_experts", 8), st.session_state.get("models_used", 2)
    if chosen == "gqa":
        st.session_state["models_groups"] = groups
        label = t("Keys and values shared by the {heads} heads", heads=config.heads)
        if len(options) > 1:
            groups = st.select_slider(label, options, key="models_groups", persist_state="session")
    if chosen == "experts":
        left, right = st.columns(2)
        with left:
            st.session_state["models_experts"] = experts
            experts = st.select_slider(t("Experts"), EXPERTS, key="models_experts", persist_state="session")
        with right:
            st.session_state["models_used"] = min(used, experts)
            options = [count for count in (1, 2, 4, 8) if count <= experts]
            used = st.select_slider(t("For each token"), options, key="models_used", persist_state="session")
    return groups, experts, min(used, experts)


def _numbers(config: ModelConfig, change: Variant | None) -> None:
    """Parameters and cache before and after, when a change is chosen."""
    if change is None:
        return
    before = parameter_count(config)
    parameters, active, cache = st.columns(3)
    relative = f"{100 * change.difference / before:+.2f} %"  # with an ASCII minus, which turns the arrow
    parameters.metric(t("Parameters"), f"{change.parameters:,}", relative, delta_color="off")
    active.metric(t("Used by a token"), f"{change.active:,}")
    base = memory(config).cache_token
    delta = f"{100 * (change.cache_token / base - 1):+.1f} %"
    context = readable_bytes(change.cache_token * config.context_length)
    cache.metric(t("Full KV cache"), context, delta if change.cache_token != base else None, delta_color="off")


def _choose(name: str) -> None:
    """Callback of the drawing."""
    st.session_state[CHOICE] = name or None
