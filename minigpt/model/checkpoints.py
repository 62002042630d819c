"""Checkpoints: one safetensors file with the weights, the whole config, the step and the tokenizer's fingerprint.

Nothing is ever unpickled. Equal tensor shapes do not make a checkpoint fit (2 heads of 8 and 4 heads
of 4 have the same matrices), so config and tokenizer decide.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save

from minigpt.config import ModelConfig, from_dict, to_dict
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import shape_only
from minigpt.model.size_limits import building_bytes, check_model, one_at_a_time
from minigpt.sentences import Refusal, say
from minigpt.storage.atomic import write_atomic
from minigpt.storage.tensors import check_tensors, tensor_file

FORMAT = "minigpt-checkpoint-1"
_NO_CHECKPOINT = "is not a minigpt checkpoint"
_STEP_DIGITS = 18
_NORM_NAMES = {"weight": "scale", "bias": "offset"}  # no other parameter is called weight or bias


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model in evaluation mode, the step it was saved at, and the fingerprint of its tokenizer."""

    model: MiniGPT
    step: int
    tokenizer: str


def save_checkpoint(path: str | Path, model: MiniGPT, step: int, tokenizer: str) -> None:
    """Write `model` atomically. `tokenizer` is the fingerprint of the tokenizer its ids belong to."""
    about = {"format": FORMAT, "config": json.dumps(to_dict(model.config)), "step": str(step), "tokenizer": tokenizer}
    tensors = {stored_name(name): tensor.detach().contiguous() for name, tensor in model.state_dict().items()}
    write_atomic(Path(path), packed(tensors, about))


def stored_name(name: str) -> str:
    """A parameter's name in files: those of a norm are called scale and offset there.

    >>> stored_name("blocks.0.norm1.weight"), stored_name("blocks.0.ffn.w1")
    ('blocks.0.norm1.scale', 'blocks.0.ffn.w1')
    """
    owner, _, last = name.rpartition(".")
    return f"{owner}.{_NORM_NAMES[last]}" if last in _NORM_NAMES else name


def packed(tensors: dict[str, torch.Tensor], about: dict[str, str]) -> bytes:
    """The bytes of a safetensors file, the same for the same content: its writer shuffles the metadata."""
    content = save(tensors, metadata=about)
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header = {"__metadata__": dict(sorted(header.pop("__metadata__").items()))} | header
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # numbers stay aligned
    return len(text).to_bytes(8, "little") + text + content[start:]


def load_checkpoint(path: str | Path, config: ModelConfig | None = None, tokenizer: str | None = None) -> Checkpoint:
    """Read a checkpoint.

    Raises ValueError when the file is not a minigpt checkpoint or is damaged, when `config` or the
    `tokenizer` fingerprint differ (naming the fields or both fingerprints), and when a tensor is
    missing, unexpected or of another shape or dtype. Sizes are checked before memory is taken.
    """
    with tensor_file(path, say("{path} is not a minigpt checkpoint", path=path)) as file:
        about = file.metadata() or {}
        if about.get("format") != FORMAT:
            raise Refusal(
                "{path} {no_checkpoint} of format {format}", path=path, no_checkpoint=_NO_CHECKPOINT, format=FORMAT
            )
        stored, step = _config(path, about["config"]), _step(path, about["step"])
        _same_config(path, stored, config)
        if tokenizer is not None and about["tokenizer"] != tokenizer:
            raise Refusal(
                "{path} belongs to the tokenizer {about}, the one at hand is {tokenizer}",
                path=path,
                about=about["tokenizer"],
                tokenizer=tokenizer,
            )
        check_model(stored)
        model = shape_only(stored)
        wanted = model.state_dict()
        check_tensors(path, file, {stored_name(name): tensor for name, tensor in wanted.items()})
        # Copies: in memory of its own, a tensor takes part in products bit for bit as it did before it was saved.
        with one_at_a_time(building_bytes(stored)):
            tensors = {name: file.get_tensor(stored_name(name)).clone() for name in wanted}
        fingerprint = about["tokenizer"]
    model.load_state_dict(tensors, strict=True, assign=True)
    return Checkpoint(model.eval(), step, fingerprint)


def _config(path: str | Path, text: str) -> ModelConfig:
    try:
        return from_dict(ModelConfig, json.loads(text))
    except ValueError as error:
        raise Refusal(
            "{path} {no_checkpoint}: {error}", path=path, no_checkpoint=_NO_CHECKPOINT, error=error
        ) from error


def _step(path: str | Path, text: str) -> int:
    if not text.isdecimal() or len(text) > _STEP_DIGITS:
        raise Refusal(
            "{path} {no_checkpoint}: its step is {text!r:.60}", path=path, no_checkpoint=_NO_CHECKPOINT, text=text
        )
    return int(text)


def _same_config(path: str | Path, stored: ModelConfig, wanted: ModelConfig | None) -> None:
    if wanted is None or stored == wanted:
        return
    here, there = to_dict(stored), to_dict(wanted)
    differing = [f"{name} {here[name]} (wanted {there[name]})" for name in here if here[name] != there[name]]
    raise Refusal("{path} has another config: {differing}", path=path, differing=", ".join(differing))
