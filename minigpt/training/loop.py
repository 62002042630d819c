"""The one training loop: it yields a report a step and an evaluation at each chosen step.

Nothing is printed or written here; the command line, the trainer process and tests read the reports.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from math import cos, hypot, isfinite, pi

import torch

from minigpt.config import TrainConfig
from minigpt.corpus.batches import Batch
from minigpt.corpus.windows import Windows
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import summed_loss
from minigpt.model.parameters import parameter_rows
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer
from minigpt.training.optimizer import Adam
from minigpt.training.samples import Sample, draw_samples

TrainingData = Batch | Windows
HOPELESS = 745.0  # nats: beyond it the mean probability of the right tokens is 0 even in float64
EVALUATION_SLOTS = 4096  # of one forward in an evaluation; bounds memory, changes no number but in the last bits


class DivergedError(Refusal, ArithmeticError):
    """Loss or gradient is not finite, or updates led to a loss beyond HOPELESS; nothing has changed in this step."""


@dataclass(frozen=True)
class StepReport:
    """One update. `loss` is the batch's mean in nats per scored position, before the update."""

    step: int  # from 1
    loss: float
    learning_rate: float
    gradient_norm: float  # of all parameters together, before clipping
    scored: int  # positions
    records: tuple[int, ...]  # row numbers in the training split (first positions of windows), in the order drawn
    group_norms: dict[str, float]  # of the gradient of each component that has parameters, before clipping


@dataclass(frozen=True)
class Evaluation:
    """Losses over the splits, or a fixed sample of them, after `step` updates; None without validation records."""

    step: int
    train_loss: float
    validation_loss: float | None
    best: bool  # the lowest validation loss so far, the earliest on ties


@dataclass(frozen=True)
class Samples:
    """The samples of one step, one for each prompt."""

    step: int
    samples: tuple[Sample, ...]


Report = StepReport | Evaluation | Samples


