"""Where a model to look at comes from: an untrained preset, or a saved step of a run."""

from dataclasses import replace
from pathlib import Path

from minigpt.config import preset
from minigpt.corpus.records import bundled_corpus
from minigpt.model.gpt import MiniGPT
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.training.runs import Run

BUNDLED_RUN = Path(__file__).parents[1] / "data" / "mini-gpt" / "run"


def preset_tokenizer(name: str) -> ByteBPE:
    """The preset's tokenizer, trained on the bundled corpus (24 records: some milliseconds)."""
    return ByteBPE.train([record.text for record in bundled_corpus().train], preset(name).tokenizer.merges)


def preset_model(name: str) -> tuple[MiniGPT, ByteBPE]:
    """An untrained model in evaluation mode, with the weights of its init seed, and its tokenizer."""
    tokenizer = preset_tokenizer(name)
    return MiniGPT(replace(preset(name).model, vocab_size=tokenizer.vocab_size)).eval(), tokenizer


def run_model(folder: str | Path, step: int | None = None) -> tuple[MiniGPT, ByteBPE]:
    """The model a run saved at `step` (its last one by default) and its tokenizer.

    Raises ValueError for a folder that is no run, a run without checkpoints, or a step not saved.
    """
    run = Run(folder)
    if not run.steps:
        raise ValueError(f"{folder} has no checkpoint yet")
    return run.checkpoint(run.steps[-1] if step is None else step).model, run.tokenizer()
