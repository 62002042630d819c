"""One run in the memory of a trainer process: loaded, stepped in slices, paused, ended."""

import time
from dataclasses import asdict
from pathlib import Path

from minigpt.training.loop import StepReport
from minigpt.training.runs.create import resume_run
from minigpt.training.runs.run_writer import Recorder
from minigpt.training.update_norms import moves, snapshot

SLICE_SECONDS = 0.05


class Held:
    """A run that the process works on. `status` is queued, loading, running, paused, or how it ended.

    `speed` is in steps a second, 0 is as fast as it goes; below full speed and for single steps,
    details.json tells of each step which records were in the batch and which tensors moved most.
    """

    def __init__(self, folder: Path):
        self.folder, self.status, self.reason = folder, "queued", ""
        self.speed = 0.0
        self.due = 0.0  # when the next step may begin, in time.monotonic
        self.steps_left: int | None = None  # until it pauses by itself; None = goes on
        self.recorder: Recorder | None = None
        self.step: int | None = None  # steps done; None before the run is loaded

    @property
    def over(self) -> bool:
        """Whether the process has let go of the folder."""
        return self.status in ("finished", "stopped", "failed")

    def load(self) -> None:
        """Read the run and take its folder. Raises ValueError or OSError when that cannot be."""
        run, training = resume_run(self.folder)
        self.recorder = Recorder(run.folder, training).open()
        self.work, self.step = training.work(), training.step

    def go(self) -> None:
        """Step from now on."""
        if self.status == "paused":
            self.recorder.play()
        self.status, self.due = "running", 0.0

    def slice(self) -> None:
        """Work for one slice, but no further than the step that is due. Raises what the training raises."""
        started, training = time.monotonic(), self.recorder.training
        while time.monotonic() - started < SLICE_SECONDS:
            if self.steps_left == 0 and not (training.evaluation_due or training.samples_due or training.finished):
                return self.pause()
            slow = self.speed > 0 or self.steps_left is not None
            before = snapshot(training) if slow else None
            report = next(self.work, self)
            if report is self:
                self.recorder.finish()
                self.status, self.recorder = "finished", None
                return None
            if report is not None:
                self.step = report.step
                self.recorder.write(report)
            if slow and isinstance(report, StepReport):
                return self._told_in_detail(report, before)
        self.recorder.keep_fresh()
        return None

    def pause(self) -> None:
        """Save, and wait for `go`."""
        self.recorder.pause()
        self.status, self.steps_left = "paused", None

    def stop(self) -> None:
        """Let go of the folder, to be resumed at this step."""
        if self.recorder is not None:
            self.recorder.stop()
        self.status, self.recorder = "stopped", None

    def fail(self, reason: str) -> None:
        """Let go of the folder with its last good state."""
        if self.recorder is not None:
            self.recorder.fail(reason)
        self.status, self.reason, self.recorder = "failed", reason, None

    def _told_in_detail(self, report: StepReport, before: dict) -> None:
        if self.steps_left is not None:
            self.steps_left -= 1
        rows = [asdict(move) for move in moves(self.recorder.training, before)]
        self.recorder.write_details(asdict(report) | {"moves": rows})
        self.due = time.monotonic() + (1 / self.speed if self.speed else 0.0)
