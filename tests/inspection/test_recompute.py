"""Every stage by NumPy, and single numbers worked out: equal to the trace, and unequal when a weight is changed."""

import math
import re

import numpy as np
import pytest
import torch

from minigpt.config import ModelConfig
from minigpt.corpus.batches import batch_records
from minigpt.inspection.derivation import hidden_reason, short
from minigpt.inspection.sources import preset_model, run_model
from minigpt.inspection.stages import TOLERANCE, derive, recomputed, stage_at, stage_inputs
from minigpt.model.gpt import MiniGPT

SMALL = {"vocab_size": 11, "context_length": 7, "width": 6, "heads": 3, "layers": 1, "ffn_width": 10}
CONFIGS = {
    "mg-1 kind": {},
    "three blocks": {"layers": 3},
    "all biases": {"attention_bias": True, "activation": "gelu", "layers": 2},
    "tied, no head bias": {"tied_head": True, "head_bias": False, "activation": "gelu_tanh"},
    "one head": {"heads": 1, "tied_head": True, "attention_bias": True},
    "heads of one": {"heads": 6, "width": 6},
    "float32": {"dtype": "float32", "activation": "gelu", "attention_bias": True, "layers": 2},
    "float32 tied": {"dtype": "float32", "activation": "gelu_tanh", "tied_head": True, "width": 48, "ffn_width": 96},
    "no residuals": {"residual": False, "layers": 2},
    "width one": {"width": 1, "heads": 1, "ffn_width": 1},
}


def traced(**changes):
    """A model whose every parameter is random, also scales, offsets and biases, over two records with padding."""
    torch.set_num_threads(1)
    model = MiniGPT(ModelConfig(**SMALL | changes)).eval()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    ids = torch.randint(0, SMALL["vocab_size"], (2, 7), generator=generator)
    valid = torch.tensor([[True] * 5 + [False] * 2, [False, True, True, False, True, True, True]])
    return model, model.trace(ids, valid)


@pytest.fixture(scope="module")
def mg1():
    model, tokenizer = preset_model("mg-1")
    batch = batch_records(["The key is red. Answer: red."], tokenizer, 64)
    return model, model.trace(batch.ids, batch.valid)


def coordinates(stage):
    return [tuple(place) for place in np.argwhere(np.ones(stage.at(0).shape)).tolist()]


@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS.keys())
def test_every_stage_agrees_at_every_position(changes):
    model, trace = traced(**changes)
    for stage in trace.stages:
        for record in range(2):
            for position in range(7):
                result = recomputed(model, trace, stage, position, record)
                shown = stage.at(position, record).numpy()
                assert result.values.dtype == np.float64 and result.values.shape == shown.shape
                assert result.agrees, (stage.name, stage.block, record, position, result.difference)
                assert result.difference == np.abs(result.values - shown).max()


@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS.keys())
def test_every_number_worked_out_is_the_shown_one(changes):
    model, trace = traced(**changes)
    tolerance = 100 * TOLERANCE[trace.config.dtype]
    for stage in trace.stages:
        for position in (0, 3, 6):
            for place in coordinates(stage):
                result = derive(model, trace, stage, position, place)
                assert result.shown == stage.at(position)[place].item()
                assert result.value == pytest.approx(result.shown, rel=tolerance, abs=tolerance)
                assert result.inputs == tuple(source.name for source in stage_inputs(trace, stage))


def test_the_terms_sum_up_to_the_value():
    model, trace = traced(attention_bias=True, layers=2)
    block, last = trace.blocks[1], model.blocks[1]
    biased = {block.k_projection: last.attention.qkv_bias[6:], block.attention_output: last.attention.output_bias}
    biased |= {block.ffn_output: last.ffn.b2, trace.logits: model.head_bias}
    for stage, bias in biased.items():
        result = derive(model, trace, stage, 4, 2)
        for _, x, weight, product in result.terms:
            assert product == x * weight
        assert math.fsum(row[-1] for row in result.terms) + bias[2].item() == pytest.approx(result.value, abs=1e-14)
    mixture = derive(model, trace, block.mixtures, 4, (1, 1))
    assert [row[0] for row in mixture.terms] == [0, 1, 2, 3, 4]
    assert math.fsum(row[-1] for row in mixture.terms) == pytest.approx(mixture.value, abs=1e-14)
    weight = derive(model, trace, block.weights, 4, (1, 2))
    assert math.fsum(row[-1] for row in weight.terms) == pytest.approx(1.0, abs=1e-15)
    score = derive(model, trace, block.scores, 4, (1, 6))
    assert math.fsum(row[-1] for row in score.terms) / math.sqrt(2) == pytest.approx(score.value, abs=1e-14)


