"""Evidence: every check passes on sound models and fails on models broken on purpose."""

from dataclasses import replace
from math import log

import pytest
import torch

from minigpt.config import ModelConfig
from minigpt.corpus.batches import Batch, batch_records
from minigpt.inspection import experiments
from minigpt.inspection.edit import another_id, edit_token
from minigpt.inspection.sources import BUNDLED_RUN, preset_model, run_model
from minigpt.model import attention
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import IGNORE
from minigpt.presets import preset
from minigpt.tokenizers.byte_bpe import BOS, EOS, ByteBPE

TEXT = "The key is red. Answer: red."
TOKENIZER = ByteBPE()
TINY = ModelConfig(
    vocab_size=259, context_length=16, width=8, heads=4, layers=2, ffn_width=12, attention_bias=True, init_std=0.3
)


def tiny(text="Hi you", **changes) -> tuple[MiniGPT, Batch]:
    model = MiniGPT(replace(TINY, **changes)).eval()
    return model, batch_records([text], TOKENIZER, model.config.context_length)


@pytest.mark.parametrize("name", ["mg-1", "chapter-7"])
@pytest.mark.parametrize("text", [TEXT, "x", "法国的首都叫巴黎。", "the cat the cat"])
def test_all_checks_unhooked_the_presets(name, text):
    model, tokenizer = preset_model(name)
    assert [check for check in experiments.all_checks(model, tokenizer, text) if not check.passed] == []


def test_all_checks_unhooked_the_trained_run_and_its_differences_are_tight():
    checks = {check.name: check for check in experiments.all_checks(*run_model(BUNDLED_RUN), TEXT)}
    assert len(checks) == 12 and all(check.passed for check in checks.values())
    assert checks["future_token"].difference == 0.0
    assert checks["scalar_attention"].difference < 1e-12
    assert checks["uniform_loss"].details["ln_v"] == pytest.approx(5.673323267171493, abs=1e-14)
    assert checks["parameter_sum"].details == {"table": 13_875.0, "config": 13_875.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"activation": "gelu", "dtype": "float32", "dropout": 0.5},
        {"activation": "gelu_tanh", "tied_head": True, "head_bias": False},
        {"attention_bias": False, "heads": 1, "layers": 3, "context_length": 7},
        {"heads": 8, "context_length": 300},
    ],
)
def test_all_checks_unhooked_any_config(changes):
    model, _ = tiny(**changes)
    model.train()  # checks are about the function without dropout; the mode of the given model stays
    checks = experiments.all_checks(model, TOKENIZER, "Hi you")
    assert [check for check in checks if not check.passed] == [] and model.training


def test_a_record_that_fills_the_context_passes():
    model, batch = tiny("a" * 15)
    assert batch.valid.all()
    assert experiments.padding_content(model, batch).details["slots"] == 1.0
    assert all(check.passed for check in experiments.all_checks(model, TOKENIZER, "a" * 15))


def test_checks_leave_the_model_bit_equal_and_without_gradients():
    model, _ = tiny()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    experiments.all_checks(model, TOKENIZER, "Hi")
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert all(tensor.grad is None for tensor in model.parameters())


def test_edit_moves_nothing_before_its_position():
    model, batch = tiny()
    edited = edit_token(model, batch, 4, ord("z"))
    assert (edited.position, edited.before, edited.after) == (4, ord("y"), ord("z"))
    assert edited.differences.shape == (16,) and edited.weight_differences.shape == (2, 4, 16)
    assert (edited.differences[:4] == 0).all() and (edited.differences[4:7] > 0).all()
    assert (edited.weight_differences[..., :4] == 0).all() and (edited.weight_differences[..., 4:7] > 0).all()
    changed = batch.ids.clone()
    changed[0, 4] = ord("z")
    moved = (model(changed, batch.valid) - model(batch.ids, batch.valid))[0, 5].abs().max()
    assert edited.differences[5] == moved.detach()


def test_edit_refuses_what_it_cannot_do():
    model, batch = tiny()  # BOS and 6 bytes
    with pytest.raises(ValueError, match="position must be a whole number from 0 to 6, got 7"):
        edit_token(model, batch, 7, 1)
    with pytest.raises(ValueError, match="id must be a whole number from 0 to 258, got 259"):
        edit_token(model, batch, 1, 259)
    with pytest.raises(ValueError, match=f"id {ord('H')} already stands at position 1"):
        edit_token(model, batch, 1, ord("H"))


@pytest.mark.parametrize(("text", "position", "id"), [("ab", 2, "a"), ("aab", 1, "b"), ("a", 1, "b"), ("aaa", 2, "b")])
def test_a_replacement_is_another_piece_of_the_record_or_the_next_byte(text, position, id):
    assert another_id(batch_records([text], TOKENIZER, 16), position, 256) == ord(id)


