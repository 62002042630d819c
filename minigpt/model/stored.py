"""Tensors in safetensors files: what a file holds by its head alone, and its numbers, mapped into memory.

A mapped tensor takes no memory of its own: the system reads its pages when they are first used, and shares
them with its cache of the file. So the file must stay as it is while the tensor is in use; replacing it by
another of the same name (a rename) is safe, writing into it is not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

FLOATS = ("F64", "F32", "F16", "BF16")  # safetensors' names of the dtypes that a weight may have


@dataclass(frozen=True)
class StoredTensor:
    """A tensor in a file. `kind` is safetensors' name of its dtype."""

    path: Path
    name: str
    shape: tuple[int, ...]
    kind: str


def stored_tensors(path: Path) -> list[StoredTensor]:
    """What a file holds. Raises ValueError for a file that is damaged, cut off or of another kind."""
    with _opened(path) as file:
        slices = {name: file.get_slice(name) for name in file.keys()}
        return [StoredTensor(path, name, tuple(one.get_shape()), one.get_dtype()) for name, one in slices.items()]


def mapped_tensors(stored: Iterable[StoredTensor], dtype: torch.dtype) -> list[torch.Tensor]:
    """The tensors, in the order given, mapped where they are stored in `dtype`; else a copy in `dtype`.

    Halves are widened exactly, float64 is rounded to float32.
    """
    stored = list(stored)
    files = {path: _opened(path) for path in {one.path for one in stored}}
    return [files[one.path].get_tensor(one.name).to(dtype) for one in stored]


def _opened(path: Path) -> safe_open:
    try:
        return safe_open(path, framework="pt")
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a safetensors file, or is cut off: {error}") from error
