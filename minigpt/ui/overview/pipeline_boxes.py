"""The stations of the overview: from text to loss, each with its shape, its real numbers and one sentence."""

from math import log

from minigpt.figures.numbers import percent
from minigpt.inspection.attention_stats import read_query
from minigpt.inspection.record import logit_summary
from minigpt.inspection.stages import BLOCK_INPUT
from minigpt.model.trace import Stage
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View
from minigpt.ui.components.pipeline import Box

SHOWN = 64  # numbers of one strip


def boxes(view: View) -> list[Box]:
    """One box a station, in the order of computation, for the chosen position, block and head."""
    return [_tokens(view), _vectors(view), _attention(view), _ffn(view), _logits(view), _loss(view)]


def shape(stage: Stage) -> str:
    """`[1, 64, 16]`"""
    return f"[{', '.join(map(str, stage.shape))}]"


def _tokens(view: View) -> Box:
    sentence = t(
        "{characters} characters become {pieces} pieces between BOS and EOS",
        characters=len(view.space.text),
        pieces=view.length - 1,
    )
    if view.slots < view.context:
        sentence += t("; of the context of {context:,} only these slots are computed", context=view.context)
    note = t("{length} of {slots} slots", length=view.length, slots=view.slots)
    return Box("tokens", t("Tokens"), f"[1, {view.slots}]", sentence, role="residual", note=note)


def _vectors(view: View) -> Box:
    stage = view.trace.blocks[0].block_input
    sentence = t(
        "row {id} of the token table plus row {position} of the position table",
        id=view.ids[view.position],
        position=view.position,
    )
    return Box(BLOCK_INPUT.kind, t("Vectors"), shape(stage), sentence, _values(view, stage), role="residual")


def _attention(view: View) -> Box:
    stage = view.trace.blocks[view.block].weights
    weights = stage.at(view.position)[view.head, : view.length]
    most = read_query(weights, view.batch.ids[0, : view.length], view.position)
    sentence = t(
        "head {head} gives {share} of its weight to {piece} at position {key}",
        head=view.head,
        share=f"{most.share:.0%}" if most.share > 0.1 else percent(most.share),
        piece=view.labels[most.key],
        key=most.key,
    )
    strip = weights[: view.position + 1][-SHOWN:].tolist()
    title = _in_block(view, t("Attention"))
    return Box("attention", title, shape(stage), sentence, strip, palette="attention", role="query")


def _ffn(view: View) -> Box:
    stage = view.trace.blocks[view.block].ffn_activation
    values = stage.at(view.position)
    if view.model.config.activation == "relu":
        sentence = t("ReLU keeps {kept} of {all} numbers", kept=int((values > 0).sum()), all=len(values))
    else:
        sentence = t("GELU leaves {kept} of {all} numbers above 0", kept=int((values > 0).sum()), all=len(values))
    title = _in_block(view, t("Feed-forward"))
    return Box(stage.name, title, shape(stage), sentence, _values(view, stage), role="value")


def _logits(view: View) -> Box:
    stage = view.trace.logits
    logits = stage.at(view.position)
    highest = logits.double().softmax(-1).topk(min(16, len(logits)))
    best = highest.values[0].item()
    sentence = t(
        "it expects {piece} next, with {share}",
        piece=view.label(int(logits.argmax())),
        share=f"{best:.1%}" if 0.1 < best < 0.99 else percent(best),
    )
    note = t("{most} highest of {all}", most=min(16, len(logits)), all=f"{len(logits):,}")
    strip = highest.values.tolist()
    return Box("logits", t("Logits"), shape(stage), sentence, strip, "probability", role="prediction", note=note)


def _loss(view: View) -> Box:
    target = view.targets[view.position]
    probability = logit_summary(view.trace.logits.at(view.position), target)["probability"]
    sentence = t(
        "the next piece is {piece}: −ln {probability:.4g} = {loss:.4g} nats",
        piece=view.label(target),
        probability=probability,
        loss=view.losses[view.position],
    )
    note = t("mean {loss:.4f}, all equal {uniform:.4f}", loss=view.loss, uniform=log(view.model.config.vocab_size))
    first = max(0, min(view.position - SHOWN // 2, view.length - SHOWN))  # the part around the position
    strip = view.losses[first : first + SHOWN]
    return Box("loss", t("Loss"), "[]", sentence, strip, "probability", role="target", note=note)


def _values(view: View, stage: Stage) -> list[float]:
    return stage.at(view.position)[:SHOWN].tolist()


def _in_block(view: View, title: str) -> str:
    last = view.model.config.layers - 1
    return title if last == 0 else t("{title}, block {block} of 0–{last}", title=title, block=view.block, last=last)
