"""The runs that one trainer process holds: who steps now, who waits, and what a command does.

A run goes on to its last step whether somebody looks or not. At most MINIGPT_RUNS_AT_ONCE runs step
in turn; the others wait in the order they came and are told their place. Paused runs stay in memory,
up to MINIGPT_RUNS_PAUSED. Whatever ends the process leaves runs that can be resumed.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from minigpt.limits import limit
from minigpt.sentences import Refusal
from minigpt.training.loop import DivergedError
from minigpt.training.runs.run import Run
from minigpt.training.server.active_run import Held
from minigpt.validation import check_choice, check_float

ANSWER_SECONDS = 0.5  # an answer waits this long for the new state, then it tells the old one
COMMANDS = ("start", "play", "step", "pause", "stop", "reset", "speed", "status")
FAULTS = (DivergedError, OSError, ValueError)  # their messages are sentences for the reader
log = logging.getLogger(__name__)  # to standard error


class Desk:
    """Answers commands and works on the held runs. `tell` receives each change of status as an object."""

    def __init__(self, tell: Callable[[dict], None]):
        self.tell = tell
        self.held: dict[Path, Held] = {}  # whose turn is next stands first
        self.loading: dict[Path, Future] = {}
        self.counting: list[tuple[Held, Future]] = []  # baselines, beside the first steps
        self.ended: dict[Path, Held] = {}  # how the last try of a run ended
        self.loader = ThreadPoolExecutor(max_workers=1)

    def answer(self, command: dict) -> dict:
        """Do {"command": ..., "run": folder, ...}; how the run stands then, or {"error": one sentence}."""
        try:
            check_choice("command", command.get("command"), COMMANDS)
            if not isinstance(command.get("run"), str):
                raise Refusal("a command needs the run folder as text, got {get!r}", get=command.get("run"))
            folder = Path(command["run"]).absolute()
            getattr(self, f"_{command['command']}")(folder, command)
            return self.standing(folder)
        except (ValueError, OSError) as error:
            return {"error": str(error)}
        except Exception as error:
            log.exception("unexpected error in the command %r", command)
            return {"error": _unexpected("the command failed", error)}

    def standing(self, folder: Path) -> dict:
        """status, step (None when not in memory), place in the queue (0 = not waiting), reason of a failure."""
        held = self.held.get(folder, self.ended.get(folder))
        if held is None:
            run = Run(folder)
            return _standing(folder, run.status, None, 0, run.info.reason)
        queue = [other.folder for other in self.held.values() if other.status == "queued"]
        place = 1 + queue.index(folder) if folder in queue else 0
        return _standing(folder, held.status, held.step, place, held.reason)

    def wait(self) -> float | None:
        """Seconds until there is work, 0 = now; None = not before the next command."""
        if self.loading:
            return 0.0 if self._ready() else 0.01
        due = [held.due for held in self.held.values() if held.status == "running"]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def work(self) -> None:
        """Let in those that have room, then step the run whose turn it is for one slice."""
        self._counted()
        self._admit()
        held = self._ready()
        if held:
            self.held[held.folder] = self.held.pop(held.folder)  # to the end of the round
            before = held.status
            self._careful(held, held.slice)
            if held.status != before:
                self._changed(held)

    def close(self) -> None:
        """Leave every run to be resumed."""
        for future in self.loading.values():
            future.cancel()
        self.loader.shutdown(cancel_futures=True)
        for held in list(self.held.values()):
            self._careful(held, held.stop)
            self._changed(held)

    def _start(self, folder: Path, command: dict) -> None:
        self._go(folder, command, steps=None)

    _play = _start

    def _step(self, folder: Path, command: dict) -> None:
        self._go(folder, command, steps=1)

    def _go(self, folder: Path, command: dict, steps: int | None) -> None:
        held = self.held.get(folder)
        if held is None:
            if Run(folder).status == "finished":
                raise Refusal("{name} is finished; reset it to train it again", name=folder.name)
            held = self.held[folder] = Held(folder)
            self.ended.pop(folder, None)
        if "speed" in command:
            self._speed(folder, command)
        pending = held.steps_left if steps else None  # of a step asked for and not yet done
        held.steps_left = steps if pending is None else pending + steps
        if held.status == "paused":
            self.held[folder] = self.held.pop(folder)  # the last to come waits behind the others
            held.status = "queued"
        self._until(held, ("running",) if steps is None else ("paused",))
        self._changed(held)
        if held.status == "failed":
            raise ValueError(held.reason)

    def _pause(self, folder: Path, command: dict) -> None:
        held = self._known(folder)
        if folder in self.loading or held.recorder is None:
            return self._stop(folder, command)
        if held.status == "running":
            self._careful(held, held.pause)
        else:
            held.status = "paused"
        self._changed(held)
        return None

    def _stop(self, folder: Path, command: dict) -> None:
        held = self._known(folder)
        self._unload(held)
        if not held.over:
            self._careful(held, held.stop)
        self._changed(held)

    def _reset(self, folder: Path, command: dict) -> None:
        if folder in self.held:
            self._stop(folder, command)
        self.ended.pop(folder, None)
        Run(folder).reset()

    def _speed(self, folder: Path, command: dict) -> None:
        check_float("speed", command.get("speed"), least=0.0)
        held = self._known(folder)
        held.speed, held.due = float(command["speed"]), 0.0

    def _status(self, folder: Path, command: dict) -> None:
        pass

    def _known(self, folder: Path) -> Held:
        if folder not in self.held:
            raise Refusal(
                "{name} is not being trained here: it is {standing}",
                name=folder.name,
                standing=self.standing(folder)["status"],
            )
        return self.held[folder]

    def _until(self, held: Held, statuses: tuple[str, ...]) -> None:
        """Work until a command shows, for at most half a second; not for a run that waits its turn."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while not held.over and held.status not in statuses and time.monotonic() < deadline:
            self._admit()
            if held.status == "queued":
                return
            if held.folder in self.loading:
                wait([self.loading[held.folder]], timeout=deadline - time.monotonic())
            elif held.status == "running":
                self._careful(held, held.slice)

    def _admit(self) -> None:
        for held in list(self.held.values()):
            if held.folder in self.loading and self.loading[held.folder].done():
                self._careful(held, self._loaded, held)
                self._changed(held)
            if held.status == "queued" and self._busy() < limit("MINIGPT_RUNS_AT_ONCE"):
                if held.recorder is None:
                    held.status = "loading"
                    self.loading[held.folder] = self.loader.submit(held.load)
                else:
                    held.status = "paused"
                    self._careful(held, held.go)
                self._changed(held)

    def _loaded(self, held: Held) -> None:
        self.loading.pop(held.folder).result()
        self.counting.append((held, self.loader.submit(held.recorder.write_baselines)))
        held.go()

    def _counted(self) -> None:
        """A run whose baselines cannot be written ends as by any other failed write."""
        done = [(held, future) for held, future in self.counting if future.done()]
        self.counting = [pair for pair in self.counting if pair not in done]
        for held, future in done:
            if self.held.get(held.folder) is held:
                self._careful(held, future.result)
                if held.over:
                    self._changed(held)

    def _unload(self, held: Held) -> None:
        future = self.loading.pop(held.folder, None)
        if future is not None and not future.cancel():
            self._careful(held, future.result)

    def _busy(self) -> int:
        return sum(held.status in ("loading", "running") for held in self.held.values())

    def _ready(self) -> Held | None:
        now = time.monotonic()
        return next((held for held in self.held.values() if held.status == "running" and held.due <= now), None)

    def _careful(self, held: Held, action: Callable, *arguments) -> None:
        """Whatever goes wrong with one run ends that run, with a sentence; the others go on."""
        try:
            action(*arguments)
        except FAULTS as error:
            held.fail(str(error) or type(error).__name__)
        except Exception as error:
            log.exception("unexpected error in the run %s", held.folder)
            held.fail(_unexpected("the training ended", error))

    def _changed(self, held: Held) -> None:
        """Tell how the run stands and who waits where, let go of one that is over, make room among the paused."""
        if held.over and self.held.pop(held.folder, None):
            self.ended[held.folder] = held
        queue = [other for other in self.held.values() if other.status == "queued" and other is not held]
        for other in [held, *queue]:
            self.tell(self.standing(other.folder))
        paused = [other for other in self.held.values() if other.status == "paused"]
        if len(paused) > limit("MINIGPT_RUNS_PAUSED"):
            self._careful(paused[0], paused[0].stop)
            self._changed(paused[0])


def _unexpected(what: str, error: Exception) -> str:
    """One sentence for an error that nobody foresaw: its type, and the first line of its message if it has one.

    >>> _unexpected("the training ended", KeyError("width"))
    "the training ended with an unexpected error: KeyError: 'width'"
    """
    lines = str(error).splitlines()
    return f"{what} with an unexpected error: {type(error).__name__}" + (f": {lines[0]}" if lines else "")


def _standing(folder: Path, status: str, step: int | None, place: int, reason: str) -> dict:
    return {"run": str(folder), "status": status, "step": step, "place": place, "reason": reason}
