"""Where a model to look at comes from: an untrained preset, a saved step of a run, or an imported folder.

A source has a name: `mini-gpt` is the run the project ships, a preset's name is that preset untrained, the
name of a shape (minigpt.presets) a changed preset; `run-<id>` is the run `id` on the shelf, and `gpt2-<id>`
a GPT-2 folder that a reader opened.
"""

from dataclasses import replace
from pathlib import Path

from minigpt.config import ModelConfig
from minigpt.corpus.batches import WHOLE, slots_of
from minigpt.corpus.library import bundled_corpus
from minigpt.huggingface.imports import find_import, is_import, load_import
from minigpt.inspection.trace_memory import check_trace
from minigpt.model.gpt import MiniGPT
from minigpt.model.size_limits import building_bytes, check_model, one_at_a_time
from minigpt.presets import PRESETS, SEPARATOR, shape_preset
from minigpt.sentences import Refusal
from minigpt.storage.paths import DATA
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.chars import MOST_CHARACTERS, Chars, common_characters
from minigpt.tokenizers.files import train_tokenizer
from minigpt.training.loop import Evaluation
from minigpt.training.runs.library import run_folder
from minigpt.training.runs.run import Run
from minigpt.validation import check_choice

BUNDLED_RUN = DATA / "mini-gpt" / "run"
BUNDLED = "mini-gpt"
SOURCES = (BUNDLED, *PRESETS)
RUN_PREFIX = "run-"


def source_run(name: str) -> Run | None:
    """The run behind a source, None for an untrained preset and for an import.

    Raises ValueError for an unknown name, for `run-<id>` when there is no such run, and for an import whose
    folder is gone or has changed.
    """
    if is_import(name):
        find_import(name)
        return None
    if name.startswith(RUN_PREFIX):
        folder = run_folder(name.removeprefix(RUN_PREFIX))
        if not folder.exists():
            raise Refusal("there is no run {name} here: its folder was deleted, or the link is wrong", name=folder.name)
        return Run(folder)
    if SEPARATOR in name:
        shape_preset(name)
        return None
    check_choice("model", name, SOURCES)
    return Run(BUNDLED_RUN) if name == BUNDLED else None


def source_steps(name: str) -> tuple[int, ...]:
    """The steps a source can be seen at; an untrained preset and an import have step 0 only.

    Raises ValueError for an unknown name, and for a run that has saved no step yet.
    """
    run = source_run(name)
    steps = (0,) if run is None else run.steps
    if not steps:
        raise Refusal("{name} has no saved step yet; the first one is there a moment after its start", name=name)
    return steps


def source_evaluations(name: str) -> list[Evaluation]:
    """The losses over the full splits along a source's run, by step; empty for a preset or an import."""
    run = source_run(name)
    return [] if run is None else run.evaluations()


def load_source(name: str, step: int) -> tuple[MiniGPT, Tokenizer]:
    """The model of a source at a step, in evaluation mode, and its tokenizer.

    Raises ValueError for an unknown step, and for a checkpoint of another tokenizer or config.
    """
    check_choice("step", step, source_steps(name))
    if is_import(name):
        return load_import(name)
    run = source_run(name)
    return preset_model(name) if run is None else run_model(run.folder, step)


def is_untrained(name: str) -> bool:
    """Whether a source's name is that of an untrained preset or shape, known or not."""
    return SEPARATOR in name or name in PRESETS


def preset_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of a preset or shape, trained on the bundled corpus (24 records: some milliseconds).

    It has no more ids than the model's vocabulary, if that leaves room for the bytes. Characters are not
    learned: an untrained model of characters knows common ones, as many as its vocabulary has beside BOS,
    EOS and PAD, so that English and Chinese can be typed.
    """
    chosen = shape_preset(name)
    room = chosen.model.vocab_size - 3
    if chosen.tokenizer.kind == "chars":
        return Chars(common_characters(min(max(1, room), MOST_CHARACTERS)))
    merges = min(chosen.tokenizer.merges, max(0, room - 256))
    return train_tokenizer(replace(chosen.tokenizer, merges=merges), [record.text for record in bundled_corpus().train])


def preset_model(name: str) -> tuple[MiniGPT, Tokenizer]:
    """An untrained model of a preset or shape in evaluation mode, with the weights of its init seed, and its tokenizer.

    Raises ValueError as `preset_plan` does, before the model takes memory.
    """
    config, tokenizer = preset_plan(name)
    with one_at_a_time(building_bytes(config)):
        return MiniGPT(config).eval(), tokenizer


def preset_plan(name: str) -> tuple[ModelConfig, Tokenizer]:
    """The config and tokenizer of a preset or shape; nothing is built.

    The model may know more ids than the tokenizer, as that of `gpt2-small` does. Raises ValueError for a model
    beyond the limits, and for one in which the stages of a record of up to 128 positions are.
    """
    tokenizer, config = preset_tokenizer(name), shape_preset(name).model
    config = replace(config, vocab_size=max(config.vocab_size, tokenizer.vocab_size))
    check_model(config)
    check_trace(config, slots_of(min(WHOLE, config.context_length), config.context_length))
    return config, tokenizer


def run_model(folder: str | Path, step: int | None = None) -> tuple[MiniGPT, Tokenizer]:
    """The model a run saved at `step` (its last one by default) and its tokenizer.

    Raises ValueError for a folder that is not a run, a run without checkpoints, or a step not saved.
    """
    run = Run(folder)
    if not run.steps:
        raise Refusal("{folder} has no checkpoint yet", folder=folder)
    return run.checkpoint(run.steps[-1] if step is None else step).model, run.tokenizer()
