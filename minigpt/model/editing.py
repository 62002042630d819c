"""Replace one token and see what moves: causality as an experiment, on any model."""

from dataclasses import dataclass

import torch

from minigpt.checks import whole
from minigpt.corpus.batches import Batch
from minigpt.model.gpt import MiniGPT


@dataclass(frozen=True)
class Edited:
    """What one replaced id moves: `before` became `after` at `position`."""

    position: int
    before: int
    after: int
    differences: torch.Tensor  # (T,) largest |logit difference| over the vocabulary
    weight_differences: torch.Tensor  # (L, H, T) largest |weight difference| over the keys, by query


def edit_token(model: MiniGPT, batch: Batch, position: int, id: int) -> Edited:
    """Replace one id of the first record and run both: how far the logits and weights of each position move.

    Raises ValueError for a position that is not valid, an unknown id, or the id that stands there.
    """
    ids, valid = batch.ids[:1], batch.valid[:1]
    whole("position", position, least=0, most=int(valid.sum()) - 1)
    whole("id", id, least=0, most=model.config.vocab_size - 1)
    before = ids[0, position].item()
    if id == before:
        raise ValueError(f"id {id} already stands at position {position}; choose another one")
    changed = ids.clone()
    changed[0, position] = id
    old, new = model.trace(ids, valid), model.trace(changed, valid)
    moved = (new.logits.values - old.logits.values)[0].abs().amax(-1)  # (T,)
    weights = [
        (there.weights.values - here.weights.values)[0].abs().amax(-1)  # (H, T)
        for here, there in zip(old.blocks, new.blocks, strict=True)
    ]
    return Edited(position, before, id, moved, torch.stack(weights))


def another_id(batch: Batch, position: int, size: int) -> int:
    """A replacement for the id at `position`: the first other id of the record after BOS, else the next of `size`."""
    own = batch.ids[0, position].item()
    others = [id for id in batch.ids[0, 1 : int(batch.valid[0].sum())].tolist() if id != own]
    return others[0] if others else (own + 1) % size
