"""The loss of a model before any training: near ln V, because every id is about as likely as any other.

Measured on a real model with the weights of its seed, not derived. A value far from ln V after a change of
the model is the first sign of a mistake.
"""

from dataclasses import dataclass
from math import log

import torch

from minigpt.config import ModelConfig
from minigpt.inspection.trace_memory import check_trace
from minigpt.model.gpt import MiniGPT
from minigpt.model.size_limits import building_bytes, check_model, one_at_a_time

POSITIONS = 64  # at most; the mean over them moves in the third decimal
SEED = 8747  # of the ids that are read


@dataclass(frozen=True)
class UntrainedLoss:
    """Nats at `positions` positions, each averaged over all V ids that could follow.

    `spread` is the variance of a position's logits over the ids: half of it is about how far the loss lies
    above `uniform` = ln V.
    """

    loss: float
    uniform: float
    spread: float
    positions: int


@torch.no_grad()
def untrained_loss(config: ModelConfig) -> UntrainedLoss:
    """Build a model of `config`, read random ids and measure; the model is dropped afterwards.

    Every id is equally often the target, so the loss at a position is log Σ exp(logits) − mean(logits).
    Raises ValueError for a model beyond the limits, before it is built. MG-1: 5.6765 against ln 291 = 5.6733.
    """
    check_model(config)
    positions = positions_read(config)
    check_trace(config, positions)
    generator = torch.Generator().manual_seed(SEED)
    ids = torch.randint(config.vocab_size, (1, positions), generator=generator)
    with one_at_a_time(building_bytes(config)):
        logits = MiniGPT(config).eval()(ids)[0]  # (T, V)
    rows = [row.double() for row in logits.split(1)]
    losses = torch.cat([row.logsumexp(-1) - row.mean(-1) for row in rows])
    spread = torch.cat([row.var(-1, correction=0) for row in rows]).mean().item()
    return UntrainedLoss(losses.mean().item(), log(config.vocab_size), spread, positions)


def positions_read(config: ModelConfig) -> int:
    """How many positions are measured."""
    return min(config.context_length, POSITIONS)
