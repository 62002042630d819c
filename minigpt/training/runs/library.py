"""The run library: the runs made on the pages, their ids, and which browser made them.

    runs/3fa2c1-9b0d77e2c4f10a55/label.json    who made the run, when, and its name
    runs/3fa2c1-9b0d77e2c4f10a55/run.json ...  the run itself

An id cannot be guessed (minigpt.storage.owned), so its link is what shares a run. A run of the command line in
this folder has no label: it belongs to all who use this server.
"""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from minigpt.sentences import Refusal
from minigpt.storage.owned import OwnedFolders, checked_id, is_new_id, mark

LABEL_FILE = "label.json"
NAME_CHARACTERS = 60


@dataclass(frozen=True)
class RunLabel:
    """Who made a run, and its name. `owner` is a mark, `created` in seconds since 1970."""

    owner: str
    name: str
    created: float


RUNS = OwnedFolders("runs", RunLabel)


def run_folder(run_id: str) -> Path:
    """Where the run with this id is or would be. Raises ValueError for text that cannot be an id."""
    return RUNS.folder(run_id)


def runs_of(browser: str) -> list[str]:
    """Ids of the runs this browser made, the newest first."""
    return RUNS.ids_of(browser)


def put_label(run_id: str, browser: str, name: str = "") -> None:
    """Say who made a run. Raises ValueError for a name that is too long."""
    if len(name) > NAME_CHARACTERS:
        raise Refusal(
            "the name of a run has at most {most} characters, got {count}", most=NAME_CHARACTERS, count=len(name)
        )
    RUNS.write_label(run_id, RunLabel(mark(browser), name, time.time()))


def command_line_runs() -> list[str]:
    """Ids of the runs without a label, the newest first; those that a page made for a browser are never among them."""
    found = {}
    for path in RUNS.root.glob("*/run.json"):
        name = path.parent.name
        with contextlib.suppress(ValueError, OSError):  # a name that no link can hold, or deleted meanwhile
            if not is_new_id(checked_id(name)) and not (path.parent / LABEL_FILE).exists():
                found[name] = path.stat().st_mtime
    return sorted(found, key=lambda name: (-found[name], name))


def is_mine(run_id: str, browser: str) -> bool:
    """Whether this browser may control the run: it made the run, or the run has no label."""
    label = RUNS.label(run_id)
    return label is None or label.owner == mark(browser)
