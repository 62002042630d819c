"""Tokenizers of the corpora: learned at once for small ones, in a separate process for large ones."""

from pathlib import Path

import streamlit as st

from minigpt.config import TokenizerConfig
from minigpt.corpus.tokenizer_jobs.jobs import (
    JobState,
    Learned,
    Learning,
    job_folder,
    learn_here,
    learned_folders,
    load_learned,
    read_merges,
)
from minigpt.corpus.tokenizer_jobs.process import Job, read_job
from minigpt.ui.shared.corpora import Choice, loaded

SMALL = 300_000  # characters: with hundreds of merges they are learned in a second


@st.cache_resource(show_spinner=False)
def learning() -> Learning:
    """The jobs of this server: they end with it."""
    return Learning()


def learned(choice: Choice, config: TokenizerConfig) -> Learned | None:
    """The tokenizer of a corpus under a config; None when a job has to learn it first, see `begin`.

    Raises ValueError for a damaged file of it, or a config that the corpus cannot serve.
    """
    folder = job_folder(choice.place, _job(choice, config))
    if (folder / "tokenizer.json").exists():
        return _read(str(folder), (folder / "tokenizer.json").stat().st_mtime_ns)
    return _here(choice.path, choice.path.stat().st_mtime_ns, config, choice) if is_small(choice) else None


def is_small(choice: Choice) -> bool:
    """Whether a tokenizer of this corpus is learned in a moment."""
    corpus = loaded(choice)
    return sum(len(record.text) for record in corpus.train + corpus.validation) <= SMALL


def state(choice: Choice, config: TokenizerConfig) -> JobState:
    """The status of the job for it."""
    return learning().state(job_folder(choice.place, _job(choice, config)))


def begin(choice: Choice, config: TokenizerConfig) -> None:
    """Let a process learn it. Raises ValueError as Learning.start does."""
    job = _job(choice, config)
    learning().start(job_folder(choice.place, job), job)


def cancel(choice: Choice, config: TokenizerConfig) -> None:
    """Stop learning it."""
    learning().cancel(job_folder(choice.place, _job(choice, config)))


def cancel_all(choice: Choice) -> None:
    """Stop whatever is learned from a corpus that is about to go."""
    for path in choice.place.glob("tokenizers/*/*/job.json"):
        learning().cancel(path.parent)


def merges_so_far(choice: Choice, config: TokenizerConfig) -> list[dict]:
    """What merges.jsonl holds by now: rank, left, right, id, count, tokens and the piece in hex."""
    return read_merges(job_folder(choice.place, _job(choice, config)))


def known(choice: Choice) -> list[TokenizerConfig]:
    """The configs of the tokenizers that jobs have learned from this corpus, the newest first."""
    return [read_job(folder).config for folder in learned_folders(choice.place, loaded(choice).hash)]


def under_way(choice: Choice) -> TokenizerConfig | None:
    """The config of a job that learns from this corpus now: a reader who comes back finds it again."""
    for path in sorted(choice.place.glob(f"tokenizers/{loaded(choice).hash}/*/job.json")):
        if learning().state(path.parent).status.active:
            return read_job(path.parent).config
    return None


def _job(choice: Choice, config: TokenizerConfig) -> Job:
    return Job(config, str(choice.path), loaded(choice).hash)


@st.cache_resource(show_spinner=False, max_entries=32)
def _read(folder: str, stamp: int) -> Learned:
    return load_learned(Path(folder))


@st.cache_resource(show_spinner=False, max_entries=64)
def _here(path: Path, stamp: int, config: TokenizerConfig, _choice: Choice) -> Learned:
    return learn_here(config, loaded(_choice))