class Training:
    """A run in memory: model, data, moments, generators and step. Equal inputs give equal losses."""

    def __init__(
        self,
        model: MiniGPT,
        train: TrainingData,
        validation: TrainingData | None,
        config: TrainConfig,
        tokenizer: Tokenizer | None = None,  # for samples
    ):
        self.model, self.train, self.validation, self.config = model, train, validation, config
        self.tokenizer = tokenizer
        self.optimizer = Adam(model, config)
        self.batches = torch.Generator().manual_seed(config.batch_seed)
        self.dropout = torch.Generator().manual_seed(config.dropout_seed)
        self.components = {row.name: row.component for row in parameter_rows(model)}
        self.step = 0
        self.evaluated: int | None = None  # the last evaluated step
        self.sampled: int | None = None  # the last step with samples
        self.best: float | None = None

    def reports(self) -> Iterator[Report]:
        """Run to the last step: the evaluation of step 0, then each step, evaluation and samples after their step."""
        return (report for report in self.work() if report is not None)

    def work(self) -> Iterator[Report | None]:
        """The reports, and None after each part of an evaluation or sample, so that a long one can be interrupted.

        A training may be left at any yield and taken up by a new `work`: an evaluation, and the
        samples of a step, start over.
        """
        while True:
            if self.evaluation_due:
                yield from self._evaluation()
            if self.samples_due:
                yield from self._samples()
            if self.finished:
                return
            yield self.advance()

    @property
    def evaluation_due(self) -> bool:
        """Whether the next report is an evaluation."""
        return self.evaluated != self.step and (self.step % self.config.evaluate_every == 0 or self.finished)

    @property
    def samples_due(self) -> bool:
        """Whether samples of this step are wanted and not yet drawn."""
        every = self.config.sample_every
        wanted = self.tokenizer is not None and every > 0 and (self.step % every == 0 or self.finished)
        return wanted and self.sampled != self.step

    @property
    def finished(self) -> bool:
        """Whether the last step is done."""
        return self.step >= self.config.steps

    def advance(self) -> StepReport:
        """One update from `accumulation` batches, weighted by their scored positions.

        Raises DivergedError before anything changes when the loss or the gradient is not finite, and
        when earlier updates have driven the loss beyond HOPELESS: no later step would bring it back.
        """
        if not self.model.training:
            self.model.train()
        drawn = [self._draw() for _ in range(self.config.accumulation)]
        batches = [self.train.select(rows, trimmed=True) for rows in drawn]
        scored, total = sum(batch.target_count for batch in batches), 0.0
        for parameter in self.optimizer.parameters.values():
            parameter.grad = None
        for batch in batches:
            logits = self.model(batch.ids, batch.valid, generator=self.dropout)
            batch_loss, _ = summed_loss(logits, batch.targets)
            (batch_loss / scored).backward()
            total += batch_loss.item()
        norm, group_norms = self._clipped_norm()
        lost = self.step > 0 and total / scored > HOPELESS
        if lost or not (isfinite(total) and isfinite(norm)):
            raise DivergedError(
                "step {step}: loss {loss}, gradient norm {norm}; the training has diverged, "
                "a learning rate below {rate:g} may help",
                step=self.step + 1,
                loss=total / scored,
                norm=norm,
                rate=self.config.learning_rate,
            )
        self.step += 1
        rate = learning_rate(self.config, self.step)
        self.optimizer.update(self.step, rate)
        records = tuple(torch.cat(drawn).tolist())
        return StepReport(self.step, total / scored, rate, norm, scored, records, group_norms)

    def evaluate(self) -> Evaluation:
        """Losses of the splits, without dropout; the batch order of later steps does not change."""
        *_, evaluation = self._evaluation()
        assert evaluation is not None  # what comes last
        return evaluation

    def _evaluation(self) -> Iterator[Evaluation | None]:
        train = yield from _loss_parts(self.model, self.train, evaluation_rows(self.train, self.config))
        validation = None
        if self.validation is not None:
            rows = evaluation_rows(self.validation, self.config)
            validation = yield from _loss_parts(self.model, self.validation, rows)
        best = validation is not None and (self.best is None or validation < self.best)
        if best:
            self.best = validation
        self.evaluated = self.step
        yield Evaluation(self.step, train, validation, best)

    def _samples(self) -> Iterator[Samples | None]:
        drawn = []
        assert self.tokenizer is not None  # `samples_due` asks for it
        for sample in draw_samples(self.model, self.tokenizer, self.config, self.step):
            if sample is None:
                yield None
            else:
                drawn.append(sample)
        self.sampled = self.step
        yield Samples(self.step, tuple(drawn))

    def _draw(self) -> torch.Tensor:
        return torch.randint(len(self.train), (self.config.batch_size,), generator=self.batches)

    def _clipped_norm(self) -> tuple[float, dict[str, float]]:
        gradients = self.optimizer.gradients()
        norms = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).tolist()
        norm, groups = hypot(*norms), dict[str, float]()
        for component, part in zip(self.components.values(), norms, strict=True):
            groups[component] = hypot(groups.get(component, 0.0), part)
        if 0 < self.config.clip_norm < norm:
            for gradient in gradients:
                gradient.mul_(self.config.clip_norm / norm)
        return norm, groups


def learning_rate(config: TrainConfig, step: int) -> float:
    """The rate of update `step` (from 1): linear warm-up, then constant or a cosine to the final rate."""
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    if config.schedule == "constant":
        return config.learning_rate
    done = (step - config.warmup_steps) / (config.steps - config.warmup_steps)
    span = config.learning_rate - config.final_learning_rate
    return config.final_learning_rate + span * (1 + cos(pi * done)) / 2


def evaluation_rows(split: TrainingData, config: TrainConfig) -> torch.Tensor:
    """The rows an evaluation scores: a whole pass, or the fixed sample that `evaluation_seed` draws, in order."""
    rows = split.pass_rows
    if not 0 < config.evaluation_rows < len(rows):
        return rows
    generator = torch.Generator().manual_seed(config.evaluation_seed)
    return rows[torch.randperm(len(rows), generator=generator)[: config.evaluation_rows].sort().values]


@torch.no_grad()
def _loss_parts(model: MiniGPT, split: TrainingData, rows: torch.Tensor) -> Generator[None, None, float]:
    """Mean nats per scored position of these rows, as the generator's return value; it yields after each part."""
    total, scored = 0.0, 0
    for some in rows.split(max(1, EVALUATION_SLOTS // model.config.context_length)):
        training = model.training
        model.eval()
        batch = split.select(some, trimmed=True)
        part, count = summed_loss(model(batch.ids, batch.valid), batch.targets)
        model.train(training)
        total, scored = total + part.item(), scored + count
        yield
    return total / scored
