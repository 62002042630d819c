"""JSON files that must hold one object, read with a bound on their size."""

import json
from pathlib import Path

from minigpt.sentences import Refusal

MOST_BYTES = 64 * 2**20


def bounded_text(path: Path) -> str:
    """The text of a file. Raises OSError, and ValueError for more than 64 MiB or no UTF-8."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise Refusal("it has {size:,} bytes, at most {most_bytes:,} are read", size=size, most_bytes=MOST_BYTES)
    return path.read_text(encoding="utf-8")


def read_object(path: Path) -> dict:
    """The object in a JSON file.

    Raises ValueError for a file that is missing, larger than 64 MiB, no UTF-8, no JSON, or JSON of another kind.
    """
    try:
        value = json.loads(bounded_text(path))
    except OSError as error:
        raise Refusal("{path} cannot be read: {strerror}", path=path, strerror=error.strerror) from error
    except (ValueError, RecursionError) as error:
        raise Refusal("{path} cannot be used: {error}", path=path, error=error) from error
    if not isinstance(value, dict):
        raise Refusal("{path} must hold one JSON object, got {value!r:.60}", path=path, value=value)
    return value
