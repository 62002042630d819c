"""One record through one model, in plain numbers: what `python -m minigpt inspect` prints.

The pages read the same trace; this is the form in which others can check it.
"""

import torch

from minigpt.corpus.batches import inspection_batch
from minigpt.inspection.stages import formula
from minigpt.inspection.trace_memory import check_trace
from minigpt.limits import check_length
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import loss
from minigpt.model.trace import Trace
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer


def inspect_record(model: MiniGPT, tokenizer: Tokenizer, text: str, position: int) -> dict:
    """JSON-ready: ids, targets, loss (nats per scored position), position, stages, heads, logits.

    `stages` are in order, each with name, block, shape, formula and the values at `position`. `heads`
    hold scores and weights of the query at `position` over its visible keys 0 .. position. `logits`
    hold the highest value, the top id (ties to the lowest), and logit, probability and loss (nats)
    of the target id. Raises ValueError for a text or a position that does not fit.
    """
    check_length(text)
    batch = inspection_batch(text, tokenizer, model.config.context_length)
    check_position(position, batch.target_count)
    check_trace(model.config, batch.ids.shape[1])
    trace = model.trace(batch.ids, batch.valid)
    return {
        "ids": batch.ids[0, : batch.target_count].tolist(),
        "targets": batch.targets[0, : batch.target_count].tolist(),
        "loss": loss(trace.logits.values, batch.targets).item(),
        "position": position,
        "stages": [
            {
                "name": stage.name,
                "block": stage.block,
                "shape": list(stage.shape),
                "formula": formula(stage, model.config),
                "values": stage.at(position).tolist(),
            }
            for stage in trace.stages
        ],
        "heads": head_rows(trace, position),
        "logits": logit_summary(trace.logits.at(position), int(batch.targets[0, position])),
    }


def head_rows(trace: Trace, position: int) -> list[dict]:
    """Scores and weights of the query at `position` over keys 0 .. position, for every block and head."""
    seen = slice(0, position + 1)
    return [
        {
            "block": number,
            "head": head,
            "scores": block.scores.at(position)[head, seen].tolist(),
            "weights": block.weights.at(position)[head, seen].tolist(),
        }
        for number, block in enumerate(trace.blocks)
        for head in range(trace.config.heads)
    ]


def logit_summary(logits: torch.Tensor, target: int) -> dict:
    """Highest logit and its id, and the target's logit, probability and loss; logits (V,)."""
    log_probability = logits.log_softmax(-1)[target]
    return {
        "max": logits.max().item(),
        "top": int((logits == logits.max()).nonzero()[0]),
        "target": target,
        "logit": logits[target].item(),
        "probability": log_probability.exp().item(),
        "loss": -log_probability.item(),
    }


def check_position(position: int, positions: int) -> None:
    """Raises ValueError for a position outside the record."""
    if not 0 <= position < positions:
        raise Refusal(
            "position must be 0 to {positions} in this record, got {position}",
            positions=positions - 1,
            position=position,
        )
