"""The server's side of the trainer process: start it, ask it, know the state of each run. Imports no torch."""

import contextlib
import itertools
import json
import queue
import subprocess
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from minigpt.sentences import Refusal, say, sentence_from
from minigpt.storage.subprocesses import end, spawn
from minigpt.training.runs.info import RunStatus

ENDED = say("the trainer process ended; try again")
PATIENCE = 30.0  # seconds for an answer of a process that is still starting; a warm one takes under one


@dataclass(frozen=True)
class RunState:
    """The state of a run in the trainer. `interrupted`: the process ended while it had the run; start it to go on."""

    run: str  # absolute folder
    status: RunStatus
    step: int | None = None
    place: int = 0  # in the queue, from 1; 0 = not waiting
    reason: str = ""  # of a failure; a Sentence if its parts are known


class NoAnswerError(Refusal, TimeoutError):
    """The trainer process does not answer."""


class Trainer:
    """One trainer process, started at once and again by the next command after it died. Thread-safe."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._lock = threading.Lock()  # of process and the dictionaries below
        self._answers: dict[int, tuple[subprocess.Popen[str], queue.SimpleQueue[dict[str, Any]]]] = {}
        self._states: dict[str, RunState] = {}
        self._process: subprocess.Popen[str] | None = None
        self.warm()

    def warm(self) -> None:
        """See that the process runs; returns at once, the process needs a second or two to be ready."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = spawn("minigpt.training.server.process", answers=True)
                threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def ask(self, command: str, run: str | Path, **values: float) -> RunState:
        """Do start, play, pause, step, stop, reset, speed (speed=steps a second, 0 = full) or status on a run.

        Raises ValueError with the trainer's sentence when it refuses, and TimeoutError when the
        process does not answer.
        """
        number, box = next(self._ids), queue.SimpleQueue[dict[str, Any]]()
        line = json.dumps({"id": number, "command": command, "run": str(Path(run).absolute())} | values) + "\n"
        self.warm()
        with self._lock:
            process = self._process
            assert process is not None and process.stdin is not None  # `warm` has started it
            self._answers[number] = (process, box)
            with contextlib.suppress(BrokenPipeError):  # the listener sees the end and answers
                process.stdin.write(line)
                process.stdin.flush()
        try:
            answer = box.get(timeout=PATIENCE)
        except queue.Empty as error:
            raise NoAnswerError(
                "the trainer process did not answer within {seconds:.0f} s", seconds=PATIENCE
            ) from error
        finally:
            with self._lock:
                self._answers.pop(number, None)
        if "error" in answer:
            raise Refusal(sentence_from(answer["error"], answer.get("error_parts")))
        return _state(answer)

    def state(self, run: str | Path) -> RunState | None:
        """The state of a run by the last message, without asking; None for a run never mentioned."""
        with self._lock:
            return self._states.get(str(Path(run).absolute()))

    def close(self, seconds: float = 10.0) -> None:
        """End the process as the end of the server does: its runs can be resumed afterwards."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            end(process, seconds)

    @property
    def pid(self) -> int | None:
        """The id of the process, None when none was started."""
        return self._process.pid if self._process else None

    def _listen(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            self._note(json.loads(line))
        process.wait()
        with self._lock:
            for run, state in self._states.items():
                if state.status.in_trainer:
                    self._states[run] = replace(state, status=RunStatus.INTERRUPTED, place=0)
            for asked, box in self._answers.values():
                if asked is process:
                    box.put({"error": ENDED, "error_parts": ENDED.to_json()})

    def _note(self, message: dict[str, Any]) -> None:
        with self._lock:
            if "run" in message:
                self._states[message["run"]] = _state(message)
            asked = self._answers.get(message.get("id", 0))
        if asked is not None:
            asked[1].put(message)


def _state(message: dict[str, Any]) -> RunState:
    reason = sentence_from(message["reason"], message.get("reason_parts"))
    return RunState(message["run"], RunStatus(message["status"]), message["step"], message["place"], reason)
