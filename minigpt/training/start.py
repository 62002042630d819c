"""From a preset and a corpus to a run that is ready to step: tokenizer, model config, folder."""

from dataclasses import replace
from pathlib import Path

import torch

from minigpt.config import Preset, TrainConfig
from minigpt.corpus.records import Corpus
from minigpt.model.parameters import shape_only
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.training.loop import Training
from minigpt.training.runs import Run, check_fit, prepare


def new_run(folder: str | Path, preset: Preset, corpus: Corpus, training: TrainConfig) -> tuple[Run, Training]:
    """Train the preset's tokenizer on the training records, size the model to its vocabulary, lay out the run.

    The vocabulary is the one learned: a small corpus may run out of pairs before `merges`. Torch is
    set to one thread, which is faster at these sizes. Raises ValueError, before the folder is made,
    for a record beyond the context length or a model beyond the limit.
    """
    torch.set_num_threads(1)
    tokenizer = ByteBPE.train([record.text for record in corpus.train], preset.tokenizer.merges)
    model = replace(preset.model, vocab_size=tokenizer.vocab_size)
    shape_only(model)
    check_fit(corpus, tokenizer, model.context_length)
    run = Run.create(folder, preset.name, model, training, tokenizer, corpus)
    return run, prepare(run)
