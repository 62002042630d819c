"""Windows over contiguous text: which pairs are scored, and training on them."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from minigpt.corpus.batches import batch_records
from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.windows import window_stream
from minigpt.model.loss import IGNORE
from minigpt.presets import configured, preset
from minigpt.tokenizers.byte_bpe import BOS, EOS, PAD, ByteBPE
from minigpt.training.loop import Evaluation, evaluation_rows
from minigpt.training.runs.create import new_run, resume_run

BYTES = ByteBPE()
A, B, C = b"abc"


def scored_pairs(split, rows) -> list[tuple[int, int]]:
    batch = split.select(rows, trimmed=True)
    kept = batch.targets != IGNORE
    return list(zip(batch.ids[kept].tolist(), batch.targets[kept].tolist(), strict=True))


def test_stream_by_hand():
    windows = window_stream(["ab", "c"], BYTES, length=4)
    assert windows.ids.tolist() == [BOS, A, B, EOS, BOS, C, EOS, PAD, PAD, PAD, PAD]
    assert windows.targets.tolist() == [A, B, EOS, IGNORE, C, EOS, *[IGNORE] * 5]
    assert (windows.slots, windows.target_count, len(windows), windows.pass_rows.tolist()) == (7, 5, 4, [0, 4])
    batch = windows.select(torch.tensor([4]))
    assert (batch.ids.tolist(), batch.valid.tolist()) == ([[BOS, C, EOS, PAD]], [[True, True, True, False]])
    assert windows.select(torch.tensor([4]), trimmed=True).ids.tolist() == [[BOS, C, EOS]]


@given(st.lists(st.text("abcd é", min_size=1, max_size=12), min_size=1, max_size=6), st.integers(1, 9))
def test_one_pass_scores_every_pair_of_the_records_once(texts, length):
    windows = window_stream(texts, BYTES, length)
    records = batch_records(texts, BYTES, context_length=64)
    expected = Counter(scored_pairs(records, records.pass_rows))
    assert Counter(scored_pairs(windows, windows.pass_rows)) == expected
    assert windows.target_count == expected.total()


@given(st.text("ab", min_size=1, max_size=30), st.integers(1, 9))
def test_every_start_but_a_short_text_fills_its_window(text, length):
    windows = window_stream([text], BYTES, length)
    batch = windows.select(torch.arange(len(windows)))
    assert batch.valid.all() or windows.slots < length


@pytest.mark.parametrize("texts", [[], [""], ["a", ""]])
def test_no_text_is_refused(texts):
    with pytest.raises(ValueError, match="windows need texts"):
        window_stream(texts, BYTES, 4)


def test_a_fixed_sample_is_the_same_each_time_and_depends_on_its_seed():
    windows = window_stream(["abcdefgh" * 40], BYTES, 4)
    config = replace(preset("mg-1").training, evaluation_rows=5)
    rows = evaluation_rows(windows, config)
    assert torch.equal(rows, evaluation_rows(windows, config))
    assert len(set(rows.tolist())) == 5
    assert set(rows.tolist()) <= set(windows.pass_rows.tolist())
    assert not torch.equal(rows, evaluation_rows(windows, replace(config, evaluation_seed=12)))
    assert torch.equal(evaluation_rows(windows, replace(config, evaluation_rows=0)), windows.pass_rows)
    assert torch.equal(evaluation_rows(windows, replace(config, evaluation_rows=999)), windows.pass_rows)


def test_a_record_longer_than_the_context_trains_in_windows_only(tmp_path):
    corpus = Corpus("long", (Record("t", "the cat sat on the mat. " * 20),), (Record("v", "the mat sat. " * 9),))
    small = configured(preset("mg-1"), {"merges": "0", "steps": "12", "evaluate_every": "6", "batch_size": "2"})
    settings = small.training
    with pytest.raises(ValueError, match="the context length is 64"):
        new_run(tmp_path / "records", small, corpus, settings)
    run, training = new_run(tmp_path / "run", small, corpus, replace(settings, mode="windows"))
    reports = list(run.record(training))
    evaluations = [report for report in reports if isinstance(report, Evaluation)]
    assert evaluations[-1].train_loss < evaluations[0].train_loss
    steps = [report for report in reports if not isinstance(report, Evaluation)]
    assert {report.scored for report in steps} <= {127, 128}
    assert all(0 <= start < len(training.train) for report in steps for start in report.records)
    assert resume_run(run.folder)[1].finished


def test_evaluations_over_all_of_a_large_corpus_are_refused_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGPT_EVALUATED_CHARACTERS", "500")
    corpus = Corpus("long", (Record("t", "the cat sat on the mat. " * 20),), (Record("v", "the mat sat. " * 9),))
    small = configured(preset("mg-1"), {"merges": "0", "steps": "2", "mode": "windows"})
    with pytest.raises(ValueError, match="all 597 .* at most 500 are allowed; set evaluation_rows, such as 200"):
        new_run(tmp_path / "run", small, corpus, small.training)
    assert not (tmp_path / "run").exists()
    new_run(tmp_path / "run", small, corpus, replace(small.training, evaluation_rows=3))
