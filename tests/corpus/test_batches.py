"""Batches: shifted once, padded, never cut; selecting and trimming change no loss."""

import pytest
import torch

from minigpt.config import ModelConfig
from minigpt.corpus.batches import Batch, RecordTooLong, batch_records, inspection_batch, slots_of
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import IGNORE, loss
from minigpt.tokenizers.byte_bpe import BOS, EOS, PAD, ByteBPE

BYTES = ByteBPE()


def record_ids(text: str, tokenizer: ByteBPE, context_length: int) -> list[int]:
    """BOS, the ids of `text`, EOS: the inputs of its batch and the last target."""
    batch = batch_records([text], tokenizer, context_length)
    length = batch.target_count
    return [*batch.ids[0, :length].tolist(), int(batch.targets[0, length - 1])]


def test_inputs_and_targets_are_shifted_once():
    batch = batch_records(["abc", "x"], BYTES, context_length=8, slots=5)
    assert batch.ids.tolist() == [[BOS, 97, 98, 99, PAD], [BOS, 120, PAD, PAD, PAD]]
    assert batch.targets.tolist() == [[97, 98, 99, EOS, IGNORE], [120, EOS, IGNORE, IGNORE, IGNORE]]
    assert batch.valid.int().tolist() == [[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]
    assert (len(batch), batch.target_count) == (2, 6)
    assert (batch.ids.dtype, batch.targets.dtype, batch.valid.dtype) == (torch.long, torch.long, torch.bool)


@pytest.mark.parametrize("text", ["Press <|eos|> to stop", "a<|eos|>b", "<|eos|"])
def test_exactly_one_end_and_one_begin(text: str):
    ids = record_ids(text, BYTES, 64)
    assert (ids.count(BOS), ids.count(EOS), ids.count(PAD)) == (1, 1, 0)
    assert (ids[0], ids[-1]) == (BOS, EOS)
    assert BYTES.decode(ids) == text


def test_sixty_five_ids_fit_and_sixty_six_do_not():
    """65 ids with BOS and EOS are 64 inputs and 64 targets."""
    assert len(record_ids("a" * 63, BYTES, 64)) == 65
    batch = batch_records(["a" * 63, "a" * 62], BYTES, 64)
    assert batch.valid.sum(-1).tolist() == [64, 63]
    assert batch.targets[0, 63] == EOS and batch.targets[1, 62] == EOS
    for length in (64, 198):
        sentence = rf"needs {length + 1} positions \(BOS and {length} tokens\), the context length is 64"
        with pytest.raises(ValueError, match=f"record 1 {sentence}"):
            record_ids("a" * length, BYTES, 64)
        with pytest.raises(ValueError, match=f"record 2 {sentence}"):
            batch_records(["a", "a" * length, "b"], BYTES, 64)
        with pytest.raises(RecordTooLong) as caught:
            inspection_batch("a" * length, BYTES, 64)
        assert (caught.value.needed, caught.value.context) == (length + 1, 64)


def test_every_pair_is_a_target_exactly_once():
    texts = ["hello", "法国", "a"]
    batch = batch_records(texts, BYTES, 64)
    for row, text in enumerate(texts):
        ids = [BOS, *text.encode(), EOS]
        slots = batch.valid[row]
        pairs = list(zip(batch.ids[row, slots].tolist(), batch.targets[row, slots].tolist(), strict=True))
        assert pairs == list(zip(ids, ids[1:], strict=False))


def test_empty_records_are_refused():
    with pytest.raises(ValueError, match="record 1 is empty; type at least one character"):
        record_ids("", BYTES, 64)
    with pytest.raises(ValueError, match="record 3 is empty"):
        batch_records(["a", "b", ""], BYTES, 64)
    with pytest.raises(ValueError, match="at least one record, got none"):
        batch_records([], BYTES, 64)


@pytest.mark.parametrize("slots", [0, 3, 9, 64])
def test_slots_that_do_not_fit(slots: int):
    with pytest.raises(ValueError, match=f"slots must be 4 to 8 for these records, got {slots}"):
        batch_records(["abc"], BYTES, 8, slots=slots)


def test_slots_are_the_context_by_default():
    assert batch_records(["abc"], BYTES, 8).ids.shape == (1, 8)
    assert batch_records(["abc"], BYTES, 8, slots=4).valid.all()


@pytest.fixture(scope="module")
def batch() -> Batch:
    return batch_records(["red", "a longer record", "blue", "x"], ByteBPE.train(["red record"], 3), 24)


def test_select(batch: Batch):
    rows = torch.tensor([3, 0, 3])
    chosen, trimmed = batch.select(rows), batch.select(rows, trimmed=True)
    assert torch.equal(chosen.ids, batch.ids[rows]) and torch.equal(chosen.targets, batch.targets[rows])
    assert trimmed.ids.shape == (3, int(batch.valid[0].sum()))
    assert chosen.target_count == trimmed.target_count == 2 * int(batch.valid[3].sum()) + int(batch.valid[0].sum())
    assert trimmed.valid[1].all(), "the longest row has no padding left"
    assert batch.ids.shape == (4, 24)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize("rows", [[0], [3, 2], [0, 1, 2, 3]])
def test_trimming_changes_no_loss(batch: Batch, rows: list[int], dtype: str, tolerance: float):
    sizes = {"vocab_size": 262, "context_length": 24, "width": 8, "heads": 2, "layers": 2, "ffn_width": 8}
    model = MiniGPT(ModelConfig(**sizes, dtype=dtype))
    losses = []
    for trimmed in (False, True):
        part = batch.select(torch.tensor(rows), trimmed=trimmed)
        losses.append(loss(model(part.ids, part.valid), part.targets).item())
    assert abs(losses[0] - losses[1]) <= tolerance


@pytest.mark.parametrize("context", [1, 2, 16, 64, 128, 129, 1024])
def test_slots_hold_the_record_and_some_padding(context):
    for length in range(1, context + 1):
        slots = slots_of(length, context)
        assert slots == context if context <= 128 else min(length + 1, context) <= slots <= min(length + 16, context)


def test_a_record_is_looked_at_in_fewer_slots_of_a_long_context():
    tokenizer = ByteBPE()
    short, whole = (inspection_batch("red", tokenizer, context) for context in (1024, 64))
    assert (short.ids.shape, whole.ids.shape, short.target_count) == ((1, 16), (1, 64), 4)
    assert short.targets[0, :4].tolist() == whole.targets[0, :4].tolist() == [114, 101, 100, 257]
    assert not short.valid[0, 4:].any()


def test_a_record_is_looked_at_without_filling_the_context():
    batch = inspection_batch("red", BYTES, 10**15)
    assert batch.ids.shape == batch.valid.shape == batch.targets.shape == (1, 16)
    assert batch.target_count == 4
