"""One run in the memory of a trainer process: loaded, stepped in slices, paused, ended."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from minigpt.training.loop import StepReport, Training
from minigpt.training.runs.create import resume_run
from minigpt.training.runs.info import RunStatus
from minigpt.training.runs.run_writer import RunWriter

SLICE_SECONDS = 0.05


@dataclass(frozen=True)
class UpdateNorm:
    """How far one update moved one tensor: Euclidean length of the change, and its share of the tensor's length."""

    name: str
    component: str
    moved: float
    share: float  # moved / length before; 0 where the tensor was all 0


class ActiveRun:
    """A run that the process works on. `status` is queued, loading, running, paused, or how it ended.

    `speed` is in steps a second, 0 is as fast as it goes. Below full speed and for single steps, details.json has
    for each step which records were in the batch and which tensors moved most.
    """

    def __init__(self, folder: Path):
        self.folder, self.status, self.reason = folder, RunStatus.QUEUED, ""
        self.speed = 0.0
        self.due = 0.0  # when the next step may begin, in time.monotonic
        self.steps_left: int | None = None  # until it pauses; None = goes on
        self.step: int | None = None  # steps done; None before the run is loaded
        self._writer: RunWriter | None = None

    @property
    def loaded(self) -> bool:
        """Whether the run is in memory."""
        return self._writer is not None

    @property
    def writer(self) -> RunWriter:
        """The writer of a loaded run."""
        assert self._writer is not None
        return self._writer

    def load(self) -> None:
        """Read the run and lock its folder. Raises ValueError or OSError when that cannot be done."""
        run, training = resume_run(self.folder)
        self._writer = RunWriter(run.folder, training).open()
        self.work, self.step = training.work(), training.step

    def go(self) -> None:
        """Step from now on."""
        if self.status is RunStatus.PAUSED:
            self.writer.play()
        self.status, self.due = RunStatus.RUNNING, 0.0

    def slice(self) -> None:
        """Work for one slice, but not beyond the step that is due. Raises what the training raises."""
        started, training = time.monotonic(), self.writer.training
        while time.monotonic() - started < SLICE_SECONDS:
            if self.steps_left == 0 and not (training.evaluation_due or training.samples_due or training.finished):
                return self.pause()
            slow = self.speed > 0 or self.steps_left is not None
            before = _snapshot(training) if slow else {}
            try:
                report = next(self.work)
            except StopIteration:
                self.writer.finish()
                self.status, self._writer = RunStatus.FINISHED, None
                return None
            if report is not None:
                self.step = report.step
                self.writer.write(report)
            if slow and isinstance(report, StepReport):
                return self._write_details(report, before)
        self.writer.keep_fresh()
        return None

    def pause(self) -> None:
        """Save, and wait for `go`."""
        self.writer.pause()
        self.status, self.steps_left = RunStatus.PAUSED, None

    def stop(self) -> None:
        """Release the folder, to be resumed at this step."""
        if self._writer is not None:
            self._writer.stop()
        self.status, self._writer = RunStatus.STOPPED, None

    def fail(self, reason: str) -> None:
        """Release the folder with its last good state."""
        if self._writer is not None:
            self._writer.fail(reason)
        self.status, self.reason, self._writer = RunStatus.FAILED, reason, None

    def _write_details(self, report: StepReport, before: dict[str, torch.Tensor]) -> None:
        if self.steps_left is not None:
            self.steps_left -= 1
        rows = [asdict(norm) for norm in update_norms(self.writer.training, before)]
        self.writer.write_details(asdict(report) | {"moves": rows})
        self.due = time.monotonic() + (1 / self.speed if self.speed else 0.0)


def _snapshot(training: Training) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().clone() for name, tensor in training.optimizer.parameters.items()}


@torch.no_grad()
def update_norms(training: Training, before: dict[str, torch.Tensor]) -> list[UpdateNorm]:
    """How far every tensor has moved from `before`, the farthest first; ties keep the order of the model."""
    found = []
    for name, tensor in training.optimizer.parameters.items():
        moved, length = (tensor - before[name]).norm().item(), before[name].norm().item()
        found.append(UpdateNorm(name, training.components[name], moved, moved / length if length else 0.0))
    return sorted(found, key=lambda norm: -norm.moved)
