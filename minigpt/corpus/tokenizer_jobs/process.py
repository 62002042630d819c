"""Learning a tokenizer in a separate process: python -m minigpt.corpus.tokenizer_jobs.process <folder>

    <folder>/job.json        what is asked: the config, the corpus file and its hash
    <folder>/stage.json      reading, learning, counting or failed; and the bytes of the training texts
    <folder>/merges.jsonl    one object a line for each merge, as it is learned
    <folder>/counts.npz      the statistics of the corpus under the tokenizer
    <folder>/tokenizer.json  written last: without it the job is not done

The process has low priority and needs no torch. It ends when its input ends: with its server.
"""

import contextlib
import json
import os
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from minigpt.config import TokenizerConfig, from_dict
from minigpt.corpus.corpus import Corpus
from minigpt.corpus.readers.objects import load_corpus
from minigpt.corpus.statistics import SPLITS, statistics, write_statistics
from minigpt.sentences import Refusal, reason_of
from minigpt.storage.atomic import write_atomic
from minigpt.storage.subprocesses import lower_priority
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.tokenizers.files import train_tokenizer

FLUSH_SECONDS = 0.1  # a page that looks is at most this far behind


@dataclass(frozen=True)
class Job:
    """Which tokenizer to learn, and from which corpus. A file with another hash is refused."""

    config: TokenizerConfig
    corpus: str  # absolute path of a file in the project's own format
    corpus_hash: str


def write_job(folder: Path, job: Job) -> None:
    """Ask for a tokenizer: what `work` reads."""
    write_atomic(folder / "job.json", json.dumps(asdict(job)).encode())


def read_job(folder: Path) -> Job:
    """What is asked. Raises ValueError for a folder without a usable job.json."""
    try:
        content = json.loads((folder / "job.json").read_bytes())
        return Job(from_dict(TokenizerConfig, content.pop("config")), **content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Refusal(
            "{folder} does not hold a tokenizer job: {reason}", folder=folder, reason=reason_of(error)
        ) from error


def work(folder: Path) -> None:
    """Do the job. A fault of the corpus or the disk is written down as the reason, not raised."""
    try:
        job = read_job(folder)
        _tell(folder, "reading")
        corpus = load_corpus(job.corpus)
        if corpus.hash != job.corpus_hash:
            raise Refusal(
                "the corpus has changed: its hash is {hash}, expected was {expected}",
                hash=corpus.hash,
                expected=job.corpus_hash,
            )
        size = sum(len(record.text.encode()) for record in corpus.train)
        _tell(folder, "learning", bytes=size)
        tokenizer = _learn(folder, job.config, corpus)
        _tell(folder, "counting", bytes=size)
        write_statistics(folder / "counts.npz", statistics(corpus, tokenizer))
        tokenizer.save(folder / ".tokenizer")
        os.replace(folder / ".tokenizer", folder / "tokenizer.json")
    except (ValueError, OSError, MemoryError) as error:
        with contextlib.suppress(OSError):  # the folder is gone, or the disk full: then it was interrupted
            _tell(folder, "failed", reason=str(error) or type(error).__name__)


def _learn(folder: Path, config: TokenizerConfig, corpus: Corpus) -> Tokenizer:
    """The tokenizer; each merge is written down as it comes."""
    train, validation = ([record.text for record in getattr(corpus, split)] for split in SPLITS)
    if config.kind != "byte_bpe":
        return train_tokenizer(config, train, validation)
    merges, pieces, flushed = [], dict(enumerate(bytes([byte]) for byte in range(256))), 0.0
    with (folder / "merges.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for merge in ByteBPE.train_steps(train, config.merges):
            merges.append((merge.left, merge.right))
            pieces[merge.id] = pieces[merge.left] + pieces[merge.right]
            file.write(json.dumps(asdict(merge) | {"piece": pieces[merge.id].hex()}) + "\n")
            if time.monotonic() - flushed > FLUSH_SECONDS:
                file.flush()
                flushed = time.monotonic()
    return ByteBPE(merges)


def _tell(folder: Path, stage: str, **values: str | int) -> None:
    write_atomic(folder / "stage.json", json.dumps({"stage": stage} | values).encode())


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_input, daemon=True).start()
    lower_priority()
    work(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)  # the waiting thread would hold the interpreter