NAMES = {"sqrt": math.sqrt, "exp": math.exp, "erf": math.erf, "tanh": math.tanh, "max": max, "pi": math.pi}


def evaluate(text):
    for sign, python in {"−": "-", "·": "*", "³": "**3", "π": "pi"}.items():
        text = text.replace(sign, python)
    text = re.sub(r"√(\d+)", r"sqrt(\1)", text).replace("√(", "sqrt(")
    return eval(text, {"__builtins__": {}}, NAMES)  # noqa: S307  a formula the library wrote


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh"])
def test_the_written_expression_gives_the_value(activation):
    model, trace = traced(width=4, heads=2, ffn_width=4, activation=activation, attention_bias=True, layers=2)
    arithmetic = 0
    for stage in trace.stages:
        for place in coordinates(stage):
            result = derive(model, trace, stage, 3, place)
            *parts, value = result.expression.split(" = ") if "⇒" not in result.expression else ["0"]
            if "⇒" in result.expression:
                assert result.expression.endswith(f"⇒ {result.shown:.0f}")
                continue
            assert evaluate(value) == pytest.approx(result.value, rel=1e-5, abs=6e-7)
            for part in parts:
                if "[" not in part:
                    assert evaluate(part) == pytest.approx(result.value, rel=5e-5, abs=2e-5), result.expression
                    arithmetic += 1
    assert arithmetic > 100


def test_long_sums_are_abbreviated_and_their_table_is_whole(mg1):
    model, trace = mg1
    result = derive(model, trace, trace.blocks[0].q_projection, 5, 0)
    first, second, middle, last = result.expression.rsplit(" = ", 1)[0].split(" + ")
    assert middle == "…"
    for text, row in zip((first, second, last), (result.terms[0], result.terms[1], result.terms[15]), strict=True):
        assert evaluate(text) == pytest.approx(row[3], rel=1e-4, abs=1e-7)
    assert len(result.terms) == 16
    assert result.symbols == "Q[0] = Σ N[i] · W_Q[i, 0]"
    assert result.columns == ("i", "N[i]", "W_Q[i, 0]", "N[i] · W_Q[i, 0]")


def test_published_numbers_of_mg1(mg1):
    model, trace = mg1
    block = trace.blocks[0]
    norm = derive(model, trace, block.norm1, 5, 0)
    assert norm.expression == "(0.0461549 − 0.00504479) / √(0.000740764 + 0.000010) · 1.000000 + 0.000000 = 1.500366"
    assert norm.steps[0].endswith(" / 16 = 0.00504479")
    assert derive(model, trace, trace.token_embedding, 5, 0).expression == "token table[277, 0] = 0.0182134"
    assert derive(model, trace, block.block_input, 5, 0).expression == "0.0182134 + 0.0279415 = 0.0461549"
    expected = {block.q_projection: 0.086787, block.attention_output: 0.002184, block.ffn_output: -0.005631}
    expected |= {block.ffn_linear: 0.183987, block.block_output: 0.042707, trace.final_norm: 1.401739}
    for stage, number in expected.items():
        assert derive(model, trace, stage, 5, 0).value == pytest.approx(number, abs=5e-7)
        assert recomputed(model, trace, stage, 5).values[0] == pytest.approx(number, abs=5e-7)
    weights = [derive(model, trace, block.weights, 5, (0, key)).value for key in range(6)]
    assert weights == pytest.approx([0.166037, 0.165782, 0.166257, 0.167163, 0.167125, 0.167636], abs=5e-7)
    scores = recomputed(model, trace, block.scores, 5).values[0, :6]
    assert scores == pytest.approx([-0.005191, -0.006729, -0.003865, 0.001567, 0.001338, 0.004393], abs=5e-7)
    assert derive(model, trace, trace.logits, 5, 270).value == pytest.approx(0.09915046290174213, abs=1e-14)


def test_hidden_keys_say_why(mg1):
    model, trace = mg1
    block = trace.blocks[0]
    later = derive(model, trace, block.weights, 5, (1, 6))
    assert (later.value, later.hidden, later.expression) == (0.0, "later", "6 > 5 ⇒ 0")
    padded = derive(model, trace, block.visible, 20, (0, 3))
    assert (padded.value, padded.hidden, padded.expression) == (0.0, "padding_query", "valid[20] = 0 ⇒ 0")
    seen = derive(model, trace, block.visible, 5, (0, 5))
    assert (seen.value, seen.hidden) == (1.0, "")
    empty = derive(model, trace, block.mixtures, 20, (0, 0))
    assert (empty.value, empty.terms, empty.hidden) == (0.0, (), "padding_query")
    holes, trace = traced()
    here = stage_at(holes, trace, trace.blocks[0].weights, position=4, record=1)
    reasons = [hidden_reason(here, key) for key in range(7)]
    assert reasons == ["padding_key", "", "", "padding_key", "", "later", "later"]


