"""The model, the record and the trace that the workspace names, computed once and shared by all sessions.

Everything here is read only: a model in evaluation mode, tensors that nobody changes.
"""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from minigpt.corpus.batches import Batch, batch_records
from minigpt.inspection import check_length
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import position_losses
from minigpt.model.trace import Trace
from minigpt.sources import load_source, source_run, source_steps
from minigpt.tokenizers.contract import Tokenizer
from minigpt.training.recorder import checkpoint_path
from minigpt.ui import workspace
from minigpt.ui.text import t
from minigpt.ui.workspace import Workspace


@dataclass(frozen=True)
class View:
    """One record in one model at one step, as every page reads it. Positions count input slots from 0 (BOS)."""

    space: Workspace
    model: MiniGPT
    tokenizer: Tokenizer
    batch: Batch  # one record in all slots of the context
    trace: Trace

    @property
    def length(self) -> int:
        """Positions of the record; the other slots are padding."""
        return self.batch.scored

    @property
    def slots(self) -> int:
        """Positions the model is given, padding included."""
        return self.batch.ids.shape[1]

    @cached_property
    def ids(self) -> list[int]:
        """Input ids of the record, BOS first."""
        return self.batch.ids[0, : self.length].tolist()

    @cached_property
    def targets(self) -> list[int]:
        """The id each position has to predict, EOS last."""
        return self.batch.targets[0, : self.length].tolist()

    @cached_property
    def labels(self) -> list[str]:
        """Visible label of each input piece."""
        return [self.tokenizer.piece_label(id) for id in self.ids]

    @cached_property
    def target_labels(self) -> list[str]:
        """Visible label of each target piece."""
        return [self.tokenizer.piece_label(id) for id in self.targets]

    @cached_property
    def losses(self) -> list[float]:
        """Loss of each position in nats."""
        return position_losses(self.trace.logits.values, self.batch.targets)[0, : self.length].tolist()

    @property
    def loss(self) -> float:
        """Mean loss of the record in nats per scored position."""
        return sum(self.losses) / self.length

    @property
    def position(self) -> int:
        return self.space.position

    @property
    def block(self) -> int:
        return self.space.block

    @property
    def head(self) -> int:
        return self.space.head

    def is_special(self, id: int) -> bool:
        """Whether no typed text can be this id, as BOS and EOS."""
        return id in self.tokenizer.specials


def resolve() -> View:
    """The view of the current workspace; values beyond its model or record move to the nearest.

    A value that came with a link is moved with a notice; one that another choice left behind just follows.

    Raises ValueError in one sentence for an unknown model, a step that is not saved, or a record that is
    empty or too long for the context.
    """
    space = workspace.current()
    steps = source_steps(space.model)
    if space.step is None:
        workspace.choose(step=steps[-1])
    elif space.step not in steps:
        nearest = min(steps, key=lambda step: abs(step - space.step))
        workspace.note(t("Step {step} is not saved; showing step {nearest}.", step=space.step, nearest=nearest))
        workspace.choose(step=nearest)
    space = workspace.current()
    stamp = _stamp(space.model, space.step)
    model, tokenizer = _model(space.model, space.step, stamp)
    _keep_within("block", space.block, model.config.layers)
    _keep_within("head", space.head, model.config.heads)
    batch, trace = _traced(space.model, space.step, stamp, space.text)
    _keep_within("position", space.position, batch.scored)
    return View(workspace.current(), model, tokenizer, batch, trace)


def _stamp(name: str, step: int) -> int:
    """When the checkpoint was written: a run folder can be replaced by another of the same name."""
    run = source_run(name)
    return 0 if run is None else checkpoint_path(run.folder, step).stat().st_mtime_ns


@st.cache_resource(show_spinner=False, max_entries=32)
def _model(name: str, step: int, stamp: int) -> tuple[MiniGPT, Tokenizer]:
    return load_source(name, step)


@st.cache_resource(show_spinner=False, max_entries=64)
def _traced(name: str, step: int, stamp: int, text: str) -> tuple[Batch, Trace]:
    model, tokenizer = _model(name, step, stamp)
    check_length(text)
    batch = batch_records([text], tokenizer, model.config.context_length)
    return batch, model.trace(batch.ids, batch.valid)


def _keep_within(name: str, value: int, size: int) -> None:
    if value >= size:
        sentence = "There is no {name} {value} here (0 to {last}); showing {last}."
        workspace.note(t(sentence, name=name, value=value, last=size - 1))
        workspace.choose(**{name: size - 1})
