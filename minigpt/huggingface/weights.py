"""Weights of a Hugging Face GPT-2 folder into a MiniGPT and back: equal logits, by other names.

Our matrices are [inputs, outputs], and so are GPT-2's (`Conv1D`), Q, K and V side by side in one matrix in
both: nothing is transposed but a head that is not tied. Only safetensors files are read; nothing is ever
unpickled.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file

from minigpt.config import ModelConfig
from minigpt.huggingface.config import CONFIG_FILE, config_object, joined, read_config
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import shape_only
from minigpt.model.size_limits import check_model
from minigpt.sentences import Refusal, Sentence, say
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import read_object
from minigpt.storage.tensors import FLOATS, StoredTensor, mapped_tensors, stored_tensors

WEIGHTS = "model.safetensors"
HEAD = "lm_head.weight"
INDEX = "model.safetensors.index.json"
_OUTSIDE = {
    "token_embedding": "wte.weight",
    "position_embedding": "wpe.weight",
    "final_norm.weight": "ln_f.weight",
    "final_norm.bias": "ln_f.bias",
    "head": HEAD,
}
_INSIDE = {
    "norm1.weight": "ln_1.weight",
    "norm1.bias": "ln_1.bias",
    "norm2.weight": "ln_2.weight",
    "norm2.bias": "ln_2.bias",
    "attention.qkv": "attn.c_attn.weight",
    "attention.qkv_bias": "attn.c_attn.bias",
    "attention.output": "attn.c_proj.weight",
    "attention.output_bias": "attn.c_proj.bias",
    "ffn.w1": "mlp.c_fc.weight",
    "ffn.b1": "mlp.c_fc.bias",
    "ffn.w2": "mlp.c_proj.weight",
    "ffn.b2": "mlp.c_proj.bias",
}
_PREFIX = "transformer."  # of all names but the head's, where the folder holds a model with a head
_BUFFER = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)")  # the causal mask, which older files store
_NAMED = 8  # tensors that an error lists of each kind; it counts the others


def load_gpt2(folder: str | Path, dtype: str = "float32") -> MiniGPT:
    """The model in a Hugging Face GPT-2 folder, in evaluation mode, its weights in `dtype`.

    Weights stored in `dtype` are mapped, not copied: opening takes neither time nor memory, and the
    file must stay unchanged while the model is in use (see `storage/tensors.py`). Weights of another dtype are copied,
    float64 rounded to float32. Raises ValueError before memory is taken: as `read_config` does, for a
    folder without safetensors weights, and one that names every tensor that is missing, unexpected or of
    another shape than the config says; and for a tied head that differs from the token table.
    """
    folder = Path(folder)
    plan, kind = _plan(folder, dtype), getattr(torch, dtype)
    read = mapped_tensors((plan.stored[theirs] for theirs, _ in plan.wanted.values()), kind)
    tensors = dict(zip(plan.wanted, read, strict=True))
    if "head" in tensors:
        tensors["head"] = tensors["head"].T.contiguous()
    elif HEAD in plan.stored:
        _check_tied(folder, tensors["token_embedding"], *mapped_tensors([plan.stored[HEAD]], kind))
    plan.model.load_state_dict(tensors, strict=True, assign=True)
    return plan.model.eval()


def check_gpt2(folder: str | Path, dtype: str = "float32") -> ModelConfig:
    """The config of the model in a folder, when `load_gpt2` can read it: names, shapes and types fit.

    Only the heads of the files are read. Raises ValueError as `load_gpt2` does, but for a tied head that differs.
    """
    return _plan(Path(folder), dtype).model.config


def save_gpt2(folder: str | Path, model: MiniGPT, ids: dict[str, int] | None = None) -> None:
    """Write `model` into an existing folder as Hugging Face keeps a GPT-2: config.json and model.safetensors.

    The weights keep their dtype. Attention without biases gets biases of zero, which is the same function.
    `ids`, such as `eos_token_id`, go into config.json. Raises ValueError with the reasons for a model that
    GPT-2's architecture cannot hold, before anything is written.
    """
    content = config_object(model.config) | (ids or {})
    save_file(published_tensors(model), Path(folder) / WEIGHTS, metadata={"format": "pt"})
    write_atomic(Path(folder) / CONFIG_FILE, (json.dumps(content, indent=2) + "\n").encode())


def published_tensors(model: MiniGPT) -> dict[str, torch.Tensor]:
    """The weights by GPT-2's names; they share memory with the model where nothing changes."""
    width = model.config.width
    tensors = {}
    for ours, tensor in model.state_dict().items():
        theirs = _published(ours)
        tensors[theirs if ours == "head" else _PREFIX + theirs] = tensor.T.contiguous() if ours == "head" else tensor
    if not model.config.attention_bias:
        for block in range(model.config.layers):
            for name, size in (("c_attn", 3 * width), ("c_proj", width)):
                zeros = torch.zeros(size, dtype=model.token_embedding.dtype)
                tensors[f"{_PREFIX}h.{block}.attn.{name}.bias"] = zeros
    return tensors


def _published(ours: str) -> str:
    """GPT-2's name of a parameter: `blocks.3.ffn.w1` is `h.3.mlp.c_fc.weight`."""
    if ours in _OUTSIDE:
        return _OUTSIDE[ours]
    _, block, inner = ours.split(".", 2)
    return f"h.{block}.{_INSIDE[inner]}"


