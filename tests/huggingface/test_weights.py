"""Exchange with Hugging Face GPT-2 folders, checked by values against transformers, in both directions."""

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model

from minigpt.config import ModelConfig
from minigpt.huggingface.config import config_object, read_config
from minigpt.huggingface.weights import check_gpt2, load_gpt2, save_gpt2
from minigpt.model.gpt import MiniGPT

TINY = {"vocab_size": 61, "n_positions": 19, "n_embd": 24, "n_layer": 2, "n_head": 3}
SHAPES = {
    "usual": {},
    "narrow, one head": {"n_embd": 6, "n_head": 1, "n_layer": 1, "n_inner": 5},
    "head of one": {"n_embd": 5, "n_head": 5, "n_inner": 31},
    "square everywhere": {"n_embd": 16, "n_head": 2, "n_inner": 16, "vocab_size": 16, "n_positions": 16},
    "erf": {"activation_function": "gelu"},
    "relu": {"activation_function": "relu", "layer_norm_epsilon": 1e-2},
    "tanh by its other name": {"activation_function": "gelu_pytorch_tanh"},
    "head of its own": {"tie_word_embeddings": False},
    "no dropout": {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "n_layer": 5},
}
BOUND = {"float32": 1e-4, "float64": 1e-10}


def published(folder: Path, seed: int = 5, model: type = GPT2LMHeadModel, **changes) -> GPT2LMHeadModel:
    """A GPT-2 of transformers in float64 with every number drawn (its own start has biases 0), saved in `folder`."""
    torch.manual_seed(seed)
    ids = {"bos_token_id": 0, "eos_token_id": 0}
    peer = model(GPT2Config(**TINY | ids | changes)).double().eval()
    with torch.no_grad():
        for name, parameter in peer.named_parameters():
            parameter.normal_(1.0 if "ln_" in name and name.endswith("weight") else 0.0, 0.3)
    peer.save_pretrained(folder)
    return peer


def texts(vocabulary: int, positions: int) -> torch.Tensor:
    return torch.randint(vocabulary, (3, positions), generator=torch.Generator().manual_seed(1))


def same_logits(ours: MiniGPT, peer: GPT2LMHeadModel, bound: float) -> None:
    ids = texts(ours.config.vocab_size, min(ours.config.context_length, 24))
    with torch.no_grad():
        expected = peer(ids).logits
        found = ours(ids)
    assert found.dtype == expected.dtype
    assert expected.std() > 0.01  # a comparison of nothing with nothing would pass
    assert (found - expected).abs().max().item() < bound


def rewrite(folder: Path, change) -> None:
    """Change the stored tensors by a function of their dict."""
    tensors = load_file(folder / "model.safetensors")
    save_file(change(tensors) or tensors, folder / "model.safetensors", metadata={"format": "pt"})


def reconfigure(folder: Path, **changes) -> None:
    content = json.loads((folder / "config.json").read_text())
    content = {name: value for name, value in (content | changes).items() if value is not ...}
    (folder / "config.json").write_text(json.dumps(content))


@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("changes", SHAPES.values(), ids=SHAPES)
def test_an_imported_model_has_the_logits_of_transformers(tmp_path: Path, changes: dict, dtype: str):
    peer = published(tmp_path, **changes)
    ours = load_gpt2(tmp_path, dtype)
    assert not ours.training and ours.config == check_gpt2(tmp_path, dtype)
    assert {tensor.dtype for tensor in ours.state_dict().values()} == {getattr(torch, dtype)}
    same_logits(ours, peer.to(getattr(torch, dtype)), BOUND[dtype])


@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tied_head": True, "attention_bias": True},
        {"heads": 1, "layers": 1, "ffn_width": 3, "activation": "gelu"},
        {"width": 7, "heads": 7, "activation": "gelu_tanh", "norm_epsilon": 1e-2, "context_length": 3},
        {"vocab_size": 12, "width": 12, "ffn_width": 12, "context_length": 12, "attention_bias": True},
    ],
    ids=["own head, no biases", "as GPT-2", "erf", "odd", "square"],
)
def test_an_exported_model_has_our_logits_in_transformers(tmp_path: Path, changes: dict, dtype: str):
    config = ModelConfig(vocab_size=33, context_length=9, width=12, heads=4, layers=3, ffn_width=20, head_bias=False)
    ours = MiniGPT(replace(config, **changes, dtype=dtype)).eval()
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3)) * 0.3)
    save_gpt2(tmp_path, ours, {"bos_token_id": 1, "eos_token_id": 1})
    peer = GPT2LMHeadModel.from_pretrained(tmp_path).eval()
    same_logits(ours, peer, BOUND[dtype])
    again = load_gpt2(tmp_path, dtype)
    ids = texts(ours.config.vocab_size, ours.config.context_length)
    assert (again(ids) - ours(ids)).abs().max().item() < BOUND[dtype] / 100
    written = replace(ours.config, attention_bias=True, init_seed=again.config.init_seed)
    assert again.config == written  # biases of zero where there were none; a folder knows no seed


