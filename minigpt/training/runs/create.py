"""From a preset and a corpus to a run that is ready to step: tokenizer, model config, folder; or back to one.

A step frees all its activations, some megabytes each. The C library would give them back to the system, which clears
every page again before the next step gets it: 5 to 10 % of the time of a step. So it is set to keep them.
"""

import ctypes
import platform
from dataclasses import replace
from pathlib import Path

import torch

from minigpt.config import ModelConfig, TrainConfig
from minigpt.corpus.batches import RecordTooLong, batch_records
from minigpt.corpus.corpus import Corpus, Record
from minigpt.corpus.length_check import too_long
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.corpus.windows import window_stream
from minigpt.limits import limit
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import shape_only
from minigpt.model.size_limits import check_model
from minigpt.presets import Preset
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.files import train_tokenizer
from minigpt.training.loop import Training, TrainingData
from minigpt.training.runs.info import RunInfo, RunStatus, differences
from minigpt.training.runs.resume import restore
from minigpt.training.runs.run import Run
from minigpt.training.samples import check_prompts

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
LARGEST = 32 << 20  # bytes: larger pieces are given back as before
KEPT = 256 << 20  # bytes at the end of the heap that may be unused


def new_run(folder: str | Path, preset: Preset, corpus: Corpus, training: TrainConfig) -> tuple[Run, Training]:
    """Lay out a run and build its training at step 0, with torch set to one thread, which is faster at these sizes.

    Raises ValueError as `lay_out` does.
    """
    torch.set_num_threads(1)
    keep_freed_memory()
    run = lay_out(folder, preset, corpus, training)
    return run, prepare(run)


def lay_out(
    folder: str | Path, preset: Preset, corpus: Corpus, training: TrainConfig, learned: Learned | None = None
) -> Run:
    """Train the preset's tokenizer on the training records, size the model to its vocabulary, make the folder.

    `learned` is what a job learned from this corpus for the preset: then nothing is learned here, and
    nothing encoded, which takes long for a large corpus. The vocabulary is the one learned: a small
    corpus may run out of pairs before `merges`. Raises ValueError, before the folder is made, for a
    record beyond the context length (whole records only: windows take any length), a sample prompt
    beyond it, a model beyond the limit, evaluations over all of a large corpus, or a `learned` that
    counted another number of records.
    """
    if learned:
        _check_counted(learned, corpus)
    _check_evaluation(corpus, training)
    tokenizer, info = _planned(preset, corpus, training, learned.tokenizer if learned else None)
    check_model(info.model)
    if training.mode == "records" and not (learned and learned.longest < info.model.context_length):
        check_fit(corpus, tokenizer, info.model.context_length)
    check_prompts(training, tokenizer, info.model.context_length)
    return Run.create(folder, preset.name, info.model, training, tokenizer, corpus)


def _check_evaluation(corpus: Corpus, training: TrainConfig) -> None:
    most = limit("MINIGPT_EVALUATED_CHARACTERS")
    size = sum(len(record.text) for record in corpus.train + corpus.validation)
    if training.evaluation_rows == 0 and size > most:
        raise Refusal(
            "each evaluation would score all {size:,} characters of the corpus, at most {most:,} are allowed; "
            "set evaluation_rows, such as 200, to score a fixed sample of each split",
            size=size,
            most=most,
        )


def resume_run(
    folder: str | Path, preset: Preset | None = None, corpus: Corpus | None = None, training: TrainConfig | None = None
) -> tuple[Run, Training]:
    """A run and its training where it stopped; the parts that are given must be those of the run.

    Raises ValueError that names every differing field, for another corpus, tokenizer, model or
    training config, and for a folder that is not a run or has a damaged resume state.
    """
    torch.set_num_threads(1)
    keep_freed_memory()
    run = Run(folder)
    info = run.info
    if preset or corpus or training:
        wanted = _planned(preset, corpus or run.corpus(), training or info.training)[1] if preset else info
        wanted = replace(wanted, training=training or info.training)
        if corpus and not preset:
            wanted = replace(wanted, corpus_hash=corpus.hash)
        differing = differences(info, wanted)
        if differing:
            raise Refusal(
                "{folder} cannot be resumed as another run: it has {differing}",
                folder=run.folder,
                differing="; ".join(differing),
            )
    return run, prepare(run)


def _planned(
    preset: Preset, corpus: Corpus, training: TrainConfig, tokenizer: Tokenizer | None = None
) -> tuple[Tokenizer, RunInfo]:
    if tokenizer is None:
        train, validation = ([record.text for record in split] for split in (corpus.train, corpus.validation))
        tokenizer = train_tokenizer(preset.tokenizer, train, validation)
    model = replace(preset.model, vocab_size=tokenizer.vocab_size)
    return tokenizer, RunInfo(
        preset.name, model, training, tokenizer.fingerprint, corpus.name, corpus.hash, RunStatus.CREATED
    )


def _check_counted(learned: Learned, corpus: Corpus) -> None:
    counted = (learned.counted.train.records, learned.counted.validation.records)
    if counted != (len(corpus.train), len(corpus.validation)):
        raise Refusal(
            "the tokenizer was learned from {train_learned} training and {validation_learned} validation "
            "records, corpus {corpus!r} has {train} and {validation}",
            train_learned=counted[0],
            validation_learned=counted[1],
            corpus=corpus.name,
            train=len(corpus.train),
            validation=len(corpus.validation),
        )


def check_fit(corpus: Corpus, tokenizer: Tokenizer, context_length: int) -> None:
    """Raises ValueError when a record is too long: the longest, how many more there are, and what can be done."""
    found = too_long(corpus, tokenizer, context_length)
    if found.fault:
        raise RecordTooLong(found.fault, found.needed, context_length)


def prepare(run: Run) -> Training:
    """A training at the step of the run: step 0, or that of its resume state, with nothing lost.

    Raises ValueError when the resume state was written under other settings, naming the fields, and for
    a model beyond the limits or without the tokenizer's ids, before memory is taken.
    """
    info, corpus, tokenizer = run.info, run.corpus(), run.tokenizer()
    _check_size(run.folder, info.model)
    if tokenizer.vocab_size > info.model.vocab_size:
        raise Refusal(
            "{folder}: tokenizer.json has {found:,} ids, run.json says {expected:,}",
            folder=run.folder,
            found=tokenizer.vocab_size,
            expected=info.model.vocab_size,
        )
    train = _encoded(corpus.train, tokenizer, info)
    validation = _encoded(corpus.validation, tokenizer, info) if corpus.validation else None
    training = Training(MiniGPT(info.model), train, validation, info.training, tokenizer)
    restore(run.folder, info, training)
    return training


def _check_size(folder: Path, config: ModelConfig) -> None:
    try:
        shape_only(config)
    except ValueError as error:
        raise Refusal("{path}: {error}", path=folder / "run.json", error=error) from error


def _encoded(records: tuple[Record, ...], tokenizer: Tokenizer, info: RunInfo) -> TrainingData:
    encode = batch_records if info.training.mode == "records" else window_stream
    return encode([record.text for record in records], tokenizer, info.model.context_length)


def keep_freed_memory() -> None:
    """Tell the C library, where it is the GNU one; elsewhere nothing happens. Changes no number."""
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, LARGEST)
        library.mallopt(M_TRIM_THRESHOLD, KEPT)