@pytest.mark.parametrize(
    "parameter, broken",
    [
        ("token_embedding", {"token_embedding"}),
        ("position_embedding", {"position_embedding"}),
        ("blocks.0.norm1.weight", {"norm1"}),
        ("blocks.0.norm2.bias", {"norm2"}),
        ("blocks.0.attention.qkv", {"q_projection", "k_projection", "v_projection"}),
        ("blocks.0.attention.output", {"attention_output"}),
        ("blocks.0.ffn.w1", {"ffn_linear"}),
        ("blocks.0.ffn.b2", {"ffn_output"}),
        ("final_norm.weight", {"final_norm"}),
        ("head", {"logits"}),
        ("head_bias", {"logits"}),
    ],
)
def test_a_changed_weight_breaks_its_stage_and_no_other(parameter, broken):
    model, trace = traced()
    with torch.no_grad():
        model.get_parameter(parameter).add_(1e-6)
    found = {stage.name for stage in trace.stages if not recomputed(model, trace, stage, 2).agrees}
    assert found == broken


def test_a_changed_stage_breaks_itself_and_what_reads_it():
    model, trace = traced()
    trace.blocks[0].scores.values[0, :, 2, 0] += 1e-6
    found = {stage.name for stage in trace.stages if not recomputed(model, trace, stage, 2).agrees}
    assert found == {"scores", "weights"}


def test_numbers_that_are_not_finite_never_agree_by_chance():
    model, trace = traced()
    trace.blocks[0].norm1.values[0, 2, 0] = torch.nan
    assert recomputed(model, trace, trace.blocks[0].norm1, 2).difference == math.inf


def test_what_a_stage_reads_is_told():
    model, trace = traced(layers=2, attention_bias=True, activation="gelu")
    result = recomputed(model, trace, trace.blocks[1].block_input, 0)
    assert [(stage.name, stage.block) for stage in result.inputs] == [("block_output", 0)]
    assert recomputed(model, trace, trace.blocks[1].k_projection, 0).weights == ("W_K", "b_K")
    assert [stage.name for stage in recomputed(model, trace, trace.blocks[0].ffn_output, 0).inputs] == ["ffn_gelu"]
    assert recomputed(model, trace, trace.token_embedding, 0).weights == ("token table",)


def test_the_trained_run_agrees():
    model, tokenizer = run_model("data/mini-gpt/run", 600)
    batch = batch_records(["The key is red. Answer: red."], tokenizer, 64)
    trace = model.trace(batch.ids, batch.valid)
    for stage in trace.stages:
        for position in (0, 5, 14, 15, 63):
            result = recomputed(model, trace, stage, position)
            assert result.difference < 1e-12, stage.name


def test_the_wide_float32_stages_agree():
    torch.set_num_threads(1)
    config = ModelConfig(
        2000, 8, 768, 12, 1, 3072, activation="gelu_tanh", attention_bias=True, tied_head=True, dtype="float32"
    )
    model = MiniGPT(config).eval()
    trace = model.trace(torch.arange(8)[None])
    for stage in trace.stages:
        assert recomputed(model, trace, stage, 7).agrees, stage.name


def test_rounding():
    assert [short(x) for x in (0.0, 1e-5, -0.0461549139, 36.75, -1.2345e-9, 0.0999999999)] == [
        "0.000000", "0.000010", "−0.0461549", "36.750000", "−1.23450e−09", "0.100000",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "position, coordinate, words",
    [
        (64, 0, "position must be a whole number from 0 to 63, got 64"),
        (-1, 0, "position must be a whole number from 0 to 63, got -1"),
        (0, 16, "coordinate must be a whole number from 0 to 15, got 16"),
        (0, (0, 0), r"norm1 has coordinates of 1 numbers, got \(0, 0\)"),
    ],
)
def test_refusals(mg1, position, coordinate, words):
    model, trace = mg1
    with pytest.raises(ValueError, match=words):
        derive(model, trace, trace.blocks[0].norm1, position, coordinate)


def test_a_model_of_another_config_is_refused(mg1):
    _, trace = mg1
    other, _ = traced()
    with pytest.raises(ValueError, match="another config"):
        recomputed(other, trace, trace.logits, 0)