def test_a_round_trip_through_a_folder_gives_every_number_back(tmp_path: Path):
    ours = load_gpt2_of(tmp_path / "a", tie_word_embeddings=False)
    (tmp_path / "b").mkdir()
    save_gpt2(tmp_path / "b", ours)
    again = load_gpt2(tmp_path / "b", "float64")
    assert again.config == ours.config
    assert all(torch.equal(a, b) for a, b in zip(again.state_dict().values(), ours.state_dict().values(), strict=True))
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in "ab")
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def load_gpt2_of(folder: Path, **changes) -> MiniGPT:
    published(folder, **changes)
    return load_gpt2(folder, "float64")


def test_a_transposed_square_matrix_is_seen_in_the_values(tmp_path: Path):
    """A loader that transposes what fails on shape would pass here with every matrix square."""
    peer = published(tmp_path, **SHAPES["square everywhere"])
    ours = load_gpt2(tmp_path, "float64")
    for name in ("attention.output", "ffn.w1", "ffn.w2"):
        wrong = load_gpt2(tmp_path, "float64")
        matrix = wrong.get_parameter(f"blocks.0.{name}")
        with torch.no_grad():
            matrix.copy_(matrix.T.clone())
        with pytest.raises(AssertionError):
            same_logits(wrong, peer, 1e-2)
    same_logits(ours, peer, 1e-10)


def test_the_form_of_the_published_files(tmp_path: Path):
    """GPT-2's own folder: names without prefix, the causal masks as floats, a config of 2019."""
    peer = published(tmp_path)

    def bare(tensors: dict) -> dict:
        masks = {f"h.{block}.attn.bias": torch.ones(1, 1, 19, 19).tril() for block in range(2)}
        return {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()} | masks

    rewrite(tmp_path, bare)
    reconfigure(tmp_path, n_ctx=19, n_inner=..., tie_word_embeddings=..., dtype=..., scale_attn_weights=...)
    same_logits(load_gpt2(tmp_path, "float64"), peer, 1e-10)


def test_other_writers_names(tmp_path: Path):
    """A model without head saves names without prefix; older files hold masks and the tied head."""
    peer = published(tmp_path / "bare", model=GPT2Model)
    bare = load_gpt2(tmp_path / "bare", "float64")
    full = GPT2LMHeadModel(peer.config).double().eval()
    full.transformer.load_state_dict(peer.state_dict())
    same_logits(bare, full, 1e-10)

    full.save_pretrained(tmp_path / "old")

    def older(tensors: dict) -> None:
        for block in range(2):
            tensors[f"transformer.h.{block}.attn.bias"] = torch.ones(1, 1, 19, 19, dtype=torch.uint8)
            tensors[f"transformer.h.{block}.attn.masked_bias"] = torch.tensor(-1e4)
        tensors["lm_head.weight"] = tensors["transformer.wte.weight"].clone()

    rewrite(tmp_path / "old", older)
    same_logits(load_gpt2(tmp_path / "old", "float64"), full, 1e-10)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_halves_are_widened_exactly(tmp_path: Path, kind: torch.dtype):
    peer = published(tmp_path)
    rewrite(tmp_path, lambda tensors: {name: tensor.to(kind) for name, tensor in tensors.items()})
    same_logits(load_gpt2(tmp_path, "float64"), peer.to(kind).double(), 1e-10)


def test_a_sharded_model_is_read(tmp_path: Path):
    peer = published(tmp_path / "one")
    peer.save_pretrained(tmp_path / "many", max_shard_size="20KB")
    assert len([*(tmp_path / "many").glob("*.safetensors")]) > 2
    same_logits(load_gpt2(tmp_path / "many", "float64"), peer, 1e-10)
    index = tmp_path / "many" / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    for name in ("../one/model.safetensors", "gone.safetensors"):
        index.write_text(json.dumps({"weight_map": content["weight_map"] | {"x": name}}))
        with pytest.raises(ValueError, match="names the file .*, which is not in the folder"):
            load_gpt2(tmp_path / "many")
    index.write_text('{"weight_map": 3}')
    with pytest.raises(ValueError, match="weight_map must give a file name"):
        load_gpt2(tmp_path / "many")


