"""Replace one token and see what moves: causality as an experiment, on any model."""

from dataclasses import dataclass

import torch

from minigpt.corpus.batches import Batch
from minigpt.inspection.stages import WEIGHTS
from minigpt.model.gpt import MiniGPT, evaluating
from minigpt.model.trace import Trace
from minigpt.sentences import Refusal
from minigpt.validation import check_int


@dataclass(frozen=True)
class Edited:
    """What one replaced id moves: `before` became `after` at `position`."""

    position: int
    before: int
    after: int
    differences: torch.Tensor  # (T,) largest |logit difference| over the vocabulary
    weight_differences: torch.Tensor  # (L, H, T) largest |weight difference| over the keys, by query


def edit_token(model: MiniGPT, batch: Batch, position: int, id: int, before: Trace | None = None) -> Edited:
    """Replace one id of the first record and run both: how far the logits and weights of each position move.

    `before` is the trace of the first record alone, if there is one already. Raises ValueError for a position that
    is not valid, an unknown id, or the id that stands there.
    """
    ids, valid = batch.ids[:1], batch.valid[:1]
    check_int("position", position, least=0, most=int(valid.sum()) - 1)
    check_int("id", id, least=0, most=model.config.vocab_size - 1)
    own = int(ids[0, position])
    if id == own:
        raise Refusal("id {id} already stands at position {position}; choose another one", id=id, position=position)
    changed = ids.clone()
    changed[0, position] = id
    old = _seen(model, ids, valid) if before is None else _of(before)
    moved, *weights = [
        (there - here)[0].abs().amax(-1) for here, there in zip(old, _seen(model, changed, valid), strict=True)
    ]  # (T,), and (H, T) for each block
    return Edited(position, own, id, moved, torch.stack(weights))


@torch.no_grad()
def _seen(model: MiniGPT, ids: torch.Tensor, valid: torch.Tensor) -> list[torch.Tensor]:
    """The logits (1, T, V) and the weights (1, H, T, T) of each block in a forward without dropout."""
    weights: list[torch.Tensor] = []

    def collect(name: str, values: torch.Tensor) -> torch.Tensor:
        if name == WEIGHTS.kind:
            weights.append(values)
        return values

    with evaluating(model):
        return [model(ids, valid, hook=collect), *weights]


def _of(trace: Trace) -> list[torch.Tensor]:
    return [trace.logits.values, *(block.weights.values for block in trace.blocks)]


def another_id(batch: Batch, position: int, size: int) -> int:
    """A replacement for the id at `position`: the first other id of the record after BOS, else the next of `size`."""
    own = int(batch.ids[0, position])
    others = [other for other in batch.ids[0, 1 : int(batch.valid[0].sum())].tolist() if other != own]
    return others[0] if others else (own + 1) % size
