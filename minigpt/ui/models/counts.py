"""How many parameters, where they are, and which of several right counts is meant."""

import pandas as pd
import streamlit as st

from minigpt.config import ModelConfig
from minigpt.figures.models import Area, treemap_figure
from minigpt.figures.numbers import percent
from minigpt.figures.theme import chart_config
from minigpt.model.layers import norm_parameters
from minigpt.model.parameters import COMPONENTS, component_counts, parameter_rows, shape_only
from minigpt.sentences import say
from minigpt.sizing.counting import BlockCount, Count, block_count, counts, one_more_id
from minigpt.ui.base.text import t, translate
from minigpt.ui.models.cost import text_table

PICTURE, TABLE = 660, 520  # px; where both have no room the table is below
BLOCKS_APART = 4  # of more, which are all alike, a treemap shows them together
TITLES = {
    "token_table": say("Token table"),
    "position_table": say("Position table"),
    "attention": say("Attention"),
    "ffn": say("Feed-forward"),
    "norms": say("Norms"),
    "lm_head": say("LM head"),
}
PUBLISHED = {
    124_439_808: say("GPT-2 Small as released"),
    124_438_272: say("the third text's figure"),
    124_402_944: say("the third text's code"),
    1_614_720: say("the fourth text's figure"),
    13_875: say("the first text's figure"),
}


@st.cache_data(show_spinner=False, max_entries=200)
def measured(config: ModelConfig) -> tuple[dict[str, int], list[Count], BlockCount, int]:
    """Components, conventions, one block, and one more id, out of models without numbers."""
    return component_counts(shape_only(config)), counts(config), block_count(config), one_more_id(config)


def draw(config: ModelConfig) -> None:
    """The treemap beside the table of components."""
    found, _, block, _ = measured(config)
    beside = st.container(horizontal=True, gap="large", key="models_parts")
    picture, table = beside.container(width=PICTURE), beside.container(width=TABLE)
    with picture:
        figure = treemap_figure(areas(config, found, block), dark=st.context.theme.type == "dark")
        st.plotly_chart(
            figure, key="models_treemap", config=chart_config("parameters", "svg"), alt=sentence(config, found)
        )
        st.caption(t("Each area is as large as its part. Click one to look inside, its heading to go back."))
    with table:
        st.markdown(sentence(config, found))
        words = (t("part"), t("rule"))
        text_table(component_frame(config, found), words, key="models_components", label=t("Parameters by part"))
        with st.expander(t("Every tensor"), key="models_tensors", on_change="rerun") as tensors:
            if tensors.open:
                st.dataframe(tensor_frame(config), hide_index=True, width="stretch", key="models_rows")


def draw_conventions(config: ModelConfig) -> None:
    """The counts that differ, each with its reason."""
    _, found, block, more = measured(config)
    st.subheader(t("Which count is meant?"))
    frame = convention_frame(config, found)
    words = (t("what is counted"), t("known as"))
    text_table(frame, words, key="models_conventions", label=t("Counts by convention"))
    st.caption(
        t(
            "This page counts each stored tensor once. One block holds {total} numbers: {plain} in matrices and "
            "norms, {attention} in attention biases, {ffn} in FFN biases. One more vocabulary entry adds {more}.",
            total=f"{block.total:,}",
            plain=f"{block.matrices_and_norms:,}",
            attention=f"{block.attention_biases:,}",
            ffn=f"{block.ffn_biases:,}",
            more=f"{more:,}",
        )
    )
    if block.total == 7_087_872:
        st.caption(
            t(
                "The third text's table gives a block without any bias, 7,080,960; its total is made of blocks with "
                "all of them, 7,087,872, and leaves the last LayerNorm out."
            )
        )


def sentence(config: ModelConfig, found: dict[str, int]) -> str:
    """Where most of the numbers are (Markdown)."""
    total = found["total"]
    largest = max(COMPONENTS, key=lambda name: found[name])
    tables = found["token_table"] + found["position_table"]
    where = t(
        "**{total} parameters.** {largest}: {share}. The two tables: {tables}.",
        total=f"{total:,}",
        largest=_title(largest),
        share=percent(found[largest] / total),
        tables=percent(tables / total),
    )
    tied = t("The LM head is the token table, counted once.")
    return " ".join([where, tied] if config.tied_head else [where])