def test_every_tensor_that_does_not_fit_is_named_at_once(tmp_path: Path):
    published(tmp_path)

    def damage(tensors: dict) -> None:
        del tensors["transformer.h.1.mlp.c_fc.bias"], tensors["transformer.ln_f.weight"]
        tensors["transformer.extra"] = torch.zeros(2)
        tensors["lm_head.bias"] = torch.zeros(61)
        tensors["transformer.wpe.weight"] = torch.zeros(24, 19)
        tensors["transformer.ln_f.bias"] = torch.zeros(24, dtype=torch.int64)

    rewrite(tmp_path, damage)
    for read in (load_gpt2, check_gpt2):
        with pytest.raises(ValueError) as raised:
            read(tmp_path)
        assert str(raised.value) == (
            f"the weights in {tmp_path} do not fit its config.json: these tensors are missing: h.1.mlp.c_fc.bias, "
            "ln_f.weight; these tensors are unexpected: lm_head.bias, transformer.extra; transformer.ln_f.bias has the "
            "type I64, it must be one of F64, F32, F16, BF16; transformer.wpe.weight has the shape (24, 19), it must "
            "be (19, 24)"
        )


def test_long_lists_are_counted(tmp_path: Path):
    published(tmp_path)
    rewrite(tmp_path, lambda tensors: {f"_orig_mod.{name}": tensor for name, tensor in tensors.items()})
    with pytest.raises(ValueError, match="missing: .* and 20 more; .* unexpected: _orig_mod.transformer.* and 20 more"):
        load_gpt2(tmp_path)


def test_a_tensor_that_is_there_twice(tmp_path: Path):
    published(tmp_path)
    rewrite(tmp_path, lambda tensors: tensors | {"wpe.weight": torch.zeros(19, 24)})
    with pytest.raises(ValueError, match="has wpe.weight twice, as .*wpe.weight and as"):
        load_gpt2(tmp_path)


def test_a_head_that_is_not_the_table_it_is_tied_to(tmp_path: Path):
    published(tmp_path)
    rewrite(tmp_path, lambda tensors: tensors | {"lm_head.weight": tensors["transformer.wte.weight"] + 0.25})
    with pytest.raises(ValueError, match=r"lm_head.weight differs from wte.weight by up to 0.25; set tie_word"):
        load_gpt2(tmp_path)
    reconfigure(tmp_path, tie_word_embeddings=False)
    assert not load_gpt2(tmp_path).config.tied_head


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_type": "llama"}, "model_type must be 'gpt2', got 'llama'"),
        ({"n_head": ...}, "it lacks n_head"),
        ({"n_embd": None, "n_layer": ...}, "it lacks n_embd, n_layer"),
        ({"n_head": 5}, "width must be divisible by heads, got width 24 and 5 heads"),
        ({"n_positions": "19"}, "context_length must be a whole number of at least 1, got '19'"),
        ({"n_embd": "24"}, "width must be a whole number of at least 1, got '24'"),
        ({"activation_function": "silu"}, "activation_function must be one of gelu_new, .*, got 'silu'"),
        ({"activation_function": ["gelu"]}, "activation_function must be one of gelu_new"),
        ({"scale_attn_weights": False}, "scale_attn_weights must be true, got False: scores are always divided"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx must be false, got True"),
        ({"reorder_and_upcast_attn": True}, "reorder_and_upcast_attn must be false, got True"),
        ({"add_cross_attention": True}, "add_cross_attention must be false, got True"),
        ({"resid_pdrop": 0.2}, "one dropout, the file has attn_pdrop 0.1, embd_pdrop 0.1, resid_pdrop 0.2"),
        ({"layer_norm_epsilon": 0}, "norm_epsilon must be a finite number above 0"),
        ({"tie_word_embeddings": "yes"}, "tied_head must be one of True, False, got 'yes'"),
        ({"n_inner": 0}, "ffn_width must be a whole number of at least 1"),
        ({"n_layer": 10**6}, "parameters, at most 500,000,000 are allowed"),
    ],
)
def test_configs_that_we_cannot_hold(tmp_path: Path, changes: dict, sentence: str):
    published(tmp_path)
    reconfigure(tmp_path, **changes)
    with pytest.raises(ValueError, match=sentence):
        load_gpt2(tmp_path)


