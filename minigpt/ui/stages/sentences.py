"""Stages in words: titles, dimension letters, and one sentence made from the numbers of a position."""

import math
from collections.abc import Callable

import numpy as np

from minigpt.inspection.attention_stats import read_query
from minigpt.inspection.derivation import short
from minigpt.inspection.recompute import Recomputed, stage_kind
from minigpt.model.trace import BlockTrace, Stage, Trace
from minigpt.ui.base.text import t
from minigpt.ui.base.view import View

TITLES = {
    "token_embedding": "the vector of the piece",
    "position_embedding": "the vector of the position",
    "block_input": "what enters the block",
    "norm1": "LayerNorm before attention",
    "q_projection": "queries of all heads",
    "k_projection": "keys of all heads",
    "v_projection": "values of all heads",
    "q_heads": "the query, cut into heads",
    "k_heads": "the key, cut into heads",
    "v_heads": "the value, cut into heads",
    "scores": "query times key, before the mask",
    "visible": "which keys may be read",
    "weights": "attention weights",
    "mixtures": "values, mixed by the weights",
    "joined": "the heads side by side",
    "attention_output": "what attention adds",
    "residual1": "the vector after attention",
    "norm2": "LayerNorm before the FFN",
    "ffn_linear": "first layer of the FFN",
    "ffn_activation": "the FFN's activation",
    "ffn_output": "what the FFN adds",
    "block_output": "what leaves the block",
    "final_norm": "the last LayerNorm",
    "logits": "one score for each piece of the vocabulary",
}
TITLES_ALONE = {  # without residual connections
    "attention_output": "what attention makes of it",
    "ffn_output": "what the FFN makes of it",
}
DIMENSIONS = {"position_embedding": "T, C", "scores": "B, H, T, T", "weights": "B, H, T, T", "visible": "B, 1, T, T"}
DIMENSIONS |= dict.fromkeys(("q_heads", "k_heads", "v_heads", "mixtures"), "B, H, T, D")
DIMENSIONS |= {"ffn_linear": "B, T, F", "ffn_activation": "B, T, F", "logits": "B, T, V"}


def stage_title(trace: Trace, stage: Stage) -> str:
    """What a stage is, in a few words."""
    kind = stage_kind(trace, stage)
    return t(TITLES[kind] if trace.config.residual else TITLES_ALONE.get(kind, TITLES[kind]))


def part_titles(view: View) -> dict[str, str]:
    """Headings of the stage rail."""
    last = len(view.trace.blocks) - 1
    block = t("Block {block} of 0–{last}", block=view.block, last=last) if last else t("Block")
    return {
        "before": t("Embeddings"),
        "block": block,
        "attention": t("Attention"),
        "ffn": t("Feed-forward"),
        "after": t("Output"),
    }


def shape_words(trace: Trace, stage: Stage) -> str:
    """The shape with its letters: `[1, 64, 16] = B, T, C`."""
    return f"[{', '.join(map(str, stage.shape))}] = {DIMENSIONS.get(stage_kind(trace, stage), 'B, T, C')}"


def check_words(result: Recomputed) -> str:
    """From what NumPy recomputed a stage, and how near it came."""
    sources = [stage.name for stage in result.inputs] + list(result.weights)
    return t(
        "Recomputed by NumPy from {sources}: greatest difference {difference}, allowed {tolerance}.",
        sources=", ".join(sources) or t("positions and valid slots"),
        difference=f"{result.difference:.2g}".replace("-", "−"),
        tolerance=f"{result.tolerance:.2g}".replace("-", "−"),
    )


def hidden_words(reason: str, query: int, key: int) -> str:
    """Why a key is not read; "" when it is."""
    sentences = {
        "later": "Key {key} comes later than query {query}: it is masked and gets weight 0, whatever its score.",
        "padding_key": "Key {key} is padding: it is masked and gets weight 0, whatever its score.",
        "padding_query": "Position {query} is padding: it reads nothing.",
        "": "",
    }
    return t(sentences[reason], key=key, query=query)


