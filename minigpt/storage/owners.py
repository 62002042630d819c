"""Whose a thing on disk is: ids that nobody can guess, and the mark a browser's secret leaves.

What readers make lies in folders side by side: runs, corpora, imported models. The folder's name is its
id. It begins with six digits of the maker's mark, which is all that a list of one browser's things has
to look at; the rest cannot be guessed.
"""

import hashlib
import re
import secrets
from collections.abc import Callable
from pathlib import Path

from minigpt.sentences import Refusal

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def mark(browser: str) -> str:
    """What a browser's secret leaves on its things: 32 hex digits that do not tell the secret."""
    return hashlib.sha256(browser.encode()).hexdigest()[:32]


def new_id(browser: str) -> str:
    """An unused id for a thing of this browser, as 3fa2c1-9b0d77e2c4f10a55."""
    return f"{mark(browser)[:6]}-{secrets.token_hex(8)}"


def is_new_id(id: str) -> bool:
    """Whether `id` looks as if `new_id` made it."""
    return re.fullmatch("[0-9a-f]{6}-[0-9a-f]{16}", id) is not None


def checked_id(id: str, kind: str) -> str:
    """`id`, which can be a folder's name; ValueError that names the `kind` ("run") for any other text."""
    if not _ID.fullmatch(id):
        raise Refusal(
            "a {kind} id has letters, digits, '.', '_' and '-', at most 100, got {id!r:.120}", kind=kind, id=id
        )
    return id


def made_by(browser: str, shelf: Path, label_of: Callable) -> list[str]:
    """Ids of the folders in `shelf` that this browser made, the newest first.

    `label_of(folder)` has `owner` and `created`, or is None for a folder without a label.
    """
    found = {}
    for folder in shelf.glob(f"{mark(browser)[:6]}-*"):
        label = label_of(folder)
        if label is not None and label.owner == mark(browser):
            found[folder.name] = label.created
    return sorted(found, key=lambda id: (-found[id], id))
