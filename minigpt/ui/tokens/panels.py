"""Panels below the replay on the tokens page: targets, slots, special ids."""

import streamlit as st

from minigpt.figures.theme import chart_config
from minigpt.figures.tokens import slots_figure
from minigpt.model.loss import IGNORE
from minigpt.ui.base import workspace
from minigpt.ui.base.text import t, tn
from minigpt.ui.base.view import View
from minigpt.ui.components.chips import Chip, chips
from minigpt.ui.components.table import table
from minigpt.ui.tokens.token_facts import byte_text, target_columns, typed_specials

DRAWN = 64  # slots of a long context


def targets(view: View) -> None:
    """Input and shifted target of each position, with its loss."""
    shift = t("Each position has to predict the piece after it: the targets are the same ids, shifted once.")
    st.write(f"{shift} {_ends(view)}")
    table(
        target_columns(view),
        key="target_table",
        label=t("Inputs and targets"),
        selected=view.position,
        on_select=lambda position: workspace.choose(position=position),
        height=560,
    )


def _ends(view: View) -> str:
    if view.tokenizer.bos == view.tokenizer.eos:
        return t("The id that ends the record is the last target and is scored; it is the one that began it.")
    return t("EOS is the last target and is scored; BOS is never a target.")


def slots(view: View) -> None:
    """The slots of the context: what is real, what is padding, and what the mean divides by."""
    context, tokenizer = view.context, view.tokenizer
    unused, drawn = context - view.length, min(context, max(DRAWN, view.length + view.length // 3))
    more = drawn - view.length
    st.write(_divisor(view, unused))
    figure = slots_figure(
        view.ids + [tokenizer.pad] * more,
        view.targets + [IGNORE] * more,
        [True] * view.length + [False] * more,
        list(zip(view.labels, view.target_labels, strict=True)) + [(view.label(tokenizer.pad), "")] * more,
        rows=(t("ids"), t("targets"), t("valid")),
        axis=t("slot"),
        unused=(
            t("{count} × {pad} (PAD)", count=unused, pad=tokenizer.pad),
            t("{count} × -100 (ignored)", count=unused),
            t("{count} × False", count=unused),
        ),
    )
    st.plotly_chart(figure, key="slots", config=chart_config("slots"), alt=t("The slots of the record"))
    if drawn == context:
        caption = t(
            "Slate: ids the model reads. Amber: ids it has to predict, the same row one slot to the left. Hatched: "
            "padding, which no position reads and no loss counts."
        )
    else:
        caption = t(
            "Slate: ids the model reads. Amber: ids it has to predict, the same row one slot to the left. Hatched: "
            "padding, which no position reads and no loss counts. Slots {first} to {last} are not drawn: padding too.",
            first=drawn,
            last=context - 1,
        )
    st.caption(caption)
    total = sum(view.losses)
    right, false = st.columns(2)
    right.metric(
        tn("Sum of losses ÷ {count} scored position", "Sum of losses ÷ {count} scored positions", count=view.length),
        t("{loss:.9f} nats", loss=view.loss),
    )
    false.metric(
        t("Wrong: ÷ all {slots} slots", slots=context),
        t("{loss:.9f} nats", loss=total / context),
        help=t("Padding would make the loss look smaller: the sum is {total:.9f} nats in both.", total=total),
    )


def _divisor(view: View, unused: int) -> str:
    if not unused:
        return t("Scored positions: {scored}. There is no padding: the record fills the context.", scored=view.length)
    return t(
        "Scored positions: {scored}. Padding slots: {unused}. The mean divides by {scored}, not by {slots}.",
        scored=view.length,
        unused=unused,
        slots=view.context,
    )


def specials(view: View) -> None:
    """Typed look-alikes of special ids: they are bytes, the real ones are not."""
    if view.tokenizer.bos == view.tokenizer.eos:
        sentence = t(
            "One id without bytes, {special}, begins and ends every record and fills unused slots. Only the builder of "
            "records sets it: whatever is typed, even its name, is ordinary text.",
            special=view.tokenizer.eos,
        )
    else:
        sentence = t(
            "BOS, EOS and PAD are ids without bytes. Only the builder of records sets them: whatever is typed, even "
            "their names, is ordinary text."
        )
    st.write(sentence)
    for number, (text, ids) in enumerate(typed_specials(view.tokenizer)):
        row = [Chip(t("typed {text}", text=text), kind="group"), *_plain(view, ids)]
        chips(row, key=f"typed{number}", label=t("Ids of a typed text"))
    real = [Chip(t("the real end of a record"), kind="group")]
    end = view.tokenizer.eos
    chips([*real, Chip(view.label(end), str(end), kind="special")], key="real_end", label=t("EOS"))


def _plain(view: View, ids: list[int]) -> list[Chip]:
    label, tokenizer = view.tokenizer.piece_label, view.tokenizer
    return [Chip(label(token), str(token), hint=t("bytes {hex}", hex=byte_text(tokenizer, token))) for token in ids]
