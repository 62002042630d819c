"""The one training loop: it yields a report a step and an evaluation at each chosen step.

Nothing is printed or written here; the command line, the trainer process and tests read the reports.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, isfinite, pi

import torch

from minigpt.config import TrainConfig
from minigpt.corpus.batches import Batch
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import summed_loss
from minigpt.training.adam import Adam

EVALUATION_RECORDS = 64  # records of one forward in an evaluation; bounds memory, changes no number


class DivergedError(ArithmeticError):
    """Loss or gradient is not finite; the parameters are still those of the step before."""


@dataclass(frozen=True)
class StepReport:
    """One update. `loss` is the batch's mean in nats per scored position, before the update."""

    step: int  # from 1
    loss: float
    learning_rate: float
    gradient_norm: float  # of all parameters together, before clipping
    scored: int  # positions
    records: tuple[int, ...]  # row numbers in the training split, in the order drawn


@dataclass(frozen=True)
class Evaluation:
    """Losses over the full splits after `step` updates; None where a split has no record."""

    step: int
    train_loss: float
    validation_loss: float | None
    best: bool  # the lowest validation loss so far, the earliest on ties


class Training:
    """A run in memory: model, data, moments, generators and step. Equal inputs give equal losses."""

    def __init__(self, model: MiniGPT, train: Batch, validation: Batch | None, config: TrainConfig):
        self.model, self.train, self.validation, self.config = model, train, validation, config
        self.optimizer = Adam(model, config)
        self.batches = torch.Generator().manual_seed(config.batch_seed)
        self.dropout = torch.Generator().manual_seed(config.dropout_seed)
        self.step = 0
        self.best: float | None = None

    def reports(self) -> Iterator[StepReport | Evaluation]:
        """Run to the last step: the evaluation of step 0, then each step, each evaluation after its step."""
        if self.step == 0:
            yield self.evaluate()
        while self.step < self.config.steps:
            yield self.advance()
            if self.step % self.config.evaluate_every == 0 or self.step == self.config.steps:
                yield self.evaluate()

    def advance(self) -> StepReport:
        """One update from `accumulation` batches, weighted by their scored positions.

        Raises DivergedError before anything changes when the loss or the gradient is not finite.
        """
        self.model.train()
        drawn = [self._draw() for _ in range(self.config.accumulation)]
        batches = [self.train.select(rows, trimmed=True) for rows in drawn]
        scored, total = sum(batch.scored for batch in batches), 0.0
        self.model.zero_grad(set_to_none=True)
        for batch in batches:
            logits = self.model(batch.ids, batch.valid, generator=self.dropout)
            batch_loss, _ = summed_loss(logits, batch.targets)
            (batch_loss / scored).backward()
            total += batch_loss.item()
        norm = self._clipped_norm()
        if not (isfinite(total) and isfinite(norm)):
            raise DivergedError(f"step {self.step + 1}: loss {total / scored}, gradient norm {norm}")
        self.step += 1
        rate = learning_rate(self.config, self.step)
        self.optimizer.update(self.step, rate)
        records = tuple(torch.cat(drawn).tolist())
        return StepReport(self.step, total / scored, rate, norm, scored, records)

    def evaluate(self) -> Evaluation:
        """Losses over the full splits, without dropout; the batch order of later steps does not change."""
        validation = None if self.validation is None else split_loss(self.model, self.validation)
        best = validation is not None and (self.best is None or validation < self.best)
        if best:
            self.best = validation
        return Evaluation(self.step, split_loss(self.model, self.train), validation, best)

    def _draw(self) -> torch.Tensor:
        return torch.randint(len(self.train), (self.config.batch_size,), generator=self.batches)

    def _clipped_norm(self) -> float:
        gradients = [parameter.grad for parameter in self.model.parameters()]
        norm = torch.stack(torch._foreach_norm(gradients)).norm().item()
        if 0 < self.config.clip_norm < norm:
            torch._foreach_mul_(gradients, self.config.clip_norm / norm)
        return norm


def learning_rate(config: TrainConfig, step: int) -> float:
    """The rate of update `step` (from 1): linear warm-up, then constant or a cosine to the final rate."""
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    if config.schedule == "constant":
        return config.learning_rate
    done = (step - config.warmup_steps) / (config.steps - config.warmup_steps)
    span = config.learning_rate - config.final_learning_rate
    return config.final_learning_rate + span * (1 + cos(pi * done)) / 2


@torch.no_grad()
def split_loss(model: MiniGPT, split: Batch) -> float:
    """Mean nats per scored position over a whole split, in evaluation mode; the former mode is restored."""
    training, total, scored = model.training, 0.0, 0
    model.eval()
    for rows in torch.arange(len(split)).split(EVALUATION_RECORDS):
        batch = split.select(rows, trimmed=True)
        part, count = summed_loss(model(batch.ids, batch.valid), batch.targets)
        total, scored = total + part.item(), scored + count
    model.train(training)
    return total / scored
