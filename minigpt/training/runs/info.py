"""What run.json says about a run: its settings, what it is trained on, and how it stands."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from minigpt.config import ModelConfig, TrainConfig, from_dict, to_dict
from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import read_object
from minigpt.validation import check_choice

FORMAT = "minigpt-run-1"
STATUSES = ("created", "queued", "running", "paused", "stopped", "finished", "failed")
FINAL = ("finished", "failed")  # nothing more happens unless somebody resumes or resets the run


@dataclass(frozen=True)
class RunInfo:
    """What run.json says."""

    preset: str
    model: ModelConfig
    training: TrainConfig
    tokenizer: str  # fingerprint
    corpus: str  # name
    corpus_hash: str
    status: str  # one of STATUSES
    reason: str = ""  # of a failure


def read_info(folder: Path) -> RunInfo:
    """The content of run.json. Raises ValueError for a folder that is no run, or a damaged file."""
    path = folder / "run.json"
    if not path.exists():
        raise Refusal("{folder} is not a run folder: it has no run.json", folder=folder)
    content = read_object(path)
    if content.pop("format", None) != FORMAT:
        raise Refusal("{path} is not of format {format}", path=path, format=FORMAT)
    try:
        content |= {"model": from_dict(ModelConfig, content.get("model"))}
        content |= {"training": from_dict(TrainConfig, content.get("training"))}
        info = from_dict(RunInfo, content)
        _check_texts(info)
    except ValueError as error:
        raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
    return info


def _check_texts(info: RunInfo) -> None:
    for name in ("preset", "tokenizer", "corpus", "corpus_hash", "reason"):
        if not isinstance(getattr(info, name), str):
            raise Refusal("{name} must be a text, got {getattr!r:.60}", name=name, getattr=getattr(info, name))
    check_choice("status", info.status, STATUSES)


def write_info(folder: Path, info: RunInfo) -> None:
    """Replace run.json."""
    content = {"format": FORMAT} | vars(info)
    content |= {"model": to_dict(info.model), "training": to_dict(info.training)}
    write_atomic(folder / "run.json", (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def write_status(folder: Path, status: str, reason: str = "") -> None:
    """Replace status and reason, keep the rest; nothing is written when both stand there already."""
    info = read_info(folder)
    if (info.status, info.reason) != (status, reason):
        write_info(folder, replace(info, status=status, reason=reason))


def differences(here: RunInfo, there: RunInfo) -> list[str]:
    """Where two runs are not the same computation: `field a, not b` for configs, tokenizer and corpus."""
    pairs = [("tokenizer", here.tokenizer, there.tokenizer), ("corpus hash", here.corpus_hash, there.corpus_hash)]
    for kind in ("model", "training"):
        old, new = to_dict(getattr(here, kind)), to_dict(getattr(there, kind))
        pairs += [(name, old[name], new[name]) for name in old]
    return [f"{name} {old}, not {new}" for name, old, new in pairs if old != new]
