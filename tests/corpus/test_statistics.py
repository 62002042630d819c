"""Counts of a corpus against the slow obvious way, and the records that do not fit a context."""

import numpy as np
import pytest

from minigpt.corpus import statistics as module
from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.length_check import LongRecord, too_long
from minigpt.corpus.library import bundled_corpus
from minigpt.corpus.statistics import histogram, statistics
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.chars import Chars

BUNDLED = bundled_corpus()
MG1 = ByteBPE.train([record.text for record in BUNDLED.train], 32)


def corpus(train: list[str], validation: list[str] = ()) -> Corpus:
    return Corpus(
        "c",
        tuple(Record(f"t{i}", text) for i, text in enumerate(train)),
        tuple(Record(f"v{i}", text) for i, text in enumerate(validation)),
    )


def test_counts_of_a_small_corpus_by_hand():
    found = statistics(corpus(["aé", "a"], ["ab"]), ByteBPE())
    assert (found.train.records, found.train.characters, found.train.bytes, found.train.tokens) == (2, 3, 4, 4)
    assert found.train.lengths.tolist() == [3, 1] and found.validation.lengths.tolist() == [2]
    assert (found.vocab_size, found.specials, found.covered, found.validation_only) == (259, 3, 3, 1)
    assert found.coverage == 3 / 256
    assert found.train.counts[ord("a")] == 2 and found.train.counts.sum() == 4
    assert found.train.bytes_per_token == 1.0


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_the_bundled_corpus(monkeypatch: pytest.MonkeyPatch, at_once: int):
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    found = statistics(BUNDLED, MG1)
    for part, records in ((found.train, BUNDLED.train), (found.validation, BUNDLED.validation)):
        ids = [MG1.encode(record.text) for record in records]
        assert part.lengths.tolist() == [len(row) for row in ids]
        assert part.tokens == sum(map(len, ids))
        assert part.counts.tolist() == np.bincount(sum(ids, []), minlength=291).tolist()
        assert part.characters == sum(len(record.text) for record in records)
    assert (found.train.tokens, found.covered, found.validation_only) == (454, 105, 4)


def test_no_validation_records():
    found = statistics(corpus(["a"]), ByteBPE())
    assert (found.validation.records, found.validation.tokens, found.validation.bytes_per_token) == (0, 0, None)
    assert found.validation.lengths.shape == (0,) and found.validation_only == 0


def test_a_text_without_ids_is_named():
    with pytest.raises(ValueError, match="validation record v1: .*1 'z'"):
        statistics(corpus(["abc"], ["a", "bz"]), Chars("abc"))


@pytest.mark.parametrize(
    ("lengths", "bars", "counts", "edges"),
    [
        ([3, 3, 5], 40, [2, 0, 1], [3, 4, 5, 6]),
        ([7], 40, [1], [7, 8]),
        ([0, 9], 5, [1, 0, 0, 0, 1], [0, 2, 4, 6, 8, 10]),
        ([0, 10], 5, [1, 0, 0, 1], [0, 3, 6, 9, 12]),
        ([1, 2, 3], 1, [3], [1, 4]),
        ([], 40, [], [0]),
    ],
)
def test_histogram(lengths: list[int], bars: int, counts: list[int], edges: list[int]):
    found = histogram(np.array(lengths, dtype=np.int64), bars)
    assert (found[0].tolist(), found[1].tolist()) == (counts, edges)


def test_histogram_loses_nothing():
    lengths = np.random.default_rng(1).integers(0, 1000, size=500)
    for bars in (1, 7, 40, 2000):
        counts, edges = histogram(lengths, bars)
        assert counts.sum() == 500 and len(counts) == len(edges) - 1 <= bars
        assert counts.tolist() == np.histogram(lengths, bins=edges - 0.5)[0].tolist()
    with pytest.raises(ValueError, match="bars must be a whole number of at least 1, got 0"):
        histogram(lengths, 0)


def test_too_long_at_the_border():
    texts = corpus(["a" * 8, "b" * 7, "c" * 9], ["d" * 9, "e"])
    assert too_long(texts, ByteBPE(), 10).records == ()
    found = too_long(texts, ByteBPE(), 8)
    assert [(long.split, long.number, long.tokens, long.needed) for long in found.records] == [
        ("train", 3, 9, 10),
        ("validation", 1, 9, 10),
        ("train", 1, 8, 9),
    ]
    assert found.records[0] == LongRecord("train", 3, texts.train[2], 9)
    assert found.needed == 10
    assert found.fault == (
        "record t2 needs 10 positions (BOS and 9 tokens), the context length is 8 (records that are too long: 3); "
        "set context_length=10 or mode=windows"
    )


def test_every_record_of_mg1_fits():
    found = too_long(BUNDLED, MG1, 64, statistics(BUNDLED, MG1))
    assert (found.records, found.needed, found.fault) == ((), 28, None)
    assert too_long(BUNDLED, MG1, 28).records == ()
    assert len(too_long(BUNDLED, MG1, 27).records) == 2
    with pytest.raises(ValueError, match="context_length must be a whole number of at least 1, got 0"):
        too_long(BUNDLED, MG1, 0)
