"""JSON files that must hold one object, read with a bound on their size."""

import json
from pathlib import Path

MOST_BYTES = 64 * 2**20


def bounded_text(path: Path) -> str:
    """The text of a file. Raises OSError, and ValueError for more than 64 MiB or no UTF-8."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"it has {size:,} bytes, at most {MOST_BYTES:,} are read")
    return path.read_text(encoding="utf-8")


def read_object(path: Path) -> dict:
    """The object in a JSON file.

    Raises ValueError for a file that is missing, larger than 64 MiB, no UTF-8, no JSON, or JSON of another kind.
    """
    try:
        value = json.loads(bounded_text(path))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} must hold one JSON object, got {value!r:.60}")
    return value