def component_frame(config: ModelConfig, found: dict[str, int]) -> pd.DataFrame:
    """One row per component with its rule, its count and share; and the sum."""
    rules, total = _rules(config), found["total"]
    rows = [
        (translate(TITLES[name]), rules[name], f"{found[name]:,}", percent(found[name] / total)) for name in COMPONENTS
    ]
    rows.append((t("Total"), "", f"{total:,}", "100 %"))
    return pd.DataFrame(rows, columns=[t("part"), t("rule"), t("numbers"), t("share")])


def _rules(config: ModelConfig) -> dict[str, str]:
    c, bias = config, " + 4·C" if config.attention_bias else ""
    own = "V·C + V" if c.head_bias else "V·C"
    tied = t("the token table + V") if c.head_bias else t("the token table")
    return {
        "token_table": f"V·C = {c.vocab_size:,}·{c.width:,}",
        "position_table": f"T·C = {c.context_length:,}·{c.width:,}",
        "attention": f"L·(4·C²{bias})",
        "ffn": "L·(2·C·F + F + C)",
        "norms": f"(2·L + 1)·{norm_parameters(config) // config.width}·C",
        "lm_head": tied if c.tied_head else own,
    }


def convention_frame(config: ModelConfig, found: list[Count]) -> pd.DataFrame:
    """Every convention: number, difference, what it counts, and who published it."""
    words = {
        "stored": t("every stored tensor, each once"),
        "no_final_norm": t("without the last norm"),
        "attention_bias": t("without biases on Q, K, V, O"),
        "head": t("with a separate LM matrix"),
        "no_positions": t("without the position table"),
        "no_tables": t("without tables and LM matrix"),
    }
    if not config.attention_bias:
        words["attention_bias"] = t("with biases on Q, K, V, O")
    if not config.tied_head:
        words["head"] = t("with the head tied to the token table")
    rows = [
        (f"{each.count:,}", words[each.name], _signed(each.difference), translate(PUBLISHED.get(each.count, "")))
        for each in found
    ]
    return pd.DataFrame(rows, columns=[t("count"), t("what is counted"), t("difference"), t("known as")])


def tensor_frame(config: ModelConfig) -> pd.DataFrame:
    """Every stored tensor with its shape."""
    rows = [(row.name, str(list(row.shape)), f"{row.count:,}") for row in parameter_rows(shape_only(config))]
    return pd.DataFrame(rows, columns=[t("tensor"), t("shape"), t("numbers")])


def areas(config: ModelConfig, found: dict[str, int], block: BlockCount) -> list[Area]:
    """The model as areas: tables, each block with its parts (many blocks together), last norm, LM head."""
    whole = [Area("model", t("Model"), found["total"], "")]
    note = t("also the LM head, which is tied") if config.tied_head else ""
    whole.append(Area("token_table", _title("token_table"), found["token_table"], "model", "token_table", note))
    whole.append(Area("position_table", _title("position_table"), found["position_table"], "model", "position_table"))
    if config.layers <= BLOCKS_APART:
        for number in range(config.layers):
            whole += _block_areas(f"block {number}", t("Block {number}", number=number), block.total, config, found, 1)
    else:
        title = t("{layers} blocks of {numbers} each", layers=config.layers, numbers=f"{block.total:,}")
        whole += _block_areas("blocks", title, config.layers * block.total, config, found, config.layers)
    norm = norm_parameters(config)
    whole.append(Area("final_norm", t("Last norm"), norm, "model", "norms"))
    if found["lm_head"]:
        whole.append(Area("lm_head", _title("lm_head"), found["lm_head"], "model", "lm_head"))
    return whole


def _block_areas(
    name: str, title: str, total: int, config: ModelConfig, found: dict[str, int], blocks: int
) -> list[Area]:
    parts = {"attention": found["attention"], "ffn": found["ffn"], "norms": found["norms"] - norm_parameters(config)}
    shares = {part: count * blocks // config.layers for part, count in parts.items()}
    inner = [Area(f"{name} {part}", _title(part), count, name, part) for part, count in shares.items()]
    return [Area(name, title, total, "model"), *inner]


def _signed(difference: int) -> str:
    return "0" if not difference else f"{difference:+,}".replace("-", "−")


def _title(component: str) -> str:
    return translate(TITLES[component])
