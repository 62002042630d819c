"""Payload of the canvas components: a JSON header and raw little-endian arrays in one byte string, so that no
digit is lost.

Layout: 4 bytes header length (uint32), the UTF-8 JSON header, zero bytes up to a multiple of 8, then the
arrays, each padded to a multiple of 8. The header's `arrays` maps a name to `[kind, offset, count]` with the
offset from the start of the byte string's array part; kinds are `f8`, `f4` and `u1`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from minigpt.sentences import Refusal

KINDS = {"f8": "<f8", "f4": "<f4", "u1": "|u1"}


def pack(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], changing: Mapping[str, Any]) -> bytes:
    """One payload; `changing` holds the header fields that need no repaint of the cells (selection, `seen`).

    The header gets a `version`, a digest of everything but `changing`, by which the browser knows what to
    repaint. Arrays are float64, float32 or uint8; others raise ValueError.
    """
    body = bytearray()
    table: dict[str, list[str | int]] = {}
    for name, array in arrays.items():
        kind = _kind(array)
        table[name] = [kind, len(body), int(array.size)]
        body += np.ascontiguousarray(array).astype(KINDS[kind], copy=False).tobytes()
        body += bytes(-len(body) % 8)
    fixed = json.dumps({**header, "arrays": table}, allow_nan=False)
    version = hashlib.blake2b(fixed.encode() + body, digest_size=12).hexdigest()
    text = json.dumps({**header, **changing, "arrays": table, "version": version}, allow_nan=False).encode()
    head = len(text).to_bytes(4, "little") + text
    return head + bytes(-len(head) % 8) + bytes(body)


def _kind(array: np.ndarray) -> str:
    if array.dtype.kind + str(array.dtype.itemsize) not in KINDS:
        raise Refusal("a payload array has dtype {dtype}; allowed are float64, float32 and uint8", dtype=array.dtype)
    return array.dtype.kind + str(array.dtype.itemsize)
