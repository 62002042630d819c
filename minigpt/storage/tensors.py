"""Tensors in safetensors files: what a file holds by its head alone, and its numbers, mapped into memory.

A mapped tensor takes no memory: the system reads its pages when they are first used, and shares
them with its cache of the file. So the file must stay as it is while the tensor is in use; replacing it by
another of the same name (a rename) is safe, writing into it is not.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from minigpt.sentences import Refusal, Sentence, say

KINDS = {"float64": "F64", "float32": "F32", "uint8": "U8"}  # safetensors' names of the dtypes in our own files
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
    with tensor_file(path, _no_tensors(path)) as file:
        slices = {name: file.get_slice(name) for name in file.keys()}
        return [StoredTensor(path, name, tuple(one.get_shape()), one.get_dtype()) for name, one in slices.items()]


def mapped_tensors(stored: Iterable[StoredTensor], dtype: torch.dtype) -> list[torch.Tensor]:
    """The tensors, in the order given, mapped where they are stored in `dtype`; else a copy in `dtype`.

    Halves are widened exactly, float64 is rounded to float32.
    """
    stored = list(stored)
    mapped = {}
    for path in {one.path for one in stored}:
        with tensor_file(path, _no_tensors(path)) as file:
            mapped[path] = {one.name: file.get_tensor(one.name) for one in stored if one.path == path}
    return [mapped[one.path][one.name].to(dtype) for one in stored]


def _no_tensors(path: Path) -> Sentence:
    return say("{path} is not a safetensors file, or is cut off", path=path)


@contextlib.contextmanager
def tensor_file(path: str | Path, fault: Sentence) -> Iterator[safe_open]:
    """A safetensors file, open. What its bytes make a reader raise becomes a ValueError: `fault`, the reason.

    That holds for all that is read inside the `with`, JSON in the metadata included; a ValueError that the
    caller raises is passed on as it is.
    """
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except KeyError as error:
        raise Refusal("{fault}: it lacks {name}", fault=fault, name=error) from error
    except (SafetensorError, OSError, TypeError, RecursionError, json.JSONDecodeError) as error:
        raise Refusal("{fault}: {error}", fault=fault, error=error) from error


def check_tensors(path: str | Path, file: safe_open, wanted: Mapping[str, torch.Tensor]) -> None:
    """Raises ValueError unless an open file holds tensors of exactly these names, shapes and dtypes."""
    found = set(file.keys())
    missing, unexpected = sorted(wanted.keys() - found), sorted(found - wanted.keys())
    if missing or unexpected:
        raise Refusal(
            "{path} lacks the tensors {missing} and has the unexpected ones {unexpected}",
            path=path,
            missing=missing,
            unexpected=unexpected,
        )
    for name, tensor in wanted.items():
        stored = file.get_slice(name)
        shape, kind, dtype = tuple(stored.get_shape()), stored.get_dtype(), str(tensor.dtype).removeprefix("torch.")
        if shape != tuple(tensor.shape):
            raise Refusal(
                "{path}: {name} has shape {shape}, the config says {expected}",
                path=path,
                name=name,
                shape=shape,
                expected=tuple(tensor.shape),
            )
        if kind != KINDS[dtype]:
            raise Refusal(
                "{path}: {name} is stored as {kind}, the config says {dtype}",
                path=path,
                name=name,
                kind=kind,
                dtype=dtype,
            )