def sentence(view: View, stage: Stage) -> str:
    """What the stage does at the view's position, in one sentence made from its numbers."""
    numbers = stage.at(view.position).numpy().astype(np.float64)
    block = None if stage.block is None else view.trace.blocks[stage.block]
    return _SENTENCES[stage_kind(view.trace, stage)](view, numbers, block, stage)


def _at(view: View, stage: Stage) -> np.ndarray:
    return stage.at(view.position).numpy().astype(np.float64)


def _token(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    id = view.ids[view.position]
    again = view.ids.count(id)
    text = "Row {id} of the token table, for {piece}: these {size} numbers, wherever it stands; {times} in this record."
    times = t("once") if again == 1 else t("{count} times", count=again)
    return t(text, id=id, piece=view.labels[view.position], size=len(numbers), times=times)


def _place(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    text = "Row {position} of the position table: any piece at this position gets these {size} numbers."
    return t(text, position=view.position, size=len(numbers))


def _block_input(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    if stage.block:
        return t("The {size} numbers that left block {block}, unchanged.", size=len(numbers), block=stage.block - 1)
    return t(
        "Piece and position, added: vectors of length {piece:.4g} and {place:.4g} make one of {sum:.4g}.",
        piece=_length(_at(view, view.trace.token_embedding)),
        place=_length(_at(view, view.trace.position_embedding)),
        sum=_length(numbers),
    )


def _norm(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    before = view.trace.blocks[-1].block_output
    if block is not None:
        before = block.block_input if stage.name == "norm1" else block.residual1
    row = _at(view, before)
    root = math.sqrt(row.var() + view.trace.config.norm_epsilon)
    if root <= 1:
        text = "The norm takes off the mean {mean} and stretches this vector by {factor:.4g}."
        return t(text, mean=short(row.mean()), factor=1 / root)
    text = "The norm takes off the mean {mean} and shrinks this vector by {factor:.4g}."
    return t(text, mean=short(row.mean()), factor=root)


def _projection(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    text = "Each of the {size} numbers is a weighted sum of all {inputs}; the largest is number {most}, {value}."
    most = int(np.abs(numbers).argmax())
    return t(text, size=len(numbers), inputs=view.trace.config.width, most=most, value=short(numbers[most]))


def _heads(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    heads, width = numbers.shape
    text = "{heads} heads get {width} numbers each: head {head} numbers {first} to {last}; nothing is computed."
    first = view.head * width
    return t(text, heads=heads, width=width, head=view.head, first=first, last=first + width - 1)


def _scores(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    seen, later = numbers[view.head, : view.position + 1], view.length - view.position - 1
    most, least = int(seen.argmax()), int(seen.argmin())
    text = "Head {head}: of the {keys} keys it may read, key {key} ({piece}) fits the query best, {high}, and key "
    text += "{low_key} ({low_piece}) least, {low}."
    if len(seen) == 1:
        text = "Position 0 can only read itself: head {head} scores {high}."
    words = t(
        text,
        head=view.head,
        keys=len(seen),
        key=most,
        piece=view.labels[most],
        high=short(seen[most]),
        low_key=least,
        low_piece=view.labels[least],
        low=short(seen[least]),
    )
    return f"{words} {t('Later keys have scores too; the mask comes with the weights.')}" if later else words


def _visible(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    return t(
        "{seen} of {slots} slots may be read: {later} of the record are later, {padding} are padding.",
        seen=int(numbers.sum()),
        slots=view.slots,
        later=view.length - view.position - 1,
        padding=view.slots - view.length,
    )


def _weights(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    weights = stage.at(view.position)[view.head, : view.length]
    most = read_query(weights, view.batch.ids[0, : view.length], view.position)
    return t(
        "Head {head} gives {share:.1%} of its weight to key {key} ({piece}); all equal would be {equal:.1%}.",
        head=view.head,
        share=most.share,
        key=most.key,
        piece=view.labels[most.key],
        equal=1 / most.visible,
    )


def _mixtures(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    text = "Head {head} mixes the values of {keys} keys; {share:.1%} comes from key {key} ({piece})."
    weights = _at(view, block.weights)[view.head, : view.position + 1]
    most = int(weights.argmax())
    share = weights[most]
    return t(text, head=view.head, keys=len(weights), share=share, key=most, piece=view.labels[most])


def _joined(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    text = "The mixtures of {heads} heads, {width} numbers each, written one behind the other."
    return t(text, heads=view.trace.config.heads, width=view.trace.config.head_width)


def _branch(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    stream = block.block_input if stage.name == "attention_output" else block.residual1
    own, before = _length(numbers), _length(_at(view, stream))
    if not view.trace.config.residual:
        return t("To take the place of a vector of length {before:.4g}; its own is {own:.4g}.", before=before, own=own)
    text = "To be added to a vector of length {stream:.4g}: its own length is {own:.4g}, {share:.0%} of that."
    return t(text, stream=before, own=own, share=own / before if before else math.inf)


def _residual(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    stream = _at(view, block.block_input if stage.name == "residual1" else block.residual1)
    before, after = _length(stream), _length(numbers)
    if not view.trace.config.residual:
        text = "Without residual connections nothing is added: length {after:.4g} replaces length {before:.4g}."
        return t(text, before=before, after=after)
    text = "The addition turns the vector by {angle:.1f}° and changes its length from {before:.4g} to {after:.4g}."
    if not before or not after:
        return t("The vector's length goes from {before:.4g} to {after:.4g}.", before=before, after=after)
    cosine = float(np.clip(stream @ numbers / (before * after), -1.0, 1.0))
    return t(text, angle=math.degrees(math.acos(cosine)), before=before, after=after)


def _hidden(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    text = "{size} detectors look at the {inputs} numbers of norm2; {above} of them answer above 0."
    return t(text, size=len(numbers), inputs=view.trace.config.width, above=int((numbers > 0).sum()))


def _activation(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    before, size = _at(view, block.ffn_linear), len(numbers)
    if view.trace.config.activation == "relu":
        return t("ReLU set {zero} of {size} numbers to zero.", zero=int((before < 0).sum()), size=size)
    text = "GELU keeps {kept} of {size} numbers above 0; the others end between {least} and 0."
    return t(text, kept=int((numbers > 0).sum()), size=size, least=short(min(0.0, numbers.min())))


def _logits(view: View, numbers: np.ndarray, block: BlockTrace | None, stage: Stage) -> str:
    target = view.targets[view.position]
    highest, label = int(numbers.argmax()), view.label
    text = "Highest of {size}: {piece} with {high}. The piece that follows, {target}, has {logit}, place {rank}."
    return t(
        text,
        size=len(numbers),
        piece=label(highest),
        high=short(numbers[highest]),
        target=label(target),
        logit=short(numbers[target]),
        rank=int((numbers > numbers[target]).sum()) + 1,
    )


def _length(vector: np.ndarray) -> float:
    return float(np.sqrt((vector**2).sum()))


_SENTENCES: dict[str, Callable[[View, np.ndarray, BlockTrace | None, Stage], str]] = {
    "token_embedding": _token,
    "position_embedding": _place,
    "block_input": _block_input,
    "norm1": _norm,
    "q_projection": _projection,
    "k_projection": _projection,
    "v_projection": _projection,
    "q_heads": _heads,
    "k_heads": _heads,
    "v_heads": _heads,
    "scores": _scores,
    "visible": _visible,
    "weights": _weights,
    "mixtures": _mixtures,
    "joined": _joined,
    "attention_output": _branch,
    "residual1": _residual,
    "norm2": _norm,
    "ffn_linear": _hidden,
    "ffn_activation": _activation,
    "ffn_output": _branch,
    "block_output": _residual,
    "final_norm": _norm,
    "logits": _logits,
}
