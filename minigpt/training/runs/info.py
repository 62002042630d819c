"""What run.json says about a run: its settings, what it is trained on, and its status; and where runs differ."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from minigpt.config import ModelConfig, TrainConfig, from_dict, to_dict
from minigpt.sentences import Refusal, Sentence, sentence_from
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import read_object
from minigpt.validation import check_choice

FORMAT = "minigpt-run-1"


class RunStatus(StrEnum):
    """The status of a run, as it is in run.json and in the trainer's messages."""

    CREATED = "created"
    QUEUED = "queued"
    LOADING = "loading"  # in the trainer only, not in run.json
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # never in run.json: it should be going on, but no process writes it
    DELETED = "deleted"  # never in run.json

    @property
    def active(self) -> bool:
        """Whether its numbers will change unless somebody stops it."""
        return self in (RunStatus.QUEUED, RunStatus.LOADING, RunStatus.RUNNING)

    @property
    def in_trainer(self) -> bool:
        """Whether the trainer process has it in memory or in the queue."""
        return self.active or self is RunStatus.PAUSED

    @property
    def final(self) -> bool:
        """Whether the trainer has ended its work on it; it can still be resumed or reset."""
        return self in (RunStatus.FINISHED, RunStatus.STOPPED, RunStatus.FAILED)


STORED = ("created", "queued", "running", "paused", "stopped", "finished", "failed")


@dataclass(frozen=True)
class RunInfo:
    """What run.json says."""

    preset: str
    model: ModelConfig
    training: TrainConfig
    tokenizer: str  # fingerprint
    corpus: str  # name
    corpus_hash: str
    status: RunStatus  # one of STORED
    reason: str = ""  # of a failure; a Sentence where run.json has its parts


def read_info(folder: Path) -> RunInfo:
    """The content of run.json. Raises ValueError for a folder that is not a run, or a damaged file."""
    path = folder / "run.json"
    if not path.exists():
        raise Refusal("{folder} is not a run folder: it has no run.json", folder=folder)
    content = read_object(path)
    if content.pop("format", None) != FORMAT:
        raise Refusal("{path} is not of format {format}", path=path, format=FORMAT)
    parts, model, training = (content.pop(name, None) for name in ("reason_parts", "model", "training"))
    try:
        content |= {"model": from_dict(ModelConfig, model), "training": from_dict(TrainConfig, training)}
        info = from_dict(RunInfo, content)
        _check_texts(info)
    except ValueError as error:
        raise Refusal("{path} is damaged: {error}", path=path, error=error) from error
    return replace(info, status=RunStatus(info.status), reason=sentence_from(info.reason, parts))


def _check_texts(info: RunInfo) -> None:
    for name in ("preset", "tokenizer", "corpus", "corpus_hash", "reason"):
        if not isinstance(getattr(info, name), str):
            raise Refusal("{name} must be text, got {value!r:.60}", name=name, value=getattr(info, name))
    check_choice("status", info.status, STORED)


def write_info(folder: Path, info: RunInfo) -> None:
    """Replace run.json."""
    content = {"format": FORMAT} | vars(info)
    content |= {"model": to_dict(info.model), "training": to_dict(info.training)}
    if isinstance(info.reason, Sentence):
        content["reason_parts"] = info.reason.to_json()
    write_atomic(folder / "run.json", (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def write_status(folder: Path, status: RunStatus, reason: str = "") -> None:
    """Replace status and reason, keep the rest; nothing is written when neither changes."""
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


def differing_settings(infos: Sequence[RunInfo]) -> dict[str, list[Any]]:
    """Setting -> its value in each run, in the order of the configs; only settings that differ.

    Example: two runs alike but for the learning rate give {"learning_rate": [0.01, 0.003]}.
    """
    rows = [_settings(info) for info in infos]
    values = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    return {name: row for name, row in values.items() if any(value != row[0] for value in row)}


def _settings(info: RunInfo) -> dict[str, Any]:
    own = {"preset": info.preset, "corpus": info.corpus, "corpus_hash": info.corpus_hash}
    return own | {"tokenizer": info.tokenizer} | to_dict(info.model) | to_dict(info.training)
