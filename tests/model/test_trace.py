"""The trace is the forward: same numbers bit for bit, copies, the right code lines, the right positions."""

import ast
from pathlib import Path

import pytest
import torch

from minigpt.inspection.stages import BLOCK_STAGES, STAGES, formula
from minigpt.model.gpt import MiniGPT
from minigpt.model.trace import Trace

IDS = torch.tensor([[3, 7, 7, 0, 19, 4], [5, 1, 9, 16, 8, 8]])
VALID = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])


@pytest.mark.parametrize("valid", [None, VALID], ids=["whole", "padded"])
def test_logits_are_those_of_the_plain_forward(grid_model: MiniGPT, valid: torch.Tensor | None):
    assert torch.equal(grid_model.trace(IDS, valid).logits.values, grid_model(IDS, valid))


def test_each_stage_follows_from_the_stages_shown(grid_model: MiniGPT, tolerance: float):
    trace, model = grid_model.trace(IDS, VALID), grid_model
    x = trace.token_embedding.values + trace.position_embedding.values
    for block, weights in zip(trace.blocks, model.blocks, strict=True):
        assert torch.equal(block.block_input.values, x)
        projections = [block.q_projection, block.k_projection, block.v_projection]
        qkv = block.norm1.values @ weights.attention.qkv
        if weights.attention.qkv_bias is not None:
            qkv = qkv + weights.attention.qkv_bias
        assert (torch.cat([stage.values for stage in projections], -1) - qkv).abs().max() <= tolerance * 10
        for projection, heads in zip(projections, (block.q_heads, block.k_heads, block.v_heads), strict=True):
            assert torch.equal(heads.values.transpose(1, 2).flatten(2), projection.values)
        assert torch.equal(block.mixtures.values.transpose(1, 2).flatten(2), block.joined.values)
        attended = block.joined.values @ weights.attention.output
        if weights.attention.output_bias is not None:
            attended = attended + weights.attention.output_bias
        assert (block.attention_output.values - attended).abs().max() <= tolerance * 10
        assert torch.equal(block.residual1.values, block.block_input.values + block.attention_output.values)
        hidden = block.norm2.values @ weights.ffn.w1 + weights.ffn.b1
        assert (block.ffn_linear.values - hidden).abs().max() <= tolerance * 10
        output = block.ffn_activation.values @ weights.ffn.w2 + weights.ffn.b2
        assert (block.ffn_output.values - output).abs().max() <= tolerance * 10
        assert torch.equal(block.block_output.values, block.residual1.values + block.ffn_output.values)
        x = block.block_output.values
    centred = x - x.mean(-1, keepdim=True)
    normed = centred / (x.var(-1, unbiased=False, keepdim=True) + model.config.norm_epsilon).sqrt()
    final = normed * model.final_norm.weight + model.final_norm.bias
    assert (trace.final_norm.values - final).abs().max() <= tolerance * 10
    bias = 0 if model.head_bias is None else model.head_bias
    logits = trace.final_norm.values @ model.head_matrix + bias
    assert (trace.logits.values - logits).abs().max() <= tolerance * 10


def test_stages_are_copies(small):
    model = small(layers=2)
    trace = model.trace(IDS, VALID)
    before = [stage.values.clone() for stage in trace.stages]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1)
    model(IDS)
    assert all(torch.equal(a, stage.values) for a, stage in zip(before, trace.stages, strict=True))
    pointers = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    assert all(stage.values.untyped_storage().data_ptr() not in pointers for stage in trace.stages)
    assert not any(stage.values.requires_grad for stage in trace.stages)


def test_ids_and_valid_are_copies(small):
    ids, valid = IDS.clone(), VALID.clone()
    trace = small().trace(ids, valid)
    ids.zero_()
    valid.logical_not_()
    assert torch.equal(trace.ids, IDS) and torch.equal(trace.valid, VALID)
    assert small().trace(IDS).valid.all()


