"""Generation: the contract of the source text, equal logits with and without the cache, stops, columns."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from minigpt.config import ModelConfig, TrainConfig
from minigpt.corpus.batches import batch_records
from minigpt.corpus.library import bundled_corpus
from minigpt.generation.drawing import draw_with_dice, new_generator, throw_dice
from minigpt.generation.measures import first_difference
from minigpt.generation.settings import PRESETS, SampleConfig
from minigpt.generation.stepping import Step, generate, never_drawn, prompt_ids
from minigpt.inspection.sources import load_source
from minigpt.model.gpt import MiniGPT
from minigpt.tokenizers.byte_bpe import BOS, EOS, PAD, ByteBPE
from minigpt.training.loop import Training

BYTES = ByteBPE()  # 256 bytes and three specials
HOT = SampleConfig(temperature=1.0, seed=7, max_new_tokens=20)


def drawn_model(layers: int = 1, dtype: str = "float64", vocab_size: int = 259, context: int = 12) -> MiniGPT:
    """Wide weights, so that every step has an opinion of its own."""
    sizes = {"width": 16, "heads": 2, "layers": layers, "ffn_width": 32, "attention_bias": True}
    config = ModelConfig(vocab_size, context, **sizes, activation="gelu", dtype=dtype, init_std=0.3, init_seed=4)
    return MiniGPT(config).eval()


def told_model(*ids: int) -> MiniGPT:
    """Says `ids` one after the other from position 0 on, whatever it reads: each position has a logit of its own."""
    model = drawn_model(context=8)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if name.endswith("weight") else 0.0)
        for position, id in enumerate(ids):
            model.position_embedding[position, position] = 1.0
            model.head[position, id] = 1.0
    return model


def texts(steps: list[Step]) -> dict[int, list[int]]:
    """The ids of each column."""
    found: dict[int, list[int]] = {}
    for step in steps:
        found.setdefault(step.column, []).append(step.id)
    return found


def test_the_contract_reproduces():
    """BOS + prompt, forbid BOS and PAD, softmax, torch.multinomial with the generator of seed 31415."""
    model, tokenizer = load_source("mini-gpt", 100)
    settings = SampleConfig()
    assert (settings.seed, settings.max_new_tokens) == (31415, 24)
    context, generator, expected = prompt_ids(tokenizer, "The "), torch.Generator().manual_seed(31415), []
    while len(expected) < 24 and EOS not in expected:
        logits = model(torch.tensor([context + expected]))[0, -1].detach()
        logits[[BOS, PAD]] = -torch.inf
        expected.append(torch.multinomial(logits.softmax(-1), 1, generator=generator).item())
    steps = list(generate(model, tokenizer, context, settings))
    assert [step.id for step in steps] == expected
    assert steps[-1].stop == ("eos" if EOS in expected else "length")
    assert all(step.stop is None for step in steps[:-1])


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("prompt", ["", "a", "abcdefghij", "abcdefghijk"])
def test_cached_logits_are_the_uncached_ones_to_the_last_position(layers: int, prompt: str):
    model, context = drawn_model(layers), prompt_ids(BYTES, prompt)
    for _ in range(2):  # the second use of the model starts as fresh as the first
        steps = list(generate(model, BYTES, context, HOT))
        read = [*context]
        for step in steps:
            assert step.context_ids == tuple(read)
            full = model(torch.tensor([read]))[0, -1]
            assert (step.logits - full).abs().max() <= 1e-12
            read.append(step.id)
        assert len(read) == 13 and steps[-1].stop == "context_limit"
        again = list(generate(model, BYTES, context, HOT, cached=False))
        assert [step.id for step in again] == [step.id for step in steps]


def test_sliding_reads_the_last_ids_again():
    model, context = drawn_model(3), prompt_ids(BYTES, "abcdefgh")
    sliding = SampleConfig(seed=7, max_new_tokens=20, at_context_length="slide")
    stopping = SampleConfig(seed=7, max_new_tokens=20)
    steps = [step for step in generate(model, BYTES, context, [sliding, stopping]) if step.column == 0]
    written = context + [step.id for step in steps]
    assert len(steps) == 20 and steps[-1].stop == "length"
    for step in steps:
        window = written[: len(context) + step.index][-12:]
        assert step.context_ids == tuple(window)
        assert (step.logits - model(torch.tensor([window]))[0, -1]).abs().max() <= 1e-12
    assert len(texts(list(generate(model, BYTES, context, [sliding, stopping])))[1]) == 4


@pytest.mark.parametrize(
    ("ids", "most", "count", "stop"),
    [
        ((EOS,), 5, 1, "eos"),
        ((65, 66, 67, EOS), 6, 4, "eos"),
        ((65, 66, 67, 68), 3, 3, "length"),
        ((65, 66, EOS), 3, 3, "eos"),
        ((65, 66, 67, 68, 69, 70, 71, 72), 50, 8, "context_limit"),
        ((65, 66, 67, 68, 69, 70, 71, 72), 8, 8, "length"),
    ],
)
def test_the_reason_to_stop(ids: tuple, most: int, count: int, stop: str):
    steps = list(generate(told_model(*ids), BYTES, [BOS], SampleConfig(temperature=0.0, max_new_tokens=most)))
    assert [step.id for step in steps] == list(ids[:count])
    assert [step.stop for step in steps] == [None] * (count - 1) + [stop]


COLUMNS = [PRESETS["greedy"], SampleConfig(0.8, seed=7), SampleConfig(0.8, seed=7), SampleConfig(top_p=0.9, seed=3)]


@pytest.mark.parametrize("name", ["mini-gpt", "chapter-7"])
def test_a_column_writes_the_same_alone_with_others_and_in_another_order(name: str):
    model, tokenizer = load_source(name, 0)
    context, state = prompt_ids(tokenizer, "The key "), torch.get_rng_state()
    together = texts(list(generate(model, tokenizer, context, COLUMNS)))
    turned = texts(list(generate(model, tokenizer, context, COLUMNS[::-1])))
    for column, settings in enumerate(COLUMNS):
        torch.manual_seed(column)  # what others do with the global generator changes nothing
        alone = texts(list(generate(model, tokenizer, context, settings)))[0]
        assert together[column] == alone == turned[3 - column]
    assert together[1] == together[2] != together[0]
    torch.set_rng_state(state)
    list(generate(model, tokenizer, context, COLUMNS, dice_seed=1))
    assert torch.equal(torch.get_rng_state(), state)


def test_training_and_sampling_do_not_disturb_each_other():
    model, tokenizer = load_source("mini-gpt", 50)
    texts_of_records = [record.text for record in bundled_corpus().train]
    context, losses, ids = prompt_ids(tokenizer, "The "), {}, {}
    for together in (True, False):
        split = batch_records(texts_of_records, tokenizer, 64)
        config = replace(model.config, dropout=0.1)
        training = Training(MiniGPT(config), split, None, TrainConfig(steps=30))
        source = generate(model, tokenizer, context, HOT)
        if together:
            reports, ids[together] = [], []
            for step in source:
                ids[together].append(step.id)
                reports.append(training.advance())
        else:
            ids[together] = [step.id for step in source]
            reports = [training.advance() for _ in ids[together]]
        losses[together] = [report.loss for report in reports]
    assert ids[True] == ids[False] and losses[True] == losses[False]


def test_same_dice_for_all():
    model, tokenizer = load_source("mini-gpt", 50)
    columns = [SampleConfig(seed=1), SampleConfig(seed=2), PRESETS["greedy"], SampleConfig(0.8, top_k=5)]
    steps = list(generate(model, tokenizer, prompt_ids(tokenizer, "The "), columns, dice_seed=9))
    found, dice = texts(steps), new_generator(9)
    assert found[0] == found[1]  # equal distributions, equal throws: the own seeds play no part
    throws = [throw_dice(dice) for _ in range(24)]
    for step in steps:
        assert step.dice == throws[step.index]
        if step.column == 2:
            assert step.dice_draw is None
            continue
        assert step.dice_draw == draw_with_dice(step.filters.probabilities, step.dice)
        assert step.dice_draw.low <= step.dice < step.dice_draw.high and step.dice_draw.token_id == step.id
    parted = first_difference([found[0], found[3]])
    assert parted is not None and found[0][:parted] == found[3][:parted]


def test_what_a_step_says_is_what_was_drawn_from():
    model, tokenizer = load_source("mini-gpt", 50)
    settings = SampleConfig(0.8, top_k=10, seed=5)
    steps = list(generate(model, tokenizer, prompt_ids(tokenizer, "The "), [settings, PRESETS["greedy"]]))
    for step in steps:
        raw = model(torch.tensor([step.context_ids]))[0, -1].softmax(-1)
        assert step.raw_probability == pytest.approx(raw[step.id].item(), abs=1e-12)
        assert abs(step.filters.raw_probabilities.sum().item() - 1) < 1e-12
        if step.column == 1:
            assert (step.probability, step.rank, step.kept, step.entropy) == (1.0, 1, 1, 0.0)
            continue
        kept = step.candidates(10)
        assert sum(candidate.probability for candidate in kept) == pytest.approx(1, abs=1e-12)
        assert step.kept == 10 and step.candidates(11)[10].probability == 0
        assert kept[step.rank - 1].id == step.id and kept[step.rank - 1].probability == step.probability
        shares = np.array([candidate.probability for candidate in kept])
        assert step.entropy == pytest.approx(-(shares * np.log(shares)).sum(), abs=1e-12)
        assert [candidate.rank for candidate in kept] == list(range(1, 11))
    assert any(step.rank > 1 for step in steps)


def test_bos_pad_and_ids_without_a_piece_are_never_drawn():
    model = drawn_model(vocab_size=300, context=64)
    mask = never_drawn(model, BYTES)
    assert mask.nonzero().flatten().tolist() == [BOS, PAD, *range(259, 300)]
    for seed in range(20):
        for step in generate(model, BYTES, [BOS], SampleConfig(temperature=50.0, seed=seed, max_new_tokens=60)):
            assert not mask[step.id] and step.filters.probabilities[mask].sum() == 0


def test_broken_utf8_is_kept_as_bytes():
    steps = list(generate(told_model(0xE6, 0xB3, 65, EOS), BYTES, [BOS], SampleConfig(temperature=0.0)))
    ids = [step.id for step in steps]
    assert BYTES.decode_bytes(ids) == b"\xe6\xb3A"
    assert [BYTES.piece_label(id) for id in ids] == ["‹E6›", "‹B3›", "A", "‹EOS›"]


def test_a_tie_is_broken_by_the_lowest_id():
    (step,) = generate(told_model(), BYTES, [BOS], SampleConfig(temperature=0.0, max_new_tokens=1))
    assert step.id == 0 and step.rank == 1


def test_refusals():
    model = drawn_model()
    for context, columns, words in [
        ([], HOT, "the context must have 1 to 12 ids, BOS included, got 0"),
        ([BOS] * 13, HOT, "the context must have 1 to 12 ids, BOS included, got 13"),
        ([BOS, 259], HOT, "a context id must be 0 to 258, got 259"),
        ([-1], HOT, "a context id must be 0 to 258, got -1"),
        ([BOS], [], "at least one column is needed, got none"),
    ]:
        with pytest.raises(ValueError, match=words):
            generate(model, BYTES, context, columns)
    with pytest.raises(ValueError, match="training mode"):
        generate(drawn_model().train(), BYTES, [BOS], HOT)
    with torch.no_grad():
        model.head[:, 5] = torch.nan
    with pytest.raises(ValueError, match="logits must be finite or -inf, got nan at id 5"):
        next(generate(model, BYTES, [BOS], PRESETS["greedy"]))
