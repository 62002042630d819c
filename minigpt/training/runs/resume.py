"""The resume state: all that a training needs to go on as if it had never stopped.

One safetensors file with the parameters, both moments and the states of both generators; its
metadata hold step, evaluations, settings, and how long each growing file of the run was. It is
replaced as a whole, so that a killed trainer leaves the former state or the new one.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from minigpt.config import ModelConfig, TrainConfig, from_dict, to_dict
from minigpt.model.checkpoints import packed, stored_name
from minigpt.sentences import Refusal, Sentence, say
from minigpt.storage.atomic import write_atomic
from minigpt.storage.tensors import check_tensors, tensor_file
from minigpt.training.loop import Training
from minigpt.training.runs.info import RunInfo, RunStatus, differences
from minigpt.validation import check_float, check_int

FORMAT = "minigpt-resume-1"
FILE = "resume.safetensors"
GROWING = ("metrics.jsonl", "timing.jsonl", "samples.jsonl")  # files of a run that grow by whole lines


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
    with tensor_file(path, _damaged(path)) as file:
        about = file.metadata() or {}
        if about.get("format") != FORMAT:
            raise Refusal("{path} is not a resume state of format {format}", path=path, format=FORMAT)
        stored, progress = _told(path, about)
    differing = differences(stored, info)
    if differing:
        raise Refusal("{path} belongs to another run: it has {differing}", path=path, differing="; ".join(differing))
    _check_progress(path, progress, info.training.steps)
    return progress


@torch.no_grad()
def restore(folder: Path, info: RunInfo, training: Training) -> None:
    """Put `training`, new from the same settings, at the step of the resume state; without one it stays at step 0.

    Numbers are copied into the tensors that are there: a tensor's place in memory can decide the
    last bit of a product. Raises ValueError as `read_progress` does.
    """
    progress = read_progress(folder, info)
    if progress is None:
        return
    path, wanted = folder / FILE, _tensors(training)
    with tensor_file(path, _damaged(path)) as file:
        check_tensors(path, file, wanted)
        for name in wanted.keys() - _generators(training).keys():
            wanted[name].copy_(file.get_tensor(name))
        for name, generator in _generators(training).items():
            _set_state(path, name, generator, file.get_tensor(name))
    training.step, training.best = progress.step, progress.best
    training.evaluated, training.sampled = progress.evaluated, progress.sampled


def _damaged(path: Path) -> Sentence:
    return say("{path} is damaged", path=path)


def _tensors(training: Training) -> dict[str, torch.Tensor]:
    optimizer = training.optimizer
    parameters: dict[str, torch.Tensor] = {**optimizer.parameters}
    parts = {"model": parameters, "first": optimizer.first, "second": optimizer.second}
    tensors = {
        f"{part}.{stored_name(name)}": tensor.detach()
        for part, group in parts.items()
        for name, tensor in group.items()
    }
    return tensors | {name: generator.get_state() for name, generator in _generators(training).items()}


def _generators(training: Training) -> dict[str, torch.Generator]:
    return {"generator.batches": training.batches, "generator.dropout": training.dropout}


def _set_state(path: Path, name: str, generator: torch.Generator, state: torch.Tensor) -> None:
    try:
        generator.set_state(state)
    except RuntimeError as error:
        raise Refusal(
            "{path} is damaged: {name} is not the state of a generator: {error}",
            path=path,
            name=name,
            error=error,
        ) from error


def _told(path: Path, about: dict[str, str]) -> tuple[RunInfo, Progress]:
    """The settings and the progress in the metadata. Raises ValueError that names the file, or KeyError."""
    model, training, progress = (about[name] for name in ("model", "training", "progress"))
    fingerprint, corpus_hash = about["tokenizer"], about["corpus_hash"]
    try:
        settings = from_dict(ModelConfig, json.loads(model)), from_dict(TrainConfig, json.loads(training))
        read = from_dict(Progress, json.loads(progress))
    except ValueError as error:
        raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
    return RunInfo("", *settings, fingerprint, "", corpus_hash, RunStatus.CREATED), read


def _check_progress(path: Path, progress: Progress, steps: int) -> None:
    """Raises ValueError for progress that no training of that many `steps` makes."""
    try:
        check_int("step", progress.step, least=0, most=steps)
        for name in ("evaluated", "sampled"):
            if getattr(progress, name) is not None:
                check_int(name, getattr(progress, name), least=0, most=progress.step)
        if not isinstance(progress.best, float | None):
            raise Refusal("best must be a loss or null, got {best!r:.60}", best=progress.best)
        check_float("seconds", progress.seconds, least=0.0)
        check_int("positions", progress.positions, least=0)
        if not isinstance(progress.lengths, dict) or progress.lengths.keys() != set(GROWING):
            raise Refusal(
                "lengths must have those of {names}, got {lengths!r:.80}",
                names=", ".join(GROWING),
                lengths=progress.lengths,
            )
        for name, length in progress.lengths.items():
            check_int(f"the length of {name}", length, least=0)
    except ValueError as error:
        raise Refusal("{path} is damaged: {error}", path=path, error=error) from error


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the checkpoint of `step` is."""
    return folder / "checkpoints" / f"step-{step:06d}.safetensors"


def checkpoint_steps(folder: Path) -> tuple[int, ...]:
    """Steps that have a checkpoint, ascending; files of other names do not count."""
    names = (path.stem[5:] for path in (folder / "checkpoints").glob("step-*.safetensors"))
    return tuple(sorted(int(name) for name in names if name.isdecimal()))


def cut_back(folder: Path, progress: Progress) -> None:
    """Make a folder what it was at `progress`: growing files cut, later checkpoints and leftovers removed."""
    for name in GROWING:
        path = folder / name
        if path.exists():
            os.truncate(path, progress.lengths.get(name, 0))
    for step in checkpoint_steps(folder):
        if step > progress.step:
            checkpoint_path(folder, step).unlink()
    for leftover in [*folder.glob(".*.*"), *(folder / "checkpoints").glob(".*")]:
        leftover.unlink(missing_ok=True)


def check_whole_lines(path: Path, length: int) -> None:
    """Raises ValueError unless the first `length` bytes of a growing file are there and end with a line."""
    size = path.stat().st_size if path.exists() else 0
    if size < length:
        raise Refusal(
            "{path} is damaged: it has {size:,} bytes, but {file} was written when it had {length:,}",
            path=path,
            size=size,
            file=FILE,
            length=length,
        )
    if length == 0:
        return
    with path.open("rb") as file:
        file.seek(length - 1)
        if file.read(1) != b"\n":
            raise Refusal(
                "{path} is damaged: no line ends at byte {length:,}, where {file} was written",
                path=path,
                length=length,
                file=FILE,
            )
