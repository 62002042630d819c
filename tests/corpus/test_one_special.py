"""Records and generation under a tokenizer whose BOS, EOS and PAD are one id, as GPT-2's are."""

import torch

from minigpt.config import ModelConfig
from minigpt.corpus.baselines import ngram_baselines
from minigpt.corpus.batches import batch_records
from minigpt.corpus.windows import window_stream
from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import generate, never_drawn, prompt_ids
from minigpt.inspection import experiments
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import IGNORE
from minigpt.tokenizers.byte_bpe import ByteBPE

END = 256
A, B, C = b"abc"


class OneSpecial(ByteBPE):
    bos = eos = pad = END
    specials = {END: "END"}


BYTES = OneSpecial()
MODEL = ModelConfig(vocab_size=259, context_length=8, width=8, heads=2, layers=1, ffn_width=8)


def test_a_batch_and_a_stream_score_the_same_pairs():
    batch = batch_records(["ab", "c"], BYTES, context_length=4)
    assert batch.ids.tolist() == [[END, A, B, END], [END, C, END, END]]
    assert batch.targets.tolist() == [[A, B, END, IGNORE], [C, END, IGNORE, IGNORE]]
    windows = window_stream(["ab", "c"], BYTES, length=4)
    assert windows.ids.tolist() == [END, A, B, END, END, C, END, *[END] * 4]
    assert windows.targets.tolist() == [A, B, END, IGNORE, C, END, *[IGNORE] * 5]


def test_baselines_see_where_records_begin():
    texts = ["ab", "cab", "b"]
    stream, batch = window_stream(texts, BYTES, length=4), batch_records(texts, BYTES, context_length=8)
    assert ngram_baselines(stream, stream, 259) == ngram_baselines(batch, batch, 259)


def test_the_one_special_ends_a_text_and_may_be_drawn():
    model = MiniGPT(MODEL).eval()
    assert not never_drawn(model, BYTES)[END]
    with torch.no_grad():
        model.head[:] = 0
        model.head_bias[:] = 0
        model.head_bias[END] = 50
    (step,) = generate(model, BYTES, prompt_ids(BYTES, "a"), SampleConfig(temperature=0))
    assert (step.id, step.stop) == (END, "eos")


def test_the_shift_is_checked():
    batch = batch_records(["ab"], BYTES, context_length=4)
    assert experiments.target_shift(batch, BYTES).passed
