"""Tokenizers learned in a process of their own: the same as in this one, watched, stopped, found again."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from minigpt.config import TokenizerConfig
from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.library import bundled, bundled_corpus
from minigpt.corpus.tokenizer_jobs.jobs import (
    JobState,
    Learning,
    job_folder,
    learn_here,
    learned_folders,
    load_learned,
)
from minigpt.corpus.tokenizer_jobs.process import Job, read_job, work, write_job
from minigpt.inspection.sources import BUNDLED_RUN
from minigpt.tokenizers.files import load_tokenizer


@pytest.fixture
def learning():
    made = Learning()
    yield made
    made.close()


@pytest.fixture
def endless(tmp_path):
    """A corpus with which a job is busy for longer than any test, as it has many different pairs."""
    rng = np.random.default_rng(5)
    text = rng.integers(97, 123, 400_000, dtype=np.uint8).tobytes().decode()
    return saved(tmp_path / "long.json", Corpus("long", (Record("a", text),)))


def saved(path, corpus: Corpus):
    path.write_text(corpus.to_json(), encoding="utf-8")
    return path, corpus.hash


def job(kind: str = "byte_bpe", merges: int = 32, corpus=None) -> Job:
    path, hash = corpus or (bundled("mini-gpt").path, bundled_corpus().hash)
    return Job(TokenizerConfig(kind, merges), str(path), hash)


def wait_for(learning: Learning, folder, *statuses: str) -> JobState:
    while (state := learning.state(folder)).status not in statuses:
        assert state.status.active, state
        time.sleep(0.02)
    return state


def test_a_job_learns_the_tokenizer_of_the_shipped_run(tmp_path, learning):
    folder = tmp_path / "job"
    assert learning.state(folder) == JobState("none")
    learning.start(folder, job())
    wait_for(learning, folder, "finished")
    learned = load_learned(folder)
    assert learned.tokenizer.fingerprint == load_tokenizer(BUNDLED_RUN / "tokenizer.json").fingerprint
    rows = [json.loads(line) for line in (folder / "merges.jsonl").read_text().splitlines()]
    assert [(row["left"], row["right"]) for row in rows] == list(learned.tokenizer.merges)
    assert all(bytes.fromhex(row["piece"]) == learned.tokenizer.piece_bytes(row["id"]) for row in rows)
    assert rows[-1]["tokens"] == learned.counted.train.tokens == learned.counted.train.counts.sum()
    assert learned.longest == max(len(learned.tokenizer.encode(r.text)) for r in bundled_corpus().train)


def test_characters_take_the_validation_records_too(tmp_path):
    corpus = Corpus("two", (Record("a", "春眠不觉晓"),), (Record("b", "处处"),))
    write_job(tmp_path, job("chars", corpus=saved(tmp_path / "corpus.json", corpus)))
    work(tmp_path)
    learned = load_learned(tmp_path)
    assert (learned.tokenizer.vocab_size, learned.longest) == (9, 5)
    assert learned.counted.train.lengths.tolist() == [5] and learned.counted.validation.lengths.tolist() == [2]
    assert learned.counted.validation_only == 1 and learned.counted.validation.counts.max() == 2


def test_learning_here_gives_what_a_job_gives(tmp_path):
    write_job(tmp_path, job())
    work(tmp_path)
    there, here = load_learned(tmp_path), learn_here(TokenizerConfig(merges=32), bundled_corpus())
    assert there.tokenizer.fingerprint == here.tokenizer.fingerprint
    for split in ("train", "validation"):
        one, other = (vars(getattr(learned.counted, split)) for learned in (there, here))
        assert all(np.array_equal(one[name], other[name]) for name in one)
    assert there.counted.covered == here.counted.covered and there.counted.vocab_size == 291


def test_a_job_is_watched_and_cancelled(tmp_path, learning, endless):
    folder = tmp_path / "job"
    learning.start(folder, job(merges=8000, corpus=endless))
    assert wait_for(learning, folder, "learning").size == 400_000
    while not (folder / "merges.jsonl").exists() or not (folder / "merges.jsonl").stat().st_size:
        assert learning.state(folder).status.active
        time.sleep(0.02)
    first = json.loads((folder / "merges.jsonl").read_text().splitlines()[0])
    assert first["tokens"] < 400_000
    learning.cancel(folder)
    assert learning.state(folder) == JobState("none") and not folder.exists()


def test_a_finished_tokenizer_is_neither_learned_again_nor_cancelled(tmp_path, learning):
    write_job(tmp_path, job())
    work(tmp_path)
    stamp = (tmp_path / "tokenizer.json").stat().st_mtime_ns
    learning.start(tmp_path, job())
    learning.cancel(tmp_path)
    assert learning.state(tmp_path).status == "finished"
    assert (tmp_path / "tokenizer.json").stat().st_mtime_ns == stamp


def test_jobs_at_once_and_merges_have_limits(tmp_path, learning, endless, monkeypatch):
    monkeypatch.setenv("MINIGPT_TOKENIZERS_AT_ONCE", "1")
    learning.start(tmp_path / "a", job(merges=8000, corpus=endless))
    learning.start(tmp_path / "a", job(merges=8000, corpus=endless))  # the same one goes on
    with pytest.raises(ValueError, match="is learning 1 tokenizers already, at most 1 at once"):
        learning.start(tmp_path / "b", job())
    learning.cancel(tmp_path / "a")
    learning.start(tmp_path / "b", job())
    with pytest.raises(ValueError, match="merges must be at most 8,192, got 9,000"):
        learning.start(tmp_path / "c", job(merges=9000))
    wait_for(learning, tmp_path / "b", "finished")


def test_a_changed_or_missing_corpus_fails_with_its_reason(tmp_path, learning):
    learning.start(tmp_path / "a", Job(TokenizerConfig(), str(bundled("mini-gpt").path), "0" * 16))
    learning.start(tmp_path / "b", job(corpus=(tmp_path / "none.json", "0" * 16)))
    assert "expected was 0000000000000000" in wait_for(learning, tmp_path / "a", "failed").reason
    assert "there is no corpus file" in wait_for(learning, tmp_path / "b", "failed").reason
    assert not (tmp_path / "a" / "tokenizer.json").exists()


def test_a_job_ends_with_its_server_and_is_then_interrupted(tmp_path, endless):
    (tmp_path / "job").mkdir()
    write_job(tmp_path / "job", job(merges=8000, corpus=endless))
    process = subprocess.Popen(
        [sys.executable, "-m", "minigpt.corpus.tokenizer_jobs.process", str(tmp_path / "job")], stdin=subprocess.PIPE
    )
    process.stdin.close()
    assert process.wait(timeout=60) == 1
    after = Learning()
    assert after.state(tmp_path / "job").status == "interrupted"
    after.start(tmp_path / "job", job())
    wait_for(after, tmp_path / "job", "finished")


def test_a_job_needs_no_torch():
    modules = "minigpt.corpus.tokenizer_jobs.process, minigpt.corpus.tokenizer_jobs.jobs"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_folders_by_corpus_and_config(tmp_path):
    assert job_folder(tmp_path, job()).relative_to(tmp_path).parts[2] == "byte_bpe-32"
    assert job_folder(tmp_path, job("chars")).name == "chars"
    for asked in (job(merges=3), job("chars")):
        folder = job_folder(tmp_path, asked)
        folder.mkdir(parents=True)
        write_job(folder, asked)
        work(folder)
        assert learned_folders(tmp_path, asked.corpus_hash)[0] == folder
    assert len(learned_folders(tmp_path, bundled_corpus().hash)) == 2 and learned_folders(tmp_path, "0") == []


def test_a_damaged_folder_is_refused(tmp_path):
    write_job(tmp_path, job())
    work(tmp_path)
    assert read_job(tmp_path) == job()
    (tmp_path / "counts.npz").write_bytes(b"PK no zip")
    with pytest.raises(ValueError, match="counts.npz is damaged"):
        load_learned(tmp_path)
    (tmp_path / "job.json").write_text("[]")
    with pytest.raises(ValueError, match="does not hold a tokenizer job"):
        read_job(tmp_path)
