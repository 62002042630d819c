"""Processes beside the server: started with a low priority, and ended with the server at the latest.

The child's standard input is a pipe. It ends when the server ends, however that happens, and then the child ends too.
"""

import contextlib
import os
import subprocess
import sys

from minigpt.storage.paths import ROOT

NICENESS = 10
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}


def spawn(module: str, *arguments: str, answers: bool = False) -> subprocess.Popen[str]:
    """Start `python -m module`; with `answers`, its standard output is a pipe too.

    The priority is low from the first moment, so that imports of the child do not delay a page. The child is in a new
    session: Ctrl-C in the server's terminal does not reach it. Raises OSError when it cannot be started.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | _ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if answers else None,
        encoding="utf-8",
        start_new_session=os.name != "nt",
        creationflags=_windows_flags(),
    )
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
    return process


def _windows_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    return 0


def lower_priority() -> None:
    """In the child: low priority, also where `spawn` did not start it."""
    if hasattr(os, "nice"):
        os.nice(max(0, NICENESS - os.nice(0)))


def end(process: subprocess.Popen[str], seconds: float = 0.0) -> None:
    """End the child's input, give it some seconds to end by that, then kill it."""
    assert process.stdin is not None  # `spawn` makes it a pipe
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
