"""The model, the record and the trace that the workspace names, computed once and shared by all sessions.

Everything here is read only: a model in evaluation mode, tensors that are never changed. Models and traces are
kept while they fit into a number of bytes; a view asks for them each time, so that a session at rest holds none.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import streamlit as st
from torch import Tensor

from minigpt.config import ModelConfig
from minigpt.corpus.batches import Batch, inspection_batch
from minigpt.inspection.prediction import Outcome, outcomes
from minigpt.inspection.sources import is_untrained, load_source, preset_plan, source_run, source_steps
from minigpt.inspection.trace_memory import check_trace, tracing_bytes
from minigpt.limits import check_length, limit
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import position_losses
from minigpt.model.size_limits import one_at_a_time
from minigpt.model.trace import Trace
from minigpt.tokenizers.base import Tokenizer
from minigpt.training.runs.resume import checkpoint_path
from minigpt.ui.base import workspace
from minigpt.ui.base.byte_lru import ByteLRU
from minigpt.ui.base.text import t
from minigpt.ui.base.workspace import Workspace

LARGE = 50_000_000  # bytes of a model; from here on a forward takes so long that a page says what it waits for
_drawing = threading.local()  # model and trace of the page that this thread draws: they stay in memory so long


@dataclass(frozen=True)
class Traced:
    """One record in one model."""

    batch: Batch  # padded as `inspection_batch` does
    trace: Trace
    losses: tuple[float, ...]  # of each position, in nats

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """How each position was predicted, computed once: half a second for 128 positions of 50,257 tokens."""
        length = self.batch.target_count
        return outcomes(self.trace.logits.values[0, :length], self.batch.targets[0, :length])


@dataclass(frozen=True)
class View:
    """One record in one model at one step, as every page reads it. Positions count input slots from 0 (BOS)."""

    space: Workspace
    tokenizer: Tokenizer
    batch: Batch
    losses: tuple[float, ...]  # of each position, in nats
    load: Callable[[], tuple[MiniGPT, Tokenizer]]
    recall: Callable[[], Traced]

    @property
    def model(self) -> MiniGPT:
        """The model, in evaluation mode."""
        return self.load()[0]

    @property
    def trace(self) -> Trace:
        """Every stage of the record in all slots looked at."""
        return self.recall().trace

    @property
    def outcomes(self) -> list[Outcome]:
        """How each position of the record was predicted."""
        return self.recall().outcomes

    @property
    def length(self) -> int:
        """Positions of the record; the other slots are padding."""
        return self.batch.target_count

    @property
    def slots(self) -> int:
        """Positions the model is given, padding included; see `inspection_batch`."""
        return self.batch.ids.shape[1]

    @property
    def context(self) -> int:
        """Positions the model could be given."""
        return self.model.config.context_length

    @property
    def parameters(self) -> int:
        """Numbers that the model has learned, a tied table once."""
        return sum(parameter.numel() for parameter in self.model.parameters())

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
        """Visible label of each input token."""
        return [self.label(token) for token in self.ids]

    @cached_property
    def target_labels(self) -> list[str]:
        """Visible label of each target token."""
        return [self.label(token) for token in self.targets]

    def label(self, token: int) -> str:
        """Visible label of an id of the model; `‹id 40000›` for one that its tokenizer does not know."""
        return self.tokenizer.piece_label(token) if token < self.tokenizer.vocab_size else t("‹id {id}›", id=token)

    @property
    def loss(self) -> float:
        """Mean loss of the record in nats per scored position."""
        return sum(self.losses) / self.length

    @property
    def step(self) -> int:
        """The training step that is shown."""
        assert self.space.step is not None, "`resolve` has chosen one"
        return self.space.step

    @property
    def position(self) -> int:
        return self.space.position

    @property
    def block(self) -> int:
        return self.space.block

    @property
    def head(self) -> int:
        return self.space.head

    def is_special(self, token: int) -> bool:
        """Whether typed text can never become this id, as with BOS and EOS."""
        return token in self.tokenizer.specials


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
        wanted = space.step
        nearest = min(steps, key=lambda step: abs(step - wanted))
        workspace.note(t("Step {step} is not saved; showing step {nearest}.", step=wanted, nearest=nearest))
        workspace.choose(step=nearest)
    space = workspace.current()
    load, recall = _reach(space)
    if _unmade(space):
        read_record(*preset_plan(space.model), space.text)  # a record that is refused makes no model
    model, tokenizer = load()
    _keep_within("block", space.block, model.config.layers)
    _keep_within("head", space.head, model.config.heads)
    traced = recall()
    _drawing.model, _drawing.traced = model, traced
    _keep_within("position", space.position, traced.batch.target_count)
    return View(workspace.current(), tokenizer, traced.batch, traced.losses, load, recall)


def current_reader() -> tuple[ModelConfig, Tokenizer]:
    """Config and tokenizer of the workspace's model, whatever its record; an untrained one is not made for this.

    Raises ValueError for a model that cannot be used.
    """
    space = workspace.current()
    if _unmade(space):
        return preset_plan(space.model)
    model, tokenizer = _reach(space)[0]()
    return model.config, tokenizer


def shared_model(name: str, step: int) -> MiniGPT:
    """The model of a source at a step, shared with all who look at it. Raises ValueError as `load_source` does."""
    return _models().get(_key(name, step), lambda: load_source(name, step))[0]


def takes_time() -> bool:
    """Whether `resolve` has to make a large model or trace first, so that the page should say so."""
    space = workspace.current()
    try:
        key = _key(space.model, _step(space))
    except (ValueError, OSError):  # `resolve` says why
        return False
    models, traces = _models(), _traces()
    if key not in models.keys:
        return True
    return models.sizes().get(key, 0) > LARGE and (*key, space.text) not in traces.keys


def _unmade(space: Workspace) -> bool:
    """Whether the model is an untrained one that does not exist yet, so that its plan says what it would be."""
    return is_untrained(space.model) and _key(space.model, _step(space)) not in _models().keys


def _reach(space: Workspace) -> tuple[Callable[[], tuple[MiniGPT, Tokenizer]], Callable[[], Traced]]:
    """How to get the model with its tokenizer, and the traced record: from memory, or made."""
    key = _key(space.model, _step(space))

    def load() -> tuple[MiniGPT, Tokenizer]:
        return _models().get(key, lambda: load_source(space.model, _step(space)))

    def recall() -> Traced:
        return _traces().get((*key, space.text), lambda: trace_record(*load(), space.text))

    return load, recall


def _step(space: Workspace) -> int:
    """The step looked at: the last saved one where the workspace says none."""
    return source_steps(space.model)[-1] if space.step is None else space.step


def _key(name: str, step: int) -> tuple[str, int, int]:
    """A source at a step, and when the checkpoint was written: a run folder can be replaced by another of its name."""
    run = source_run(name)
    return name, step, 0 if run is None else checkpoint_path(run.folder, step).stat().st_mtime_ns


def trace_record(model: MiniGPT, tokenizer: Tokenizer, text: str) -> Traced:
    """A record through a model. Raises ValueError as `read_record` does."""
    batch = read_record(model.config, tokenizer, text)
    with one_at_a_time(tracing_bytes(model.config, batch.ids.shape[1])):
        trace = model.trace(batch.ids, batch.valid)
        losses = position_losses(trace.logits.values, batch.targets)[0, : batch.target_count]
    return Traced(batch, trace, tuple(losses.tolist()))


def read_record(config: ModelConfig, tokenizer: Tokenizer, text: str) -> Batch:
    """A record in the slots in which a model of `config` is given it.

    Raises ValueError for one that is empty, too long, or has a character without an id, and for one whose stages
    would be beyond the limit of bytes.
    """
    check_length(text)
    batch = inspection_batch(text, tokenizer, config.context_length)
    check_trace(config, batch.ids.shape[1])
    return batch


@st.cache_resource(show_spinner=False)
def _models() -> ByteLRU[tuple[MiniGPT, Tokenizer]]:
    """No model is larger than the cache: `check_model` refuses one beyond the same limit."""
    return ByteLRU(limit("MINIGPT_MODELS_BYTES"), lambda loaded: sum(map(_bytes, loaded[0].parameters())))


@st.cache_resource(show_spinner=False)
def _traces() -> ByteLRU[Traced]:
    return ByteLRU(
        limit("MINIGPT_TRACES_BYTES"), lambda traced: sum(_bytes(stage.values) for stage in traced.trace.stages)
    )


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _keep_within(name: str, value: int, size: int) -> None:
    if value >= size:
        last = size - 1
        missing = {
            "block": t("There is no block {value} here (0 to {last}); showing {last}.", value=value, last=last),
            "head": t("There is no head {value} here (0 to {last}); showing {last}.", value=value, last=last),
            "position": t("There is no position {value} here (0 to {last}); showing {last}.", value=value, last=last),
        }
        workspace.note(missing[name])
        workspace.choose(**{name: last})
