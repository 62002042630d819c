"""Things that readers make, each owned by a browser: ids that cannot be guessed, labels, and lists of them.

Runs, corpora and imported models are in one data folder each. The name of a thing is its id.
It begins with six digits of its owner's mark, which is all that a list of one browser's things has to look at; the
rest cannot be guessed. The label, a JSON file, says who owns it and since when.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.paths import data_folder

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class OwnerLabel(Protocol):
    """What each label says, a dataclass: `owner` is a browser's mark, `created` is in seconds since 1970."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def owner(self) -> str: ...

    @property
    def created(self) -> float: ...


L = TypeVar("L", bound=OwnerLabel)


def mark(browser: str) -> str:
    """What a browser's secret leaves on its things: 32 hex digits from which the secret cannot be computed."""
    return hashlib.sha256(browser.encode()).hexdigest()[:32]


def new_id(browser: str) -> str:
    """An unused id for a thing of this browser, as 3fa2c1-9b0d77e2c4f10a55."""
    return f"{mark(browser)[:6]}-{secrets.token_hex(8)}"


def is_new_id(name: str) -> bool:
    """Whether `name` looks as if `new_id` made it."""
    return re.fullmatch("[0-9a-f]{6}-[0-9a-f]{16}", name) is not None


def checked_id(name: str) -> str:
    """`name`, if it can be the name of a folder. Raises ValueError for any other text."""
    if not _ID.fullmatch(name):
        raise Refusal("an id has letters, digits, '.', '_' and '-', at most 100 in all, got {id!r:.120}", id=name)
    return name


@dataclass(frozen=True)
class OwnedFolders(Generic[L]):
    """All things of one kind, in the data folder `place`. `label_file` is where a thing's label is, by its id.

    `parse` makes the label from the fields of the JSON object; it may raise ValueError, TypeError or KeyError.
    """

    place: str  # "runs", "corpora" or "imports"
    parse: Callable[..., L]
    label_file: str = "{id}/label.json"

    @property
    def root(self) -> Path:
        """The folder that holds all of them."""
        return data_folder(self.place)

    def folder(self, name: str) -> Path:
        """Where the thing with this id is or would be. Raises ValueError for text that cannot be an id."""
        return self.root / checked_id(name)

    def label_path(self, name: str) -> Path:
        """Where the label of the thing with this id is or would be."""
        return self.root / self.label_file.format(id=checked_id(name))

    def label(self, name: str) -> L | None:
        """The label of a thing; None when it has none, or a damaged one."""
        try:
            return self.parse(**json.loads(self.label_path(name).read_bytes()))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def write_label(self, name: str, label: L) -> None:
        """Replace the label of a thing. Raises OSError when it cannot be written."""
        write_atomic(self.label_path(name), json.dumps(asdict(label)).encode())

    def ids_of(self, browser: str) -> list[str]:
        """Ids of the things that this browser made, the newest first."""
        found = {}
        for path in self.root.glob(self.label_file.format(id=f"{mark(browser)[:6]}-*")):
            name = path.relative_to(self.root).parts[0].removesuffix(".json")
            label = self.label(name)
            if label is not None and label.owner == mark(browser):
                found[name] = label.created
        return sorted(found, key=lambda name: (-found[name], name))
