"""The one writer of a run folder: metrics, timing, checkpoints, resume states and status.

Order of writes at a step: metrics, then the checkpoint, then the resume state that says how long the
metrics were. A kill between any two leaves files that are cut back to the resume state on resume.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from minigpt.corpus.baselines import ngram_baselines
from minigpt.model.checkpoints import save_checkpoint
from minigpt.sentences import Refusal, sentence_of
from minigpt.storage.atomic import write_atomic
from minigpt.storage.lock import FolderLock
from minigpt.training.loop import DivergedError, Evaluation, Report, Samples, StepReport, Training, evaluation_rows
from minigpt.training.runs.info import RunStatus, read_info, write_status
from minigpt.training.runs.resume import (
    FILE,
    GROWING,
    Progress,
    check_whole_lines,
    checkpoint_path,
    checkpoint_steps,
    cut_back,
    read_progress,
    save_state,
)

FLUSH_SECONDS = 0.1  # readers are at most this far behind
STATE_SECONDS = 1.0  # at most this much work is lost by a kill, or
STATE_SHARE = 0.05  # as much as keeps the time spent on resume states below this share


class RunWriteError(Refusal, OSError):
    """A run folder cannot be written: one sentence with the folder and the reason."""


class RunWriter:
    """Writes what a training reports, from `with` to its end; holds the folder's lock meanwhile.

    Leaving without an exception means finished; by GeneratorExit stopped; by DivergedError or a
    write error failed, with the reason. After any other exception the last resume state stays.
    The trainer process calls `open`, `write_baselines` and `finish`, `stop` or `fail` itself.
    """

    def __init__(self, folder: Path, training: Training):
        self.folder, self.training = folder, training
        self.info = read_info(folder)
        self.tokenizer = self.info.tokenizer

    def open(self) -> "RunWriter":
        """Lock the folder and cut it back to the step of the training.

        Raises ValueError when the folder is being written by another, or is at another step.
        """
        self.lock = FolderLock(self.folder)
        try:
            progress = self._checked_progress()
            cut_back(self.folder, progress)
            self.files = {name: (self.folder / name).open("a", encoding="utf-8", newline="\n") for name in GROWING}
            write_status(self.folder, RunStatus.RUNNING)
        except BaseException:
            self.lock.release()
            raise
        self.seconds, self.positions = progress.seconds, progress.positions
        self.flushed = self.saved = time.monotonic()
        self.marked: float | None = self.saved  # when the clock began, None = it is stopped
        self.cost = 0.0  # seconds of the last resume state
        return self

    def write_baselines(self) -> None:
        """Count what the loss is compared with, if that is not done yet. It takes seconds for a large corpus.

        May run beside the training, in another thread. Raises RunWriteError when it cannot be written.
        """
        path, training = self.folder / "baselines.json", self.training
        if path.exists() or training.validation is None:
            return
        rows = evaluation_rows(training.validation, training.config)
        counted = ngram_baselines(training.train, training.validation, self.info.model.vocab_size, rows)
        with self._clear_errors():
            write_atomic(path, json.dumps(asdict(counted)).encode())

    def write(self, report: Report) -> None:
        """Put a report on disk, with the checkpoint that is due: at 0, 1, 2, 4, 8, ... and each evaluation."""
        with self._clear_errors():
            self._count(report)
            if isinstance(report, Samples):
                for sample in report.samples:
                    self.files["samples.jsonl"].write(json.dumps(asdict(sample), ensure_ascii=False) + "\n")
                return self.flush()
            self.files["metrics.jsonl"].write(json.dumps(asdict(report)) + "\n")
            if isinstance(report, Evaluation) or is_power_of_two(report.step):
                self.flush()
                path = checkpoint_path(self.folder, report.step)
                save_checkpoint(path, self.training.model, report.step, self.tokenizer)
            now = time.monotonic()
            if report.step == 0 or now - self.saved > max(STATE_SECONDS, self.cost / STATE_SHARE):
                self.save()
            else:
                self.keep_fresh()
        return None

    def keep_fresh(self) -> None:
        """Flush if the last time is more than a tenth of a second ago."""
        if time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.flush()

    def write_details(self, details: dict) -> None:
        """Replace details.json, what a class sees of one step in slow motion, and flush."""
        with self._clear_errors():
            write_atomic(self.folder / "details.json", json.dumps(details).encode())
        self.flush()

    def flush(self) -> None:
        """Bring readers up to date. Raises RunWriteError when the folder was deleted meanwhile."""
        with self._clear_errors():
            row = {"step": self.training.step, "seconds": round(self.seconds, 4), "positions": self.positions}
            self.files["timing.jsonl"].write(json.dumps(row) + "\n")
            for file in self.files.values():
                file.flush()
            if not self.lock.is_valid():
                raise FileNotFoundError(self.folder)
        self.flushed = time.monotonic()

    def save(self) -> None:
        """Write the resume state of this very moment, between two reports."""
        started = time.monotonic()
        self.flush()
        with self._clear_errors():
            for file in self.files.values():
                os.fsync(file.fileno())
            training = self.training
            lengths = {name: self._length(name) for name in GROWING}
            done = (training.step, training.evaluated, training.sampled, training.best)
            save_state(self.folder, self.info, training, Progress(*done, self.seconds, self.positions, lengths))
        self.saved = time.monotonic()
        self.cost = self.saved - started

    def pause(self) -> None:
        """Save, say so, and stop the clock until the next report."""
        self.save()
        with self._clear_errors():
            write_status(self.folder, RunStatus.PAUSED)
        self.marked = None

    def play(self) -> None:
        """Say that the run goes on."""
        with self._clear_errors():
            write_status(self.folder, RunStatus.RUNNING)
        self.marked = time.monotonic()

    def finish(self) -> None:
        """The last step is done."""
        self._end(RunStatus.FINISHED)

    def stop(self) -> None:
        """Leave a run that can be resumed at this very step."""
        self._end(RunStatus.STOPPED)

    def fail(self, reason: str) -> None:
        """Leave the last good state and say why; where even that cannot be written, the caller has the reason."""
        with contextlib.suppress(OSError, ValueError):  # ValueError: a write that failed has closed it
            self.files["metrics.jsonl"].flush()
        with contextlib.suppress(OSError, ValueError):
            write_status(self.folder, RunStatus.FAILED, reason)
        self.release()

    def release(self) -> None:
        """Let go of the folder as it is."""
        for file in self.files.values():
            with contextlib.suppress(OSError):  # the unwritten rest of a full disk
                file.close()
        self.lock.release()

    def __enter__(self) -> "RunWriter":
        self.open()
        try:
            self.write_baselines()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        elif kind is GeneratorExit:
            self.stop()
        elif isinstance(error, (DivergedError, RunWriteError)):
            self.fail(sentence_of(error))
        else:
            self.release()

    def _end(self, status: RunStatus) -> None:
        try:
            self.save()
            with self._clear_errors():
                write_status(self.folder, status)
        except (RunWriteError, ValueError) as failure:
            self.fail(sentence_of(failure))
            raise
        self.release()

    def _count(self, report: Report) -> None:
        now = time.monotonic()
        self.seconds += 0.0 if self.marked is None else now - self.marked
        self.marked = now
        if isinstance(report, StepReport):
            self.positions += report.scored

    def _length(self, name: str) -> int:
        path = self.folder / name
        return path.stat().st_size if path.exists() else 0

    def _checked_progress(self) -> Progress:
        progress, training = read_progress(self.folder, self.info), self.training
        if progress is None:
            if any(step > 0 for step in checkpoint_steps(self.folder)):
                raise Refusal(
                    "{folder} has checkpoints but no {file}; it can be read, not continued",
                    folder=self.folder,
                    file=FILE,
                )
            progress = Progress()
        saved, own = ((one.step, one.evaluated, one.sampled) for one in (progress, training))
        if saved != own:
            raise Refusal(
                "{folder} is at step {there}, this training is at step {here}; resume the run",
                folder=self.folder,
                there=progress.step,
                here=training.step,
            )
        for name, length in progress.lengths.items():
            check_whole_lines(self.folder / name, length)
        return progress

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except RunWriteError:
            raise
        except (OSError, ValueError) as error:
            if not self.lock.is_valid():
                raise RunWriteError("the run folder {folder} was deleted", folder=self.folder) from error
            if isinstance(error, ValueError):
                raise
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise RunWriteError(
                "cannot write in the run folder {folder}: {reason}", folder=self.folder, reason=reason
            ) from error


def is_power_of_two(step: int) -> bool:
    """Whether `step` is 1, 2, 4, 8, ..."""
    return step > 0 and step & (step - 1) == 0