@dataclass(frozen=True)
class _Plan:
    """What will be read: checked names and shapes, nothing of the numbers yet."""

    model: MiniGPT  # without memory
    wanted: dict[str, tuple[str, torch.Tensor]]  # for each of our names, GPT-2's and a shape-only tensor as it is there
    stored: dict[str, StoredTensor]  # by GPT-2's name without prefix


def _plan(folder: Path, dtype: str) -> _Plan:
    config = read_config(folder, dtype)
    check_model(config)
    model = shape_only(config)
    shapes = model.state_dict().items()
    wanted = {ours: (_published(ours), tensor.T if ours == "head" else tensor) for ours, tensor in shapes}
    plan = _Plan(model, wanted, _stored(folder))
    faults = _faults(plan)
    if faults:
        raise Refusal(
            "the weights in {folder} do not fit its {config_file}: {faults}",
            folder=folder,
            config_file=CONFIG_FILE,
            faults=joined(faults),
        )
    return plan


def _stored(folder: Path) -> dict[str, StoredTensor]:
    """Where each tensor lies, by its name without prefix. Masks are left out."""
    placed: dict[str, StoredTensor] = {}
    for path in weight_files(folder):
        for stored in stored_tensors(path):
            short = stored.name.removeprefix(_PREFIX)
            if short in placed:
                raise Refusal(
                    "{folder} has {tensor} twice, as {first} and as {second}",
                    folder=folder,
                    tensor=short,
                    first=placed[short].name,
                    second=stored.name,
                )
            placed[short] = stored
    return {short: stored for short, stored in placed.items() if not _BUFFER.fullmatch(short)}


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder: one, or those that the index of a sharded model names."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if (folder / INDEX).is_file():
        placed = read_object(folder / INDEX).get("weight_map")
        if not isinstance(placed, dict) or not all(isinstance(name, str) for name in placed.values()):
            raise Refusal(
                "{path} is damaged: its weight_map must give a file name for each tensor", path=folder / INDEX
            )
        names = sorted(set(placed.values()))
        for name in names:
            if Path(name).name != name or not (folder / name).is_file():
                raise Refusal(
                    "{path} names the file {name!r:.80}, which is not in the folder", path=folder / INDEX, name=name
                )
        return [folder / name for name in names]
    if any(folder.glob("*.bin")) or any(folder.glob("*.h5")) or any(folder.glob("*.msgpack")):
        raise Refusal(
            "{folder} has its weights in another format than {weights}; a pickle is never "
            "opened here. Convert it once, where you trust it, with transformers: "
            "GPT2LMHeadModel.from_pretrained(folder).save_pretrained(new_folder)",
            folder=folder,
            weights=WEIGHTS,
        )
    raise Refusal("{folder} has no weights: it needs {weights}", folder=folder, weights=WEIGHTS)


def _faults(plan: _Plan) -> list[Sentence]:
    """Everything that does not fit, a sentence for each kind and each tensor."""
    expected = {theirs: tuple(tensor.shape) for theirs, tensor in plan.wanted.values()}
    if plan.model.config.tied_head and HEAD in plan.stored:  # some writers store the tied matrix twice
        expected[HEAD] = expected[_OUTSIDE["token_embedding"]]
    missing, unexpected = expected.keys() - plan.stored.keys(), plan.stored.keys() - expected.keys()
    faults = [_listed(say("these tensors are missing"), missing)] if missing else []
    if unexpected:
        faults.append(_listed(say("these tensors are unexpected"), (plan.stored[name].name for name in unexpected)))
    found = (_misfit(plan.stored[name], shape) for name, shape in expected.items() if name in plan.stored)
    misfits = sorted(misfit for misfit in found if misfit)
    more = [say("{count} more do not fit", count=len(misfits) - _NAMED)] if len(misfits) > _NAMED else []
    return faults + misfits[:_NAMED] + more


def _misfit(stored: StoredTensor, shape: tuple[int, ...]) -> Sentence | None:
    if stored.shape != shape:
        return say("{name} has the shape {got}, it must be {shape}", name=stored.name, got=stored.shape, shape=shape)
    if stored.kind in FLOATS:
        return None
    allowed = ", ".join(FLOATS)
    return say(
        "{name} has the type {kind}, it must be one of {allowed}", name=stored.name, kind=stored.kind, allowed=allowed
    )


def _listed(fault: Sentence, names: Iterable[str]) -> Sentence:
    names = sorted(names)
    shown = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        return say("{fault}: {names} and {more} more", fault=fault, names=shown, more=len(names) - _NAMED)
    return say("{fault}: {names}", fault=fault, names=shown)


def _check_tied(folder: Path, table: torch.Tensor, head: torch.Tensor) -> None:
    if not torch.equal(table, head):
        difference = (table - head).abs().max().item()
        raise Refusal(
            "{folder}: {config_file} ties the head to the token table, but lm_head.weight "
            "differs from wte.weight by up to {difference:.3g}; set tie_word_embeddings to false "
            "if the head has weights different from the table",
            folder=folder,
            config_file=CONFIG_FILE,
            difference=difference,
        )
