"""From a preset and a corpus to a run that is ready to step: tokenizer, model config, folder; or back to one."""

from dataclasses import replace
from pathlib import Path

import torch

from minigpt.config import TrainConfig
from minigpt.corpus.corpus import Corpus
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.limits import limit
from minigpt.model.size_limits import check_model
from minigpt.presets import Preset
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.files import train_tokenizer
from minigpt.training.loop import Training
from minigpt.training.runs.info import RunInfo, differences
from minigpt.training.runs.run import Run, check_fit, prepare
from minigpt.training.samples import check_prompts
from minigpt.training.server.heap import keep_freed_memory


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
            "each evaluation would score all {size:,} characters of the corpus, which is done up "
            "to {most:,}; set evaluation_rows, such as 200, to score a fixed sample of each split",
            size=size,
            most=most,
        )


def resume_run(
    folder: str | Path, preset: Preset | None = None, corpus: Corpus | None = None, training: TrainConfig | None = None
) -> tuple[Run, Training]:
    """A run and its training where it stopped; the parts that are given must be those of the run.

    Raises ValueError that names every differing field, for another corpus, tokenizer, model or
    training config, and for a folder that is no run or holds a damaged resume state.
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
        preset.name, model, training, tokenizer.fingerprint, corpus.name, corpus.hash, status="created"
    )


def _check_counted(learned: Learned, corpus: Corpus) -> None:
    counted = (learned.counted.train.records, learned.counted.validation.records)
    if counted != (len(corpus.train), len(corpus.validation)):
        raise Refusal(
            "the tokenizer was learned from {counted} training and {counted2} validation "
            "records, corpus {name!r} has {count} and {count2}",
            counted=counted[0],
            counted2=counted[1],
            name=corpus.name,
            count=len(corpus.train),
            count2=len(corpus.validation),
        )