def test_every_source_line_computes_its_stage(small, root: Path):
    trace = small(layers=2, activation="gelu").trace(IDS)
    for stage in trace.stages:
        source = stage.source
        line = (root / source.file).read_text(encoding="utf-8").splitlines()[source.line - 1]
        assert source.text == line.strip()
        assert not source.file.startswith(("/", "."))
        name = "ffn_activation" if stage.name == "ffn_gelu" else stage.name
        assert f'hook("{name}"' in source.text
        [call] = [
            node for node in ast.walk(ast.parse(source.text.removeprefix("return "))) if _is_hook_call(node, name)
        ]
        assert len(call.args) == 2, "the line shows the expression, not just a name"


def _is_hook_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "hook" and node.args[0].value == name


def test_order_and_names(small):
    trace = small(layers=3, activation="gelu_tanh").trace(IDS)
    assert len(trace.stages) == 4 + 20 * 3
    inner = [{"ffn_activation": "ffn_gelu_tanh"}.get(spec.kind, spec.kind) for spec in BLOCK_STAGES]
    names = ["token_embedding", "position_embedding", *inner * 3, "final_norm", "logits"]
    assert [stage.name for stage in trace.stages] == names
    assert [stage.block for stage in trace.stages] == [None] * 2 + [0] * 20 + [1] * 20 + [2] * 20 + [None] * 2
    assert all(formula(stage, trace.config) for stage in trace.stages)


def test_the_forward_passes_the_declared_stages_and_no_other(small):
    one = small().trace(IDS)
    assert [stage.kind for stage in one.stages] == [spec.kind for spec in STAGES]
    three = small(layers=3).trace(IDS)
    assert [stage.kind for stage in three.stages[2:-2]] == [spec.kind for spec in BLOCK_STAGES] * 3


def test_a_stage_by_name(small):
    trace = small(layers=2).trace(IDS)
    assert trace.stage("weights", 1) is trace.blocks[1].weights
    assert trace.stage("ffn_relu", 0) is trace.blocks[0].ffn_activation
    assert trace.stage("logits") is trace.logits
    for name, block in (("weights", None), ("weights", 2), ("attn", 0)):
        with pytest.raises(ValueError, match=f"there is no stage '{name}' in block {block}; stages: token_embedding,"):
            trace.stage(name, block)


def test_values_at_a_position(small):
    trace = small().trace(IDS, VALID)
    block = trace.blocks[0]
    assert torch.equal(trace.position_embedding.at(3), trace.position_embedding.values[3])
    assert torch.equal(trace.token_embedding.at(3, record=1), trace.token_embedding.values[1, 3])
    assert torch.equal(block.weights.at(3, record=1), block.weights.values[1, :, 3, :])
    assert torch.equal(block.mixtures.at(2), block.mixtures.values[0, :, 2])
    assert block.visible.at(2).int().tolist() == [[1, 1, 1, 0, 0, 0]]


def formulas(trace: Trace) -> dict[str, str]:
    return {stage.name: formula(stage, trace.config) for stage in trace.stages}


def test_formulas_say_which_biases_there_are(small):
    bare = formulas(small(head_bias=False).trace(IDS))
    full = formulas(small(attention_bias=True, tied_head=True).trace(IDS))
    assert (bare["q_projection"], full["q_projection"]) == ("Q = N · W_Q", "Q = N · W_Q + b_Q")
    assert (bare["attention_output"], full["attention_output"]) == ("O = J · W_O", "O = J · W_O + b_O")
    assert (bare["logits"], full["logits"]) == ("Z = N · W_LM", "Z = N · token tableᵀ + b_LM")
    assert full["scores"].endswith("/ √4")


def test_block_input_names_the_block_before(small):
    trace = small(layers=2).trace(IDS)
    first, second = (formula(block.block_input, trace.config) for block in trace.blocks)
    assert (first, second) == ("X = E + P", "X = block_output of block 0")