def test_a_mask_one_step_too_loose_is_found(monkeypatch):
    def loose(queries, keys, valid=None):
        return torch.ones(queries, keys, dtype=torch.bool).tril(1)[None, None] & valid[:, None, None, :]

    monkeypatch.setattr("minigpt.model.gpt.visible_keys", loose)
    model, batch = tiny()
    assert not experiments.future_token(model, batch, 6, ord("z")).passed
    trace = model.trace(batch.ids, batch.valid)
    assert not experiments.hidden_weights(trace).passed and not experiments.scalar_attention(trace, 3).passed


def test_visible_padding_is_found(monkeypatch):
    monkeypatch.setattr(
        "minigpt.model.gpt.visible_keys",
        lambda queries, keys, valid=None: torch.ones(queries, keys, dtype=torch.bool)[None, None],
    )
    model, batch = tiny()
    assert not experiments.padding_content(model, batch).passed


def test_a_wrong_head_reshape_is_found(monkeypatch):
    def interleaved(self, x):
        return x.unflatten(-1, (self.head_width, self.heads)).permute(0, 3, 1, 2)

    monkeypatch.setattr(attention.CausalSelfAttention, "split", interleaved)
    model, batch = tiny()
    check = experiments.scalar_attention(model.trace(batch.ids, batch.valid), 6)
    assert not check.passed and check.difference > 1e-6


def test_a_leak_between_records_is_found():
    class Leaky(MiniGPT):
        def forward(self, ids, *rest, **options):
            return super().forward(ids, *rest, **options) + ids.sum()

    model, batch = tiny()
    leaky = Leaky(model.config).eval()
    assert experiments.other_record(model, batch).passed and not experiments.other_record(leaky, batch).passed
    assert not experiments.traced_forward(leaky, leaky.trace(batch.ids, batch.valid)).passed  # added behind the trace


@pytest.mark.parametrize("shift", [0, 2])
def test_no_shift_and_a_double_shift_are_found(shift):
    ids = torch.tensor([[BOS, 65, 66, 67]])
    row = [BOS, 65, 66, 67, EOS, IGNORE]
    sound = Batch(ids, torch.ones_like(ids, dtype=torch.bool), torch.tensor([row[1:5]]))
    assert experiments.target_shift(sound, TOKENIZER).passed
    broken = replace(sound, targets=torch.tensor([row[shift : shift + 4]]))
    check = experiments.target_shift(broken, TOKENIZER)
    assert not check.passed and check.difference >= 4


def test_a_loss_that_counts_padding_is_found(monkeypatch):
    monkeypatch.setattr(experiments, "loss", lambda logits, targets: torch.tensor(log(259)) * 7 / targets.shape[1])
    _, batch = tiny()
    assert not experiments.uniform_loss(batch, TINY).passed


def test_a_frozen_tensor_is_found():
    model, batch = tiny()
    frozen = MiniGPT(model.config).eval()
    with torch.no_grad():
        frozen.blocks[1].attention.output.zero_()
    assert experiments.gradient_reach(model, batch).passed
    check = experiments.gradient_reach(frozen, batch)
    assert not check.passed and check.difference == 4.0  # norm1 and W_QKV of block 1
    assert not experiments.one_update(frozen, batch).passed


def test_an_accepted_empty_text_is_found(monkeypatch):
    model, _ = tiny()
    assert experiments.refusals(model, TOKENIZER, "a").details["tried"] == 5.0
    monkeypatch.setattr(experiments, "batch_records", lambda *given: None)
    check = experiments.refusals(model, TOKENIZER, "a")
    assert not check.passed and check.difference == 2.0  # the empty text and the over-long one


@pytest.mark.parametrize("name", ["mg-1", "chapter-7"])
def test_expected_parameters_of_the_presets(name):
    model, _ = preset_model(name)
    assert experiments.expected_parameters(model.config) == sum(tensor.numel() for tensor in model.parameters())
    more = replace(preset(name).model, vocab_size=model.config.vocab_size + 1)
    one_entry = experiments.expected_parameters(more) - experiments.expected_parameters(model.config)
    assert one_entry == {"mg-1": 33, "chapter-7": 256}[name]


def test_an_edit_needs_no_second_forward_of_what_is_traced():
    model, batch = tiny()
    known = edit_token(model, batch, 4, ord("z"), before=model.trace(batch.ids, batch.valid))
    again = edit_token(model, batch, 4, ord("z"))
    assert torch.equal(known.differences, again.differences)
    assert torch.equal(known.weight_differences, again.weight_differences)


def test_experiments_run_one_by_one_with_a_trace_that_is_there():
    model, batch = tiny()
    one_by_one = experiments.experiments(model, TOKENIZER, "Hi you", model.trace(batch.ids, batch.valid))
    assert [run() for run in one_by_one.values()] == experiments.all_checks(model, TOKENIZER, "Hi you")
    assert list(one_by_one) == [run().name for run in one_by_one.values()]
