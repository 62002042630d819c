"""The server's side of the trainer process: start it, ask it, know how each run stands. Imports no torch."""

import contextlib
import itertools
import json
import queue
import subprocess
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from minigpt.storage.subprocesses import end, spawn

PATIENCE = 30.0  # seconds for an answer of a process that is still starting; a warm one takes under one


@dataclass(frozen=True)
class Standing:
    """How a run stands in the trainer. `interrupted`: the process ended under it; start it to go on."""

    run: str  # absolute folder
    status: str  # queued, loading, running, paused, stopped, finished, failed, created, interrupted
    step: int | None = None
    place: int = 0  # in the queue, from 1; 0 = not waiting
    reason: str = ""


class Trainer:
    """One trainer process, started at once and again by the next command after it died. Thread-safe."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._lock = threading.Lock()  # of process and the dictionaries below
        self._answers: dict[int, tuple[subprocess.Popen, queue.SimpleQueue]] = {}
        self._standings: dict[str, Standing] = {}
        self._process: subprocess.Popen | None = None
        self.warm()

    def warm(self) -> None:
        """See that the process runs; returns at once, the process needs a second or two to be ready."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = spawn("minigpt.training.server.process", answers=True)
                threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def ask(self, command: str, run: str | Path, **values) -> Standing:
        """Do start, play, pause, step, stop, reset, speed (speed=steps a second, 0 = full) or status on a run.

        Raises ValueError with the trainer's sentence when it refuses, and TimeoutError when the
        process does not answer.
        """
        number, box = next(self._ids), queue.SimpleQueue()
        line = json.dumps({"id": number, "command": command, "run": str(Path(run).absolute())} | values) + "\n"
        self.warm()
        with self._lock:
            self._answers[number] = (self._process, box)
            with contextlib.suppress(BrokenPipeError):  # the listener sees the end and answers
                self._process.stdin.write(line)
                self._process.stdin.flush()
        try:
            answer = box.get(timeout=PATIENCE)
        except queue.Empty as error:
            raise TimeoutError(f"the trainer process gave no answer within {PATIENCE:.0f} s") from error
        finally:
            with self._lock:
                self._answers.pop(number, None)
        if "error" in answer:
            raise ValueError(answer["error"])
        return _standing(answer)

    def standing(self, run: str | Path) -> Standing | None:
        """How a run stands by the last message, without asking; None for a run never mentioned."""
        with self._lock:
            return self._standings.get(str(Path(run).absolute()))

    def close(self, seconds: float = 10.0) -> None:
        """End the process as the end of the server does: its runs can be resumed afterwards."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        end(process, seconds)

    @property
    def pid(self) -> int | None:
        """The id of the process, None when none was started."""
        return self._process.pid if self._process else None

    def _listen(self, process: subprocess.Popen) -> None:
        for line in process.stdout:
            self._note(json.loads(line))
        process.wait()
        with self._lock:
            for run, standing in self._standings.items():
                if standing.status in ("queued", "loading", "running", "paused"):
                    self._standings[run] = replace(standing, status="interrupted", place=0)
            for asked, box in self._answers.values():
                if asked is process:
                    box.put({"error": "the trainer process ended; try again"})

    def _note(self, message: dict) -> None:
        with self._lock:
            if "run" in message:
                self._standings[message["run"]] = _standing(message)
            _, box = self._answers.get(message.get("id"), (None, None))
        if box is not None:
            box.put(message)


def _standing(message: dict) -> Standing:
    return Standing(**{name: message[name] for name in ("run", "status", "step", "place", "reason")})
