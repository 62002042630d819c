"""Runs the app for the browser tests: on a free port, with a home folder of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Server:
    """A running app: where it answers and the file that holds what it printed."""

    url: str
    log: Path

    def printed(self, start: int = 0) -> str:
        """Return what the server printed from byte `start` on."""
        return self.log.read_bytes()[start:].decode("utf-8", errors="replace")


@contextlib.contextmanager
def serve(
    home: Path, root: Path = ROOT, seconds: float = 60, settings: dict[str, str] | None = None
) -> Iterator[Server]:
    """Run `streamlit run app.py` in `root` on a free port until the block ends, with `home` as home folder, which
    also takes the runs, corpora and imports of readers. `settings` are further environment variables.

    RuntimeError with the server's output when it ends or does not answer within `seconds`.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    command += ["--server.port", str(port), "--server.headless", "true", "--logger.enableRich", "false"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    env |= {"HOME": str(home), "USERPROFILE": str(home), "MINIGPT_RUNS": str(home / "runs")}
    env |= {"MINIGPT_CORPORA": str(home / "corpora"), "MINIGPT_IMPORTS": str(home / "imports")}
    env |= {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    env |= settings or {}
    server = Server(f"http://127.0.0.1:{port}", home / "server.log")
    with server.log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            _wait_for_health(process, server, seconds)
            yield server
        finally:
            _end(process)


def _wait_for_health(process: subprocess.Popen, server: Server, seconds: float) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        try:
            with opener.open(server.url + "/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    state = "still starting" if process.poll() is None else f"ended with code {process.returncode}"
    raise RuntimeError(f"the app does not answer after {seconds:.0f} s ({state}):\n{server.printed()}")


def _end(process: subprocess.Popen) -> None:
    """Stop the server with everything in its process group, and wait for it: a trainer still writes what it did."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + 10
        while _signal(process, number) and time.monotonic() < end:
            number = 0  # once is enough; from now on only whether somebody is left
            time.sleep(0.05)


def _signal(process: subprocess.Popen, number: int) -> bool:
    """Send a signal to the process group (0 sends nothing); whether anybody is in it."""
    process.poll()  # what has ended leaves the group only when it is asked for
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    return True
