"""JSON files that must hold one object, read with a bound on their size; and files of one object a line."""

import json
from pathlib import Path
from typing import Any

from minigpt.sentences import Refusal

MOST_BYTES = 64 * 2**20


def bounded_text(path: Path) -> str:
    """The text of a file. Raises OSError, and ValueError for more than 64 MiB or text that is not UTF-8."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise Refusal("it has {size:,} bytes, at most {most:,} are read", size=size, most=MOST_BYTES)
    return path.read_text(encoding="utf-8")


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises ValueError for a file that is missing, larger than 64 MiB, not UTF-8, not JSON, or JSON of another kind.
    """
    try:
        value = json.loads(bounded_text(path))
    except OSError as error:
        raise Refusal("{path} cannot be read: {reason}", path=path, reason=error.strerror) from error
    except (ValueError, RecursionError) as error:
        raise Refusal("{path} cannot be used: {error}", path=path, error=error) from error
    if not isinstance(value, dict):
        raise Refusal("{path} must hold one JSON object, got {value!r:.60}", path=path, value=value)
    return value


def read_lines(path: Path, start: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The objects of the whole lines from byte `start` on, and the byte after them; nothing without a file.

    A line that is still being written is left for the next time. Raises ValueError that names the file for a line
    that is not a JSON object.
    """
    if not path.exists():
        return [], start
    with path.open("rb") as file:
        file.seek(start)
        content = file.read()
    end = content.rfind(b"\n") + 1
    return [_row(path, line) for line in content[:end].splitlines()], start + end


def _row(path: Path, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
    if not isinstance(row, dict):
        raise Refusal("{path} is damaged: each line must be an object, got {row!r:.60}", path=path, row=row)
    return row
