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
from minigpt.training.server.scheduler import Desk


def serve(commands: TextIO, answers: TextIO) -> None:
    """Answer and work until `commands` ends or nobody reads `answers`; every run is left to be resumed."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(commands, lines), daemon=True).start()

    def send(message: dict) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    desk = Desk(lambda standing: send({"event": "status"} | standing))
    try:
        send({"event": "ready", "pid": os.getpid()})
        while (line := _next(lines, desk)) is not None:
            send(_answer(desk, line))
    except BrokenPipeError:
        desk.tell = lambda standing: None
    finally:
        desk.close()


def _next(lines: queue.SimpleQueue, desk: Desk) -> str | None:
    """The next command; the desk works meanwhile."""
    while True:
        pause = desk.wait()
        try:
            return lines.get(block=pause != 0, timeout=pause)
        except queue.Empty:
            desk.work()


def _answer(desk: Desk, line: str) -> dict:
    try:
        command = json.loads(line)
    except ValueError:
        command = None
    if not isinstance(command, dict):
        return {"id": None, "error": f"a command is one JSON object a line, got {line.strip()[:80]!r}"}
    return {"id": command.get("id")} | desk.answer(command)


def _read(commands: TextIO, lines: queue.SimpleQueue) -> None:
    for line in commands:
        lines.put(line)
    lines.put(None)


if __name__ == "__main__":
    torch.set_num_threads(1)
    lower_priority()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    sys.stdin.reconfigure(encoding="utf-8")
    try:
        serve(sys.stdin, answers)
    except BrokenPipeError:
        sys.exit(1)
