"""The trainer process: python -m minigpt.training.server.process

One JSON object a line comes in on standard input, {"id": 1, "command": "start", "run": "runs/x"}; one
answer with the same id goes out on standard output, as does {"event": "status", ...} at each change.
The process has low priority and one torch thread, and ends when its input ends: with its server.
"""

import json
import os
import queue
import sys
import threading
from typing import TextIO

import torch

from minigpt.storage.subprocesses import lower_priority
from minigpt.training.server.scheduler import Scheduler


def serve(commands: TextIO, answers: TextIO) -> None:
    """Answer and work until `commands` ends or `answers` is no longer read; every run is left to be resumed."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(commands, lines), daemon=True).start()

    def send(message: dict) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    scheduler = Scheduler(lambda state: send({"event": "status"} | state))
    try:
        send({"event": "ready", "pid": os.getpid()})
        while (line := _next(lines, scheduler)) is not None:
            send(_answer(scheduler, line))
    except BrokenPipeError:
        scheduler.tell = lambda state: None
    finally:
        scheduler.close()


def _next(lines: queue.SimpleQueue[str | None], scheduler: Scheduler) -> str | None:
    """The next command; the scheduler works meanwhile."""
    while True:
        pause = scheduler.wait()
        try:
            return lines.get(block=pause != 0, timeout=pause)
        except queue.Empty:
            scheduler.work()


def _answer(scheduler: Scheduler, line: str) -> dict:
    try:
        command = json.loads(line)
    except ValueError:
        command = None
    if not isinstance(command, dict):
        return {"id": None, "error": f"a command is one JSON object a line, got {line.strip()[:80]!r}"}
    return {"id": command.get("id")} | scheduler.answer(command)


def _read(commands: TextIO, lines: queue.SimpleQueue[str | None]) -> None:
    for line in commands:
        lines.put(line)
    lines.put(None)


if __name__ == "__main__":
    torch.set_num_threads(1)
    lower_priority()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is not an answer
    commands = os.fdopen(sys.stdin.fileno(), encoding="utf-8", closefd=False)
    try:
        serve(commands, answers)
    except BrokenPipeError:
        sys.exit(1)
