"""The server's side of tokenizer jobs: start one, stop it, ask for its status. What they learn stays on disk."""

import json
import shutil
import subprocess
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from minigpt.config import TokenizerConfig
from minigpt.corpus.corpus import Corpus
from minigpt.corpus.statistics import Statistics, read_statistics, statistics
from minigpt.corpus.tokenizer_jobs.process import Job, write_job
from minigpt.limits import limit
from minigpt.sentences import Refusal
from minigpt.storage.subprocesses import end, spawn
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.byte_bpe import ByteBPE, Merge
from minigpt.tokenizers.files import load_tokenizer, train_tokenizer


class JobStatus(StrEnum):
    """The status of a job. INTERRUPTED: its server ended. NONE: it was never asked for."""

    NONE = "none"
    READING = "reading"
    LEARNING = "learning"
    COUNTING = "counting"
    FINISHED = "finished"
    FAILED = "failed"
    INTERRUPTED = "interrupted"

    @property
    def active(self) -> bool:
        """Whether a process works on it."""
        return self in (JobStatus.READING, JobStatus.LEARNING, JobStatus.COUNTING)


@dataclass(frozen=True)
class JobState:
    """The status of a job; `size` is the bytes of the training texts, 0 before they are read."""

    status: JobStatus
    size: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Learned:
    """A tokenizer, what it makes of the corpus it was learned from, and its merges as they came (none for chars)."""

    tokenizer: Tokenizer
    counted: Statistics
    merges: tuple[Merge, ...] = ()

    @property
    def longest(self) -> int:
        """Tokens of the longest record of either split."""
        return max(int(split.lengths.max(initial=0)) for split in (self.counted.train, self.counted.validation))


def load_learned(folder: Path) -> Learned:
    """What a finished job left. Raises ValueError for a folder where it is missing or damaged."""
    tokenizer, counted = load_tokenizer(folder / "tokenizer.json"), read_statistics(folder / "counts.npz")
    return Learned(tokenizer, counted, tuple(map(_merge, read_merges(folder))) if tokenizer.merges else ())


def read_merges(folder: Path) -> list[dict]:
    """The whole lines of merges.jsonl by now: rank, left, right, id, count, tokens and the piece in hex."""
    try:
        content = (folder / "merges.jsonl").read_bytes()
    except OSError:
        return []
    return [json.loads(line) for line in content[: content.rfind(b"\n") + 1].splitlines()]


def learn_here(config: TokenizerConfig, corpus: Corpus) -> Learned:
    """Learn in this process: for a small corpus. ValueError when a tokenizer has no ids for a text."""
    texts = [[record.text for record in split] for split in (corpus.train, corpus.validation)]
    if config.kind != "byte_bpe":
        tokenizer = train_tokenizer(config, *texts)
        return Learned(tokenizer, statistics(corpus, tokenizer))
    merges = tuple(ByteBPE.train_steps(texts[0], config.merges))
    learned = ByteBPE((merge.left, merge.right) for merge in merges)
    return Learned(learned, statistics(corpus, learned), merges)


class Learning:
    """The tokenizer jobs of one server, each a process. Thread-safe. Jobs end with the server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: dict[Path, subprocess.Popen[str]] = {}

    def start(self, folder: Path, job: Job) -> None:
        """Begin the job in `folder`, unless it is active or done.

        Raises ValueError when too many are active on this server, the merges are beyond the limit,
        or, in place of an OSError, when the folder cannot be written.
        """
        with self._lock:
            if self._is_active(folder) or (folder / "tokenizer.json").exists():
                return
            at_once, merges = limit("MINIGPT_TOKENIZERS_AT_ONCE"), limit("MINIGPT_MERGES")
            if job.config.kind == "byte_bpe" and job.config.merges > merges:
                raise Refusal("merges must be at most {most:,}, got {merges:,}", most=merges, merges=job.config.merges)
            if sum(map(self._is_active, self._processes)) >= at_once:
                raise Refusal(
                    "this server is learning {at_once} tokenizers already, at most {at_once} at once; "
                    "try again in a moment",
                    at_once=at_once,
                )
            try:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                write_job(folder, job)
                self._processes[folder] = spawn("minigpt.corpus.tokenizer_jobs.process", str(folder))
            except OSError as error:
                raise Refusal(
                    "cannot learn a tokenizer in {folder}: {reason}", folder=folder, reason=error.strerror
                ) from error

    def cancel(self, folder: Path) -> None:
        """Stop the job at once and remove what it wrote; a finished tokenizer stays."""
        with self._lock:
            process = self._processes.pop(folder, None)
            if process is not None:
                end(process)
            if not (folder / "tokenizer.json").exists():
                shutil.rmtree(folder, ignore_errors=True)

    def state(self, folder: Path) -> JobState:
        """The status of the job in `folder`."""
        with self._lock:
            active = self._is_active(folder)  # asked first: what a process wrote before its end is then there
        if (folder / "tokenizer.json").exists():
            return JobState(JobStatus.FINISHED)
        try:
            told = json.loads((folder / "stage.json").read_bytes())
        except (OSError, ValueError):
            told = {"stage": JobStatus.READING}
        if told["stage"] == JobStatus.FAILED:
            return JobState(JobStatus.FAILED, reason=told["reason"])
        if active:
            return JobState(JobStatus(told["stage"]), told.get("bytes", 0))
        return JobState(JobStatus.INTERRUPTED if folder.exists() else JobStatus.NONE)

    def close(self) -> None:
        """End every job."""
        with self._lock:
            for process in self._processes.values():
                end(process)
            self._processes.clear()

    def _is_active(self, folder: Path) -> bool:
        process = self._processes.get(folder)
        return process is not None and process.poll() is None


def learned_folders(place: Path, corpus_hash: str) -> list[Path]:
    """Folders of the finished tokenizers of a corpus below `place`, the newest first."""
    done = place.glob(f"tokenizers/{corpus_hash}/*/tokenizer.json")
    return [path.parent for path in sorted(done, key=lambda path: (-path.stat().st_mtime_ns, path.parent.name))]


def job_folder(place: Path, job: Job) -> Path:
    """Where the tokenizer of this config for this corpus is learned: tokenizers/<corpus hash>/byte_bpe-256."""
    config = job.config
    name = f"{config.kind}-{config.merges}" if config.kind == "byte_bpe" else config.kind
    return place / "tokenizers" / job.corpus_hash / name


def _merge(row: dict) -> Merge:
    return Merge(**{name: value for name, value in row.items() if name != "piece"})