def test_missing_keys_have_the_values_of_the_format(tmp_path: Path):
    published(tmp_path)
    sizes = {name: TINY[name] for name in TINY} | {"model_type": "gpt2"}
    (tmp_path / "config.json").write_text(json.dumps(sizes))
    config = read_config(tmp_path)
    peer = GPT2Config(**TINY)
    assert (config.activation, config.ffn_width, config.tied_head) == ("gelu_tanh", 96, True)
    assert (config.norm_epsilon, config.dropout, config.init_std) == (
        peer.layer_norm_epsilon,
        peer.attn_pdrop,
        peer.initializer_range,
    )


def test_the_activation_has_the_form_it_names(tmp_path: Path):
    """gelu(1) is 0.841192 by tanh and 0.841345 by erf: logits of one under the other's name differ."""
    peer = published(tmp_path)
    reconfigure(tmp_path, activation_function="gelu")
    wrong = load_gpt2(tmp_path, "float64")
    assert wrong.config.activation == "gelu"
    with pytest.raises(AssertionError):
        same_logits(wrong, peer, 1e-4)


def test_files_that_are_no_model(tmp_path: Path):
    with pytest.raises(ValueError, match="is not a folder of a GPT-2 model: it has no config.json"):
        load_gpt2(tmp_path)
    published(tmp_path)
    weights = tmp_path / "model.safetensors"
    whole = weights.read_bytes()
    for content in (whole[:-1], b"", b"\x80\x04K\x01.", whole[:3000], b"\xff" * 64):
        weights.write_bytes(content)
        with pytest.raises(ValueError, match="is not a safetensors file, or is cut off"):
            load_gpt2(tmp_path)
    weights.unlink()
    with pytest.raises(ValueError, match="has no weights: it needs model.safetensors"):
        load_gpt2(tmp_path)
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ValueError, match="a pickle is never opened here. Convert it once, .*save_pretrained"):
        load_gpt2(tmp_path)
    for content in ("{", "[]", "[" * 100_000, "\udcff".encode(errors="surrogateescape").decode("latin-1")):
        (tmp_path / "config.json").write_text(content, encoding="latin-1")
        with pytest.raises(ValueError, match="config.json (cannot be used|must hold one JSON object)"):
            load_gpt2(tmp_path)


def test_models_that_gpt2_cannot_hold(tmp_path: Path):
    small = ModelConfig(vocab_size=33, context_length=9, width=12, heads=4, layers=1, ffn_width=20)
    with pytest.raises(ValueError, match="cannot hold this model: its LM head has a bias, GPT-2's has none"):
        save_gpt2(tmp_path, MiniGPT(small))
    without = replace(small, residual=False)
    with pytest.raises(ValueError, match="LM head has a bias, .*; residual is False, GPT-2 has True"):
        config_object(without)
    assert not any(tmp_path.iterdir())


def test_the_dtype_is_one_of_ours(tmp_path: Path):
    published(tmp_path)
    with pytest.raises(ValueError, match="dtype must be one of float64, float32, got 'float16'"):
        load_gpt2(tmp_path, "float16")


def test_a_file_that_is_replaced_does_not_change_a_loaded_model(tmp_path: Path):
    peer = published(tmp_path / "a")
    ours = load_gpt2(tmp_path / "a", "float64")
    published(tmp_path / "b", seed=6)
    (tmp_path / "b" / "model.safetensors").replace(tmp_path / "a" / "model.safetensors")
    same_logits(ours, peer, 1e-10)
    with pytest.raises(AssertionError):
        same_logits(load_gpt2(tmp_path / "a", "float64"), peer, 1e-2)


def test_changing_a_loaded_model_does_not_change_its_file(tmp_path: Path):
    peer = published(tmp_path)
    ours = load_gpt2(tmp_path, "float64")
    with torch.no_grad():
        ours.blocks[0].ffn.w1.zero_()
    same_logits(load_gpt2(tmp_path, "float64"), peer, 1e-10)


def test_gpt2_small_at_its_full_size():
    """124,439,808 numbers out of transformers and back into it: 1.5 GB of memory, 1 GB of disk for some seconds."""
    with tempfile.TemporaryDirectory() as place:
        there, back = Path(place, "there"), Path(place, "back")
        peer = GPT2LMHeadModel(GPT2Config()).eval()
        with torch.no_grad():
            for name, parameter in peer.named_parameters():
                if parameter.ndim == 1:
                    generator = torch.Generator().manual_seed(len(name))
                    parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.1)
        peer.save_pretrained(there)
        ours = load_gpt2(there)
        assert sum(parameter.numel() for parameter in ours.parameters()) == 124_439_808
        same_logits(ours, peer, 1e-4)
        del peer
        shutil.rmtree(there)
        back.mkdir()
        save_gpt2(back, ours)
        same_logits(ours, GPT2LMHeadModel.from_pretrained(back).eval(), 1e-4)
