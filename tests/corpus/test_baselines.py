"""Baselines by hand, against a slow obvious count, and on the same positions as the validation loss."""

from collections import Counter
from math import log

import pytest
import torch

from minigpt.corpus.baselines import NO_ID, ngram_baselines
from minigpt.corpus.batches import batch_records
from minigpt.corpus.library import bundled_corpus
from minigpt.corpus.windows import window_stream
from minigpt.tokenizers.byte_bpe import BOS, EOS, ByteBPE

BYTES = ByteBPE()


def slow_losses(train: list[str], scored: list[str], vocab_size: int) -> list[float]:
    """Unigram, bigram and trigram loss by dictionaries and the formula of the docstring."""
    grams = [gram for text in train for gram in framed(text)]
    asked = [gram for text in scored for gram in framed(text)]

    def probability(context: tuple, word: int) -> float:
        follow = Counter(gram[2] for gram in grams if gram[2 - len(context) : 2] == context)
        shorter = probability(context[1:], word) if context else 1 / vocab_size
        if not follow:
            return shorter
        return (follow[word] + len(follow) * shorter) / (follow.total() + len(follow))

    return [-sum(log(probability(gram[2 - order : 2], gram[2])) for gram in asked) / len(asked) for order in (0, 1, 2)]


def framed(text: str) -> list[tuple[int, int, int]]:
    ids = [NO_ID, BOS, *text.encode(), EOS]
    return list(zip(ids, ids[1:], ids[2:], strict=False))


def test_by_hand():
    batch = batch_records(["ab"], BYTES, context_length=8)
    baselines = ngram_baselines(batch, batch, vocab_size=259)
    unigram = (1 + 3 / 259) / 6  # each of a, b, EOS once among three kinds
    bigram = (1 + unigram) / 2  # one kind after each id
    trigram = (1 + bigram) / 2
    assert baselines.uniform == log(259)
    assert (baselines.unigram, baselines.bigram, baselines.trigram) == pytest.approx(
        (-log(unigram), -log(bigram), -log(trigram)), abs=1e-14
    )
    assert baselines.positions == 3


def test_equals_a_slow_count_and_stays_finite():
    train, scored = ["a red pear", "red", "rare"], ["pear tree", "zebra", "é"]
    batches = [batch_records(texts, BYTES, context_length=16) for texts in (train, scored)]
    found = ngram_baselines(*batches, vocab_size=259)
    assert [found.unigram, found.bigram, found.trigram] == pytest.approx(slow_losses(train, scored, 259), abs=1e-12)


def test_both_modes_agree_and_count_the_validation_positions():
    corpus = bundled_corpus()
    train, validation = ([record.text for record in split] for split in (corpus.train, corpus.validation))
    tokenizer = ByteBPE.train(train, 32)
    records = [batch_records(texts, tokenizer, 64) for texts in (train, validation)]
    windows = [window_stream(texts, tokenizer, 10) for texts in (train, validation)]
    found = ngram_baselines(*records, vocab_size=291)
    assert found == ngram_baselines(*windows, vocab_size=291)
    assert found.positions == 164
    assert found.trigram < found.bigram < found.unigram < found.uniform


def test_probabilities_sum_to_one():
    train = batch_records(["abab", "ba"], BYTES, context_length=8)
    ids = torch.arange(259)
    asked = type(train)(torch.full((259, 1), ord("a")), torch.ones(259, 1, dtype=torch.bool), ids[:, None])
    losses = [ngram_baselines(train, asked, 259, rows=torch.tensor([i])).bigram for i in range(259)]
    assert torch.tensor(losses, dtype=torch.float64).neg().exp().sum().item() == pytest.approx(1, abs=1e-12)


def test_rows_of_a_fixed_sample():
    train = batch_records(["ab", "cd"], BYTES, context_length=8)
    one = batch_records(["cd"], BYTES, context_length=8)
    assert ngram_baselines(train, train, 259, rows=torch.tensor([1])) == ngram_baselines(train, one, 259)


def test_nothing_scored_is_refused():
    batch = batch_records(["ab"], BYTES, context_length=8)
    with pytest.raises(ValueError, match="at least one scored position"):
        ngram_baselines(batch, batch, 259, rows=torch.tensor([], dtype=torch.long))
