"""The resume state: all that a training needs to go on as if it had never stopped.

One safetensors file with the parameters, both moments and the states of both generators; its
metadata hold step, evaluations, settings, and how long each growing file of the run was. It is
replaced as a whole, so that a killed trainer leaves the former state or the new one.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from minigpt.config import ModelConfig, TrainConfig, from_dict, to_dict
from minigpt.files import write_atomic
from minigpt.model.checkpoints import packed
from minigpt.training.info import RunInfo, differences
from minigpt.training.loop import Training

FORMAT = "minigpt-resume-1"
FILE = "resume.safetensors"


@dataclass(frozen=True)
class Progress:
    """How far a run is: what the metadata of its resume state say."""

    step: int = 0
    evaluated: int | None = None  # the last evaluated step
    sampled: int | None = None  # the last step with samples
    best: float | None = None  # lowest validation loss so far
    seconds: float = 0.0  # of training, without pauses
    positions: int = 0  # scored in training
    lengths: dict[str, int] = field(default_factory=dict)  # bytes of each growing file


def save_state(folder: Path, info: RunInfo, training: Training, progress: Progress) -> None:
    """Write the resume state of `training` into its run folder, atomically."""
    about = {"format": FORMAT, "tokenizer": info.tokenizer, "corpus_hash": info.corpus_hash}
    about |= {"model": json.dumps(to_dict(info.model)), "training": json.dumps(to_dict(info.training))}
    about["progress"] = json.dumps(asdict(progress))
    write_atomic(folder / FILE, packed(_tensors(training), about))


def read_progress(folder: Path, info: RunInfo) -> Progress | None:
    """How far the resume state of a run is; None when there is none yet.

    Raises ValueError for a damaged file, and when it was written under other settings than `info`,
    with the fields that differ.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
        if about.get("format") != FORMAT:
            raise ValueError(f"{path} is not a resume state of format {FORMAT}")
        model = from_dict(ModelConfig, json.loads(about["model"]))
        training = from_dict(TrainConfig, json.loads(about["training"]))
        stored = RunInfo("", model, training, about["tokenizer"], "", about["corpus_hash"], "")
        progress = from_dict(Progress, json.loads(about["progress"]))
    except (SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    differing = differences(stored, info)
    if differing:
        raise ValueError(f"{path} belongs to another run: it has {'; '.join(differing)}")
    return progress


@torch.no_grad()
def restore(folder: Path, info: RunInfo, training: Training) -> None:
    """Put `training`, fresh from the same settings, where the resume state stands; without one it stays fresh.

    Numbers are copied into the tensors that are there: where a tensor lies in memory can decide the
    last bit of a product. Raises ValueError as `read_progress` does.
    """
    progress = read_progress(folder, info)
    if progress is None:
        return
    with safe_open(folder / FILE, framework="pt") as file:
        for name, tensor in _tensors(training).items():
            tensor.copy_(file.get_tensor(name))
        training.batches.set_state(file.get_tensor("generator.batches"))
        training.dropout.set_state(file.get_tensor("generator.dropout"))
    training.step, training.best = progress.step, progress.best
    training.evaluated, training.sampled = progress.evaluated, progress.sampled


def _tensors(training: Training) -> dict[str, torch.Tensor]:
    optimizer = training.optimizer
    parts = {"model": optimizer.parameters, "first": optimizer.first, "second": optimizer.second}
    tensors = {f"{part}.{name}": tensor.detach() for part, group in parts.items() for name, tensor in group.items()}
    generators = {"batches": training.batches, "dropout": training.dropout}
    return tensors | {f"generator.{name}": generator.get_state() for name, generator in generators.items()}
