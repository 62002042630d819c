"""Many seeds: each text is what its seed writes alone, and the means are those of the texts."""

from collections import Counter
from dataclasses import replace

import pytest

from minigpt.config import LARGEST_SAMPLE_SEED
from minigpt.corpus.library import bundled_corpus
from minigpt.generation.compare import measure
from minigpt.generation.seeds import SeedComparison
from minigpt.generation.settings import PRESETS, SampleConfig
from minigpt.generation.stepping import generate, prompt_ids
from minigpt.inspection.sources import load_source

COLUMNS = (PRESETS["greedy"], SampleConfig(0.8, seed=LARGEST_SAMPLE_SEED - 1, max_new_tokens=9))
TRAIN = bundled_corpus().train


@pytest.fixture(scope="module")
def repetition() -> SeedComparison:
    work = SeedComparison(*load_source("mini-gpt", 100), "The ", COLUMNS, TRAIN, seeds=4)
    assert (work.progress, work.finished) == (0.0, False)
    seen = [work.progress]
    while not work.finished:
        work.advance(0.0)
        seen.append(work.progress)
    assert seen == sorted(seen) and seen[-1] == 1.0
    assert len(seen) > 4 + len(COLUMNS) * 4  # one round or one text at a time
    return work


def test_each_text_is_that_of_its_seed_alone(repetition: SeedComparison):
    model, tokenizer = load_source("mini-gpt", 100)
    seeds = [LARGEST_SAMPLE_SEED - 1, LARGEST_SAMPLE_SEED, 0, 1]  # the seeds go round at the largest
    for text, row, seed in zip(repetition.texts(1), repetition.column_measures(1), seeds, strict=True):
        steps = list(generate(model, tokenizer, prompt_ids(tokenizer, "The "), replace(COLUMNS[1], seed=seed)))
        assert text == tokenizer.decode_bytes(step.id for step in steps)
        assert row.stop == steps[-1].stop and row.copy == measure(tokenizer, steps, TRAIN).copy
    assert len(set(repetition.texts(0))) == 1


def test_habits_are_means_and_counts(repetition: SeedComparison):
    greedy, sampled = repetition.summary(0), repetition.summary(1)
    assert (greedy.texts, greedy.different) == (4, 1)
    rows = repetition.column_measures(1)
    assert sampled.different == len(set(repetition.texts(1))) > 1
    assert sampled.tokens == sum(row.tokens for row in rows) / 4
    assert sampled.surprise == pytest.approx(sum(row.surprise for row in rows) / 4)
    assert sampled.copied == sum(row.copy.length for row in rows) / 4
    assert sampled.memorized == sum(row.memorized for row in rows)
    assert sampled.stops == Counter(row.stop for row in rows)


def test_a_rate_that_no_text_has_is_none():
    work = SeedComparison(*load_source("mini-gpt", 0), "", [SampleConfig(max_new_tokens=1)], TRAIN, seeds=2)
    work.advance(600)
    assert work.finished and work.summary(0).distinct_2 is None
