"""The shelf: the folder that holds the runs made on the pages, their ids, and which browser made them.

    runs/3fa2c1-9b0d77e2c4f10a55/label.json    who made the run, when, and what it is called
    runs/3fa2c1-9b0d77e2c4f10a55/run.json ...  the run itself

An id cannot be guessed (minigpt.storage.owners), so its link is what shares a run. A run of the command line in
this folder has no label: it belongs to all who use this server.
"""

import contextlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.owners import checked_id, is_new_id, made_by, mark, new_id
from minigpt.storage.paths import data_folder

__all__ = ["Label", "command_line_runs", "is_mine", "mark", "new_id", "put_label", "read_label", "run_folder"]
__all__ += ["runs_of", "shelf"]

LABEL = "label.json"
NAME_CHARACTERS = 60


@dataclass(frozen=True)
class Label:
    """Whose a run is and what it is called. `owner` is a mark, `created` in seconds since 1970."""

    owner: str
    name: str
    created: float


def shelf() -> Path:
    """The folder of runs: MINIGPT_RUNS, or `runs` beside the program."""
    return data_folder("runs")


def run_folder(id: str) -> Path:
    """Where the run `id` lies or would lie. Raises ValueError for an id that is no plain file name."""
    return shelf() / checked_id(id, "run")


def put_label(folder: Path, browser: str, name: str = "") -> None:
    """Say whose the run in `folder` is. Raises ValueError for a name that is too long."""
    if len(name) > NAME_CHARACTERS:
        raise Refusal(
            "the name of a run has at most {name_characters} characters, got {count}",
            name_characters=NAME_CHARACTERS,
            count=len(name),
        )
    label = Label(mark(browser), name, time.time())
    write_atomic(folder / LABEL, json.dumps(asdict(label)).encode())


def read_label(folder: Path) -> Label | None:
    """The label of a run; None for a run without one, as the command line makes them."""
    try:
        return Label(**json.loads((folder / LABEL).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def runs_of(browser: str) -> list[str]:
    """Ids of the runs this browser made, the newest first."""
    return made_by(browser, shelf(), read_label)


def command_line_runs() -> list[str]:
    """Ids of the runs without a label, the newest first; those that a page made for a browser are never among them."""
    found = {}
    for path in shelf().glob("*/run.json"):
        id = path.parent.name
        with contextlib.suppress(ValueError, OSError):  # a name that no link can hold, or deleted meanwhile
            if not is_new_id(checked_id(id, "run")) and not (path.parent / LABEL).exists():
                found[id] = path.stat().st_mtime
    return sorted(found, key=lambda id: (-found[id], id))


def is_mine(id: str, browser: str) -> bool:
    """Whether this browser may steer the run: it made it, or the command line did and nobody is named."""
    label = read_label(run_folder(id))
    return label is None or label.owner == mark(browser)
