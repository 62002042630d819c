"""Checkpoints: bit-equal after a round trip, and refused whenever anything does not fit."""

import json
import pickle
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from minigpt.config import to_dict
from minigpt.model.checkpoints import FORMAT, load_checkpoint, save_checkpoint, stored_name
from minigpt.model.gpt import MiniGPT
from minigpt.tokenizers.byte_bpe import ByteBPE

IDS = torch.tensor([[3, 7, 7, 0, 19, 4]])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "step-000003.safetensors"


def write(path: Path, model: MiniGPT, tensors: dict | None = None, **changes) -> Path:
    """A file with the right metadata around any tensors, as somebody else might write it."""
    about = {"format": FORMAT, "config": json.dumps(to_dict(model.config)), "step": "3", "tokenizer": "abc"}
    tensors = dict(model.state_dict()) if tensors is None else tensors
    save_file(tensors, path, metadata=about | changes)
    return path


def test_round_trip_is_bit_equal(grid_model: MiniGPT, path: Path):
    save_checkpoint(path, grid_model.train(), 3, "abc")
    loaded = load_checkpoint(path, grid_model.config, "abc")
    assert (loaded.step, loaded.tokenizer) == (3, "abc")
    assert loaded.model.config == grid_model.config
    assert not loaded.model.training
    state = grid_model.state_dict()
    assert list(loaded.model.state_dict()) == list(state)
    for name, tensor in loaded.model.state_dict().items():
        assert tensor.dtype == state[name].dtype and torch.equal(tensor, state[name])
    assert torch.equal(loaded.model(IDS), grid_model.eval()(IDS))


def test_loaded_model_can_train(small, path: Path):
    save_checkpoint(path, small(), 3, "abc")
    model = load_checkpoint(path).model
    model(IDS).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_another_tokenizer_of_equal_size_is_refused(small, path: Path):
    ours, other = (ByteBPE.train([text], 2).fingerprint for text in ("red red", "blue blue"))
    save_checkpoint(path, small(), 3, ours)
    with pytest.raises(ValueError, match=f"belongs to the tokenizer {ours}, the one at hand is {other}"):
        load_checkpoint(path, tokenizer=other)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("heads", 4, r"another config: heads 2 \(wanted 4\)$"),
        ("activation", "gelu", r"another config: activation relu \(wanted gelu\)$"),
        ("norm_epsilon", 1e-6, r"another config: norm_epsilon 1e-05 \(wanted 1e-06\)$"),
    ],
)
def test_another_config_of_equal_shapes_is_refused(small, path: Path, name: str, value, sentence: str):
    model = small()
    save_checkpoint(path, model, 3, "abc")
    with pytest.raises(ValueError, match=sentence):
        load_checkpoint(path, replace(model.config, **{name: value}))


def stored(model: MiniGPT) -> dict[str, torch.Tensor]:
    """The tensors of a model by their names in files."""
    return {stored_name(name): tensor for name, tensor in model.state_dict().items()}


def test_missing_and_unexpected_tensors_are_named(small, path: Path):
    model = small()
    state = stored(model)
    lost = {name: tensor for name, tensor in state.items() if name != "final_norm.scale"}
    with pytest.raises(ValueError, match=r"lacks the tensors \['final_norm.scale'\] and has the unexpected ones \[\]"):
        load_checkpoint(write(path, model, lost))
    with pytest.raises(ValueError, match=r"lacks the tensors \[\] and has the unexpected ones \['extra'\]"):
        load_checkpoint(write(path, model, state | {"extra": torch.zeros(2)}))
    prefixed = {f"_orig_mod.{name}": tensor for name, tensor in state.items()}
    with pytest.raises(
        ValueError, match=r"lacks the tensors \['blocks.0.attention.output'.*unexpected ones \['_orig_mod.blocks.0"
    ):
        load_checkpoint(write(path, model, prefixed))


def test_another_shape_is_refused(small, path: Path):
    model = small()
    state = stored(model) | {"head": torch.zeros(8, 21, dtype=torch.float64)}
    with pytest.raises(ValueError, match=r"head has shape \(8, 21\), the config says \(8, 20\)"):
        load_checkpoint(write(path, model, state))


def test_another_dtype_is_refused(small, path: Path):
    single = {name: tensor.float() for name, tensor in stored(small()).items()}
    with pytest.raises(ValueError, match="token_embedding is stored as F32, the config says float64"):
        load_checkpoint(write(path, small(), single))


class Marker:
    """Prints when it is unpickled."""

    def __reduce__(self):
        return print, ("MARKER",)


@pytest.mark.parametrize("kind", ["pickle", "torch", "text", "zip", "empty", "truncated", "foreign"])
def test_other_files_are_refused_and_never_unpickled(small, path: Path, kind: str, capfd: pytest.CaptureFixture[str]):
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Marker()))
    elif kind == "torch":
        torch.save({"model": small().state_dict(), "marker": Marker()}, path)
    elif kind == "text":
        path.write_text("weights: none\n")
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("data.pkl", pickle.dumps(Marker()))
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "truncated":
        save_checkpoint(path, small(), 3, "abc")
        path.write_bytes(path.read_bytes()[:-8])
    elif kind == "foreign":
        save_file({"w": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is not a minigpt checkpoint"):
        load_checkpoint(path)
    assert "MARKER" not in capfd.readouterr().out


def test_missing_file_and_folder(tmp_path: Path):
    for path in (tmp_path / "none.safetensors", tmp_path):
        with pytest.raises(ValueError, match="is not a minigpt checkpoint"):
            load_checkpoint(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"step": "three"},
        {"step": "-1"},
        {"config": "5"},
        {"config": "[]"},
        {"config": "{"},
        {"format": "minigpt-checkpoint-0"},
    ],
    ids=str,
)
def test_damaged_metadata_is_refused(small, path: Path, changes: dict):
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is not a minigpt checkpoint"):
        load_checkpoint(write(path, small(), **changes))


def test_config_values_are_checked(small, path: Path):
    config = json.dumps(to_dict(small().config) | {"heads": 3})
    with pytest.raises(ValueError, match="width must be divisible by heads"):
        load_checkpoint(write(path, small(), config=config))


def test_sizes_are_checked_before_memory_is_taken(small, path: Path, monkeypatch: pytest.MonkeyPatch):
    model = small()
    save_checkpoint(path, model, 3, "abc")
    count = sum(parameter.numel() for parameter in model.parameters())
    monkeypatch.setenv("MINIGPT_MODEL_PARAMETERS", str(count - 1))
    with pytest.raises(ValueError, match=f"this model has {count:,} parameters, at most {count - 1:,}"):
        load_checkpoint(path)
    monkeypatch.delenv("MINIGPT_MODEL_PARAMETERS")
    monkeypatch.setenv("MINIGPT_MODELS_BYTES", "1000")
    with pytest.raises(ValueError, match="this model takes .* bytes of memory, at most 1,000 are allowed"):
        load_checkpoint(path)
    monkeypatch.delenv("MINIGPT_MODELS_BYTES")
    vast = json.dumps(to_dict(model.config) | {"width": 10**9, "ffn_width": 10**9})
    with pytest.raises(ValueError, match="at most 500,000,000 are allowed"):
        load_checkpoint(write(path, model, config=vast))


def test_a_failed_write_leaves_the_old_checkpoint(small, path: Path, monkeypatch: pytest.MonkeyPatch):
    save_checkpoint(path, small(), 3, "abc")
    old = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(path, small(init_seed=2), 4, "abc")
    assert path.read_bytes() == old
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
