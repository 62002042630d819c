"""The panels below the replay on the tokens page: targets, slots, special ids, vocabulary."""

from collections import Counter

import pandas as pd
import streamlit as st

from minigpt.figures.theme import chart_config
from minigpt.figures.tokens import slots_figure
from minigpt.tokenizers.contract import Tokenizer
from minigpt.ui.components.chips import Chip, chips
from minigpt.ui.text import t
from minigpt.ui.tokens_reading import (
    byte_text,
    target_rows,
    typed_specials,
    vocabulary_rows,
)
from minigpt.ui.view import View


def targets(view: View) -> None:
    """Input and shifted target of each position, with its loss."""
    st.write(
        t(
            "Each position has to predict the piece after it: the targets are the same ids, shifted once. "
            "EOS is the last target and is scored; BOS is never a target."
        )
    )
    loss = st.column_config.NumberColumn(format="%.6f")
    st.dataframe(
        pd.DataFrame(target_rows(view)),
        key="target_table",
        hide_index=True,
        width="stretch",
        height=min(35 * (view.length + 1) + 3, 600),
        column_config={t("loss (nats)"): loss, t("here"): st.column_config.Column("", width=30)},
    )


def slots(view: View) -> None:
    """All slots of the context: what is real, what is padding, and what the mean divides by."""
    batch, unused = view.batch, view.slots - view.length
    st.write(_divisor(view, unused))
    pads = [(view.label(view.tokenizer.pad), "")] * unused
    figure = slots_figure(
        batch.ids[0].tolist(),
        batch.targets[0].tolist(),
        batch.valid[0].tolist(),
        list(zip(view.labels, view.target_labels, strict=True)) + pads,
        rows=(t("ids"), t("targets"), t("valid")),
        axis=t("slot"),
        unused=(
            t("{count} × {id} (PAD)", count=unused, id=view.tokenizer.pad),
            t("{count} × -100 (ignored)", count=unused),
            t("{count} × False", count=unused),
        ),
    )
    st.plotly_chart(figure, key="slots", config=chart_config("slots"), alt=t("The slots of the record"))
    st.caption(
        t(
            "Slate: ids the model reads. Amber: ids it has to predict, the same row one slot to the left. Hatched: "
            "padding, which no position reads and no loss counts.",
        )
    )
    total, wrong = sum(view.losses), sum(view.losses) / view.slots
    right, false = st.columns(2)
    right.metric(
        t("Sum of losses ÷ {scored} scored positions", scored=view.length), t("{loss:.9f} nats", loss=view.loss)
    )
    false.metric(
        t("Wrong: ÷ all {slots} slots", slots=view.slots),
        t("{loss:.9f} nats", loss=wrong),
        help=t("Padding would make the loss look smaller: the sum is {total:.9f} nats in both.", total=total),
    )


def _divisor(view: View, unused: int) -> str:
    if not unused:
        return t("{scored} scored positions and no padding: the record fills the context.", scored=view.length)
    sentence = "{scored} scored positions, {unused} padding slots; the mean divides by {scored}, not by {slots}."
    if unused == 1:
        sentence = "{scored} scored positions, {unused} padding slot; the mean divides by {scored}, not by {slots}."
    return t(sentence, scored=view.length, unused=unused, slots=view.slots)


def specials(view: View) -> None:
    """Typed look-alikes of special ids: they are bytes, the real ones are not."""
    st.write(
        t(
            "BOS, EOS and PAD are ids without bytes. Only the builder of records sets them: whatever is typed, even "
            "their names, is ordinary text."
        )
    )
    for number, (text, ids) in enumerate(typed_specials(view.tokenizer)):
        row = [Chip(t("typed {text}", text=text), kind="group"), *_plain(view, ids)]
        chips(row, key=f"typed{number}", label=t("Ids of a typed text"))
    real = [Chip(t("the real end of a record"), kind="group")]
    end = view.tokenizer.eos
    chips([*real, Chip(view.label(end), str(end), kind="special")], key="real_end", label=t("EOS"))


def vocabulary(view: View) -> None:
    """Every id there is, and the tokenizer in numbers."""
    tokenizer, size = view.tokenizer, len(view.space.text.encode())
    pieces = view.length - 1
    cells = st.columns(4)
    cells[0].metric(t("Vocabulary"), f"{tokenizer.vocab_size:,}", help=t("256 bytes, 3 special ids, the merges"))
    cells[1].metric(t("Merges"), f"{len(tokenizer.merges):,}")
    cells[2].metric(
        t("Bytes per token"),
        f"{size / pieces:.3f}",
        help=t("{bytes} bytes in {tokens} tokens, BOS and EOS not counted", bytes=size, tokens=pieces),
    )
    cells[3].metric(t("Ids in this record"), f"{len(set(view.ids + view.targets)):,}", help=t("BOS and EOS counted"))
    rows, used = _vocabulary(tokenizer.fingerprint, tokenizer), Counter(view.ids + view.targets[-1:])
    table = pd.DataFrame(rows, columns=[t("id"), t("piece"), t("bytes"), t("made by")])
    table[t("in this record")] = [used[id] for id in range(tokenizer.vocab_size)]
    st.dataframe(table, key="vocabulary", hide_index=True, width="stretch", height=460)
    st.caption(
        t(
            "Search with the magnifying glass on the table, sort by a click on a heading. Tokenizer fingerprint: "
            "{fingerprint}. Equal fingerprints mean equal ids; every checkpoint names the one it needs.",
            fingerprint=tokenizer.fingerprint,
        )
    )


@st.cache_resource(show_spinner=False, max_entries=8)
def _vocabulary(fingerprint: str, _tokenizer: Tokenizer) -> list[tuple[int, str, str, str]]:
    return vocabulary_rows(_tokenizer)  # a second for 50,000 ids, so once a tokenizer


def _plain(view: View, ids: list[int]) -> list[Chip]:
    label, tokenizer = view.tokenizer.piece_label, view.tokenizer
    return [Chip(label(id), str(id), hint=t("bytes {bytes}", bytes=byte_text(tokenizer, id))) for id in ids]
