"""Without residual connections a branch takes the place of the vector, on every path through the model."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from minigpt.corpus.library import bundled_corpus
from minigpt.inspection.experiments import all_checks
from minigpt.inspection.sources import preset_tokenizer
from minigpt.inspection.stages import derive, formula, recomputed
from minigpt.model.cache import KVCache
from minigpt.model.checkpoints import load_checkpoint, save_checkpoint
from minigpt.model.gpt import MiniGPT
from minigpt.model.kernels.decode import Decoder
from minigpt.model.loss import loss
from minigpt.model.parameters import parameter_count, shape_only
from minigpt.presets import configured, preset
from minigpt.training.runs.create import new_run

IDS = torch.tensor([[3, 7, 7, 0, 19, 4, 11, 2], [5, 1, 9, 16, 8, 8, 3, 12]])


@pytest.fixture
def bare(small) -> MiniGPT:
    return small(residual=False, layers=2)


@torch.no_grad()
def by_hand(model: MiniGPT, ids: torch.Tensor) -> torch.Tensor:
    """Logits of `ids` (T,), layer by layer with torch's own functions and no `x +`."""
    c = model.config
    x = model.token_embedding[ids] + model.position_embedding[: len(ids)]  # (T, C)
    for block in model.blocks:
        normed = torch.layer_norm(x, (c.width,), block.norm1.weight, block.norm1.bias, c.norm_epsilon)
        parts = (normed @ block.attention.qkv).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (c.heads, -1)).transpose(0, 1) for part in parts)  # (H, T, D)
        later = torch.ones(len(ids), len(ids)).triu(1) > 0
        scores = (q @ k.mT / c.head_width**0.5).masked_fill(later, -torch.inf)
        x = (scores.softmax(-1) @ v).transpose(0, 1).flatten(1) @ block.attention.output
        normed = torch.layer_norm(x, (c.width,), block.norm2.weight, block.norm2.bias, c.norm_epsilon)
        x = (normed @ block.ffn.w1 + block.ffn.b1).relu() @ block.ffn.w2 + block.ffn.b2
    x = torch.layer_norm(x, (c.width,), model.final_norm.weight, model.final_norm.bias, c.norm_epsilon)
    return x @ model.head + model.head_bias


@torch.no_grad()
def test_forward(bare: MiniGPT):
    for record in range(2):
        assert (bare(IDS)[record] - by_hand(bare, IDS[record])).abs().max() < 1e-12


@torch.no_grad()
def test_it_is_another_function_of_the_same_weights(bare: MiniGPT):
    usual = MiniGPT(replace(bare.config, residual=True)).eval()
    usual.load_state_dict(bare.state_dict())
    assert (usual(IDS) - bare(IDS)).abs().max() > 0.1
    assert parameter_count(bare.config) == parameter_count(usual.config)


def test_stages_say_so(bare: MiniGPT):
    trace = bare.trace(IDS)
    for block in trace.blocks:
        assert torch.equal(block.residual1.values, block.attention_output.values)
        assert torch.equal(block.block_output.values, block.ffn_output.values)
        assert [formula(stage, trace.config) for stage in (block.residual1, block.block_output)] == ["R = O", "Y = G"]


def test_recomputed_and_worked(bare: MiniGPT):
    trace = bare.trace(IDS)
    for stage in trace.stages:
        assert recomputed(bare, trace, stage, 5).agrees, stage.name
    block = trace.blocks[1]
    cases = ((block.residual1, "attention_output", "R[3] = O[3]"), (block.block_output, "ffn_output", "Y[3] = G[3]"))
    for stage, branch, line in cases:
        work = derive(bare, trace, stage, 5, 3)
        assert (work.symbols, work.inputs, work.value) == (line, (branch,), work.shown)


@torch.no_grad()
def test_decoding_with_the_cache(bare: MiniGPT):
    cache, decoder = KVCache(bare.config, batch=2), Decoder(bare)
    bare.next_logits(IDS[:, :3], cache)
    for end in range(4, 9):
        assert (decoder(IDS[:, end - 1], cache) - bare(IDS[:, :end])[:, -1]).abs().max() < 1e-12


def test_fused_training_path(small):
    model = small(residual=False, layers=2).train()
    results = []
    for hooked in ({}, {"hook": lambda name, values: values}):
        model.zero_grad()
        logits = model(IDS, **hooked)
        loss(logits, IDS.roll(-1, 1)).backward()
        results.append([logits, *(parameter.grad.clone() for parameter in model.parameters())])
    assert all((one - other).abs().max() < 1e-12 for one, other in zip(*results, strict=True))


def test_checkpoint_keeps_it(bare: MiniGPT, tmp_path: Path):
    save_checkpoint(tmp_path / "bare.safetensors", bare, 0, "f" * 16)
    assert load_checkpoint(tmp_path / "bare.safetensors").model.config == bare.config
    with pytest.raises(ValueError, match=r"residual False \(wanted True\)"):
        load_checkpoint(tmp_path / "bare.safetensors", replace(bare.config, residual=True))


def test_evidence_holds():
    model = MiniGPT(replace(preset("mg-1").model, residual=False)).eval()
    checks = all_checks(model, preset_tokenizer("mg-1"), "The key is red.")
    assert [check.name for check in checks if not check.passed] == []


def test_two_runs_differ_in_nothing_else(tmp_path: Path):
    rows = {}
    for residual in ("true", "false"):
        chosen = configured(preset("mg-1"), {"residual": residual, "steps": "40", "evaluate_every": "40"})
        _, training = new_run(tmp_path / residual, chosen, bundled_corpus(), chosen.training)
        reports = list(training.reports())
        rows[residual] = (reports[-1], [report.records for report in reports if hasattr(report, "records")])
    assert rows["true"][1] == rows["false"][1]
    assert rows["true"][0].train_loss < rows["false"][0].train_loss


def test_overrides_of_the_poem_model():
    poems = preset("poems")
    assert parameter_count(poems.model) == 1_614_720
    untied = configured(poems, {"tied_head": "false"}).model
    assert shape_only(untied).head.numel() == 804_992 == parameter_count(untied) - parameter_count(poems.model)
    larger = configured(poems, {"layers": "8", "width": "256", "ffn_width": "1024"}).model
    assert parameter_count(larger) == 7_961_344
