"""What the browser reads of a packed payload."""

import json
from typing import Any

import numpy as np

from minigpt.ui.components.packing import KINDS


def unpack(payload: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the flat arrays of a payload."""
    length = int.from_bytes(payload[:4], "little")
    header = json.loads(payload[4 : 4 + length])
    body = payload[4 + length + (-(4 + length) % 8) :]
    arrays = {
        name: np.frombuffer(body, KINDS[kind], count, offset)
        for name, (kind, offset, count) in header["arrays"].items()
    }
    return header, arrays
