"""The runs that one trainer process holds: who steps now, who waits, and what a command does.

A run goes on to its last step whether its page is open or not. At most MINIGPT_RUNS_AT_ONCE runs step
in turn; the others wait in the order they came and know their place. Paused runs stay in memory,
up to MINIGPT_RUNS_PAUSED. Whatever ends the process leaves runs that can be resumed.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

from minigpt.limits import limit
from minigpt.sentences import Refusal, Sentence, say, sentence_of
from minigpt.training.loop import DivergedError
from minigpt.training.runs.info import RunStatus
from minigpt.training.runs.run import Run
from minigpt.training.server.active_run import ActiveRun
from minigpt.validation import check_choice, check_float

ANSWER_SECONDS = 0.5  # an answer waits this long for the new state, then it has the old one
COMMANDS = ("start", "play", "step", "pause", "stop", "reset", "speed", "status")
FAULTS = (DivergedError, OSError, ValueError)  # their messages are sentences for the reader
log = logging.getLogger(__name__)  # to standard error


class Scheduler:
    """Answers commands and works on the active runs. `tell` receives each change of status, as an object."""

    def __init__(self, tell: Callable[[dict], None]):
        self.tell = tell
        self.runs: dict[Path, ActiveRun] = {}  # the one whose turn is next comes first
        self.loading: dict[Path, Future[None]] = {}
        self.counting: list[tuple[ActiveRun, Future[None]]] = []  # baselines, beside the first steps
        self.ended: dict[Path, ActiveRun] = {}  # how the last try of a run ended
        self.loader = ThreadPoolExecutor(max_workers=1)

    def answer(self, command: dict) -> dict:
        """Do {"command": ..., "run": folder, ...}; the state of the run then, or {"error": one sentence}."""
        try:
            check_choice("command", command.get("command"), COMMANDS)
            if not isinstance(command.get("run"), str):
                raise Refusal("a command needs the run folder as text, got {run!r}", run=command.get("run"))
            folder = Path(command["run"]).absolute()
            getattr(self, f"_{command['command']}")(folder, command)
            return self.state(folder)
        except (ValueError, OSError) as error:
            return _refused(sentence_of(error))
        except Exception as error:
            log.exception("unexpected error in the command %r", command)
            return _refused(say("the command failed with an unexpected error: {error}", error=_first_line(error)))

    def state(self, folder: Path) -> dict:
        """status, step (None when not in memory), place in the queue (0 = not waiting), reason of a failure."""
        active = self.runs.get(folder, self.ended.get(folder))
        if active is None:
            run = Run(folder)
            return _message(folder, run.status, None, 0, run.info.reason)
        queue = [other.folder for other in self.runs.values() if other.status == RunStatus.QUEUED]
        place = 1 + queue.index(folder) if folder in queue else 0
        return _message(folder, active.status, active.step, place, active.reason)

    def wait(self) -> float | None:
        """Seconds until there is work, 0 = now; None = not before the next command."""
        if self.loading:
            return 0.0 if self._ready() else 0.01
        due = [active.due for active in self.runs.values() if active.status == RunStatus.RUNNING]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def work(self) -> None:
        """Let in those that have room, then step the run whose turn it is for one slice."""
        self._counted()
        self._admit()
        active = self._ready()
        if active:
            self.runs[active.folder] = self.runs.pop(active.folder)  # to the end of the round
            before = active.status
            self._careful(active, active.slice)
            if active.status != before:
                self._changed(active)

    def close(self) -> None:
        """Leave every run to be resumed."""
        for future in self.loading.values():
            future.cancel()
        self.loader.shutdown(cancel_futures=True)
        for active in list(self.runs.values()):
            self._careful(active, active.stop)
            self._changed(active)

    def _start(self, folder: Path, command: dict) -> None:
        self._go(folder, command, steps=None)

    _play = _start

    def _step(self, folder: Path, command: dict) -> None:
        self._go(folder, command, steps=1)

    def _go(self, folder: Path, command: dict, steps: int | None) -> None:
        active = self.runs.get(folder)
        if active is None:
            if Run(folder).status == RunStatus.FINISHED:
                raise Refusal("{run} is finished; reset it to train it again", run=folder.name)
            active = self.runs[folder] = ActiveRun(folder)
            self.ended.pop(folder, None)
        if "speed" in command:
            self._speed(folder, command)
        pending = active.steps_left or 0  # of a step asked for and not yet done
        active.steps_left = None if steps is None else pending + steps
        if active.status == RunStatus.PAUSED:
            self.runs[folder] = self.runs.pop(folder)  # the last to come waits behind the others
            active.status = RunStatus.QUEUED
        self._until(active, RunStatus.RUNNING if steps is None else RunStatus.PAUSED)
        self._changed(active)
        if active.status == RunStatus.FAILED:
            raise ValueError(active.reason)

    def _pause(self, folder: Path, command: dict) -> None:
        active = self._known(folder)
        if folder in self.loading or not active.loaded:
            return self._stop(folder, command)
        if active.status == RunStatus.RUNNING:
            self._careful(active, active.pause)
        else:
            active.status = RunStatus.PAUSED
        self._changed(active)
        return None

    def _stop(self, folder: Path, command: dict) -> None:
        active = self._known(folder)
        self._unload(active)
        if not active.status.final:
            self._careful(active, active.stop)
        self._changed(active)

    def _reset(self, folder: Path, command: dict) -> None:
        if folder in self.runs:
            self._stop(folder, command)
        self.ended.pop(folder, None)
        Run(folder).reset()

    def _speed(self, folder: Path, command: dict) -> None:
        check_float("speed", command.get("speed"), least=0.0)
        active = self._known(folder)
        active.speed, active.due = float(command["speed"]), 0.0

    def _status(self, folder: Path, command: dict) -> None:
        pass

    def _known(self, folder: Path) -> ActiveRun:
        if folder not in self.runs:
            raise Refusal(
                "{run} is not being trained here: its status is {status}",
                run=folder.name,
                status=self.state(folder)["status"],
            )
        return self.runs[folder]

    def _until(self, active: ActiveRun, status: RunStatus) -> None:
        """Work until a command has its effect, for at most half a second; not for a run that waits its turn."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while not active.status.final and active.status != status and time.monotonic() < deadline:
            self._admit()
            if active.status == RunStatus.QUEUED:
                return
            if active.folder in self.loading:
                wait([self.loading[active.folder]], timeout=deadline - time.monotonic())
            elif active.status == RunStatus.RUNNING:
                self._careful(active, active.slice)

    def _admit(self) -> None:
        for active in list(self.runs.values()):
            if active.folder in self.loading and self.loading[active.folder].done():
                self._careful(active, partial(self._loaded, active))
                self._changed(active)
            if active.status == RunStatus.QUEUED and self._busy() < limit("MINIGPT_RUNS_AT_ONCE"):
                if not active.loaded:
                    active.status = RunStatus.LOADING
                    self.loading[active.folder] = self.loader.submit(active.load)
                else:
                    active.status = RunStatus.PAUSED
                    self._careful(active, active.go)
                self._changed(active)

    def _loaded(self, active: ActiveRun) -> None:
        self.loading.pop(active.folder).result()
        self.counting.append((active, self.loader.submit(active.writer.write_baselines)))
        active.go()

    def _counted(self) -> None:
        """A run whose baselines cannot be written ends as by any other failed write."""
        done = [(active, future) for active, future in self.counting if future.done()]
        self.counting = [pair for pair in self.counting if pair not in done]
        for active, future in done:
            if self.runs.get(active.folder) is active:
                self._careful(active, future.result)
                if active.status.final:
                    self._changed(active)

    def _unload(self, active: ActiveRun) -> None:
        future = self.loading.pop(active.folder, None)
        if future is not None and not future.cancel():
            self._careful(active, future.result)

    def _busy(self) -> int:
        return sum(active.status in (RunStatus.LOADING, RunStatus.RUNNING) for active in self.runs.values())

    def _ready(self) -> ActiveRun | None:
        now = time.monotonic()
        return next(
            (active for active in self.runs.values() if active.status == RunStatus.RUNNING and active.due <= now), None
        )

    def _careful(self, active: ActiveRun, action: Callable[[], object]) -> None:
        """Whatever goes wrong with one run ends that run, with a sentence; the others go on."""
        try:
            action()
        except FAULTS as error:
            active.fail(sentence_of(error))
        except Exception as error:
            log.exception("unexpected error in the run %s", active.folder)
            active.fail(say("the training ended with an unexpected error: {error}", error=_first_line(error)))

    def _changed(self, active: ActiveRun) -> None:
        """Send the state of the run and of those that wait, drop it if it has ended, make room among the paused."""
        if active.status.final and active.folder in self.runs:
            self.ended[active.folder] = self.runs.pop(active.folder)
        queue = [other for other in self.runs.values() if other.status == RunStatus.QUEUED and other is not active]
        for other in [active, *queue]:
            self.tell(self.state(other.folder))
        paused = [other for other in self.runs.values() if other.status == RunStatus.PAUSED]
        if len(paused) > limit("MINIGPT_RUNS_PAUSED"):
            self._careful(paused[0], paused[0].stop)
            self._changed(paused[0])


def _first_line(error: Exception) -> str:
    """An error that was not foreseen: its type, and the first line of its message if it has one.

    >>> _first_line(KeyError("width"))
    "KeyError: 'width'"
    """
    lines = str(error).splitlines()
    return type(error).__name__ + (f": {lines[0]}" if lines else "")


def _refused(sentence: str) -> dict[str, Any]:
    return {"error": sentence} | _parts("error_parts", sentence)


def _message(folder: Path, status: RunStatus, step: int | None, place: int, reason: str) -> dict[str, Any]:
    message = {"run": str(folder), "status": status, "step": step, "place": place, "reason": reason}
    return message | _parts("reason_parts", reason)


def _parts(key: str, sentence: str) -> dict[str, Any]:
    """Template and values beside the English sentence, for a page in another language."""
    return {key: sentence.to_json()} if isinstance(sentence, Sentence) else {}
