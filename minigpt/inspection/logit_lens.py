"""The logit lens: what each depth would predict if the model ended there.

The final norm and the LM head are applied to the residual after the embeddings and after each block. The
model itself does this at the last depth only; the other rows are an extra reading of its residuals.

Source: nostalgebraist (2020), interpreting GPT: the logit lens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from minigpt.model.gpt import MiniGPT
from minigpt.model.layers import linear
from minigpt.model.trace import Stage, Trace
from minigpt.sentences import Refusal
from minigpt.validation import check_int


@dataclass(frozen=True)
class Lens:
    """Logits (L+1, P, V) at P positions: row 0 after the embeddings, row n after n blocks.

    The last row holds the model's own logits. `difference` is the greatest |reading - own| of that row:
    how far the lens's way of computing is from the model's, which is rounding only.
    """

    logits: torch.Tensor
    difference: float


@torch.no_grad()
def logit_lens(model: MiniGPT, trace: Trace, positions: Sequence[int], record: int = 0) -> Lens:
    """Read the residuals of `trace` at `positions` of one record.

    Raises ValueError for no position, one outside the record, or a model of another config.
    MG-1, untrained, position 5: the last row is the trace's logits, bit for bit.
    """
    if model.config != trace.config:
        raise Refusal("the trace is of a model with another config; trace this model first")
    if not positions:
        raise Refusal("a lens needs at least one position, got none")
    for position in positions:
        check_int("position", position, least=0, most=trace.ids.shape[1] - 1)
    where = list(positions)
    rows = torch.stack([stage.values[record, where] for stage in residuals(trace)])  # (L+1, P, C)
    logits = read_residual(model, rows)  # (L+1, P, V)
    own = trace.logits.values[record, where]
    difference = (logits[-1] - own).abs().max().item()
    logits[-1] = own
    return Lens(logits, difference)


def residuals(trace: Trace) -> tuple[Stage, ...]:
    """The residual after the embeddings and after each block, L+1 stages."""
    return (trace.blocks[0].block_input, *(block.block_output for block in trace.blocks))


def read_residual(model: MiniGPT, residual: torch.Tensor) -> torch.Tensor:
    """(..., C) -> (..., V) by the model's final norm and head."""
    return linear(model.final_norm(residual), model.head_matrix, model.head_bias)
