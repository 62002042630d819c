"""Run folders: the only channel between a trainer and whoever looks, and the checkpoint store.

    runs/x/run.json                        configs, corpus hash, tokenizer fingerprint, status
    runs/x/corpus.json, tokenizer.json     what the run was trained on and with
    runs/x/metrics.jsonl                   one object a line for each step and each evaluation
    runs/x/checkpoints/step-000100.safetensors

Files other than metrics.jsonl are replaced as a whole; metrics.jsonl grows by whole lines.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from minigpt.config import ModelConfig, TrainConfig, from_dict, to_dict
from minigpt.corpus.batches import batch_records
from minigpt.corpus.records import Corpus, load_corpus
from minigpt.files import write_atomic
from minigpt.model.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from minigpt.model.gpt import MiniGPT
from minigpt.tokenizers.byte_bpe import ByteBPE
from minigpt.training.loop import DivergedError, Evaluation, StepReport, Training

FORMAT = "minigpt-run-1"


@dataclass(frozen=True)
class RunInfo:
    """What run.json says."""

    preset: str
    model: ModelConfig
    training: TrainConfig
    tokenizer: str  # fingerprint
    corpus: str  # name
    corpus_hash: str
    status: str  # created, running, finished, failed
    reason: str = ""  # of a failure


class Run:
    """A run folder, read afresh at each question. Raises ValueError when the folder is none."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.info  # noqa: B018  refuse a folder that is no run

    @classmethod
    def create(
        cls,
        folder: str | Path,
        preset: str,
        model: ModelConfig,
        training: TrainConfig,
        tokenizer: ByteBPE,
        corpus: Corpus,
    ) -> "Run":
        """Lay out a new run. Raises ValueError when the folder exists and is not empty."""
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ValueError(f"{folder} exists and is not empty; choose another folder")
        (folder / "checkpoints").mkdir(parents=True)
        tokenizer.save(folder / "tokenizer.json")
        write_atomic(folder / "corpus.json", corpus.to_json().encode())
        info = RunInfo(preset, model, training, tokenizer.fingerprint, corpus.name, corpus.hash, "created")
        _write_info(folder, info)
        return cls(folder)

    @property
    def info(self) -> RunInfo:
        path = self.folder / "run.json"
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ValueError(f"{self.folder} is not a run folder: it has no run.json") from error
        except ValueError as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        if content.pop("format", None) != FORMAT:
            raise ValueError(f"{path} is not of format {FORMAT}")
        content["model"] = from_dict(ModelConfig, content["model"])
        content["training"] = from_dict(TrainConfig, content["training"])
        return from_dict(RunInfo, content)

    @property
    def steps(self) -> tuple[int, ...]:
        """Steps that have a checkpoint, ascending."""
        return tuple(sorted(int(path.stem[5:]) for path in (self.folder / "checkpoints").glob("step-*.safetensors")))

    def checkpoint(self, step: int) -> Checkpoint:
        """The model after `step` updates. Raises ValueError that lists the saved steps if there is none."""
        if step not in self.steps:
            raise ValueError(f"{self.folder.name} has no checkpoint of step {step}; saved: {_listed(self.steps)}")
        info = self.info
        return load_checkpoint(self._checkpoint_path(step), info.model, info.tokenizer)

    def tokenizer(self) -> ByteBPE:
        """The run's tokenizer; ValueError when it is not the one of run.json."""
        tokenizer = ByteBPE.load(self.folder / "tokenizer.json")
        if tokenizer.fingerprint != self.info.tokenizer:
            raise ValueError(
                f"{self.folder}: tokenizer.json has fingerprint {tokenizer.fingerprint}, "
                f"run.json says {self.info.tokenizer}"
            )
        return tokenizer

    def corpus(self) -> Corpus:
        """The corpus the run was trained on; ValueError when it is not the one of run.json."""
        corpus, info = load_corpus(self.folder / "corpus.json"), self.info
        if corpus.hash != info.corpus_hash:
            raise ValueError(f"{self.folder}: corpus.json has hash {corpus.hash}, run.json says {info.corpus_hash}")
        return corpus

    def evaluations(self) -> list[Evaluation]:
        """Every evaluation so far, by step."""
        return [Evaluation(**row) for row in self._metrics() if "train_loss" in row]

    def record(self, training: Training) -> Iterator[StepReport | Evaluation]:
        """Pass on the reports of `training`, after metrics and due checkpoints are on disk.

        Checkpoints are saved at steps 0, 1, 2, 4, 8, ... and at each evaluation. On divergence the
        status becomes `failed` with the reason, and DivergedError goes on to the caller.
        """
        self._set_status("running")
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as metrics:
            try:
                for report in training.reports():
                    metrics.write(json.dumps(asdict(report)) + "\n")
                    if isinstance(report, Evaluation) or is_power_of_two(report.step):
                        metrics.flush()
                        path = self._checkpoint_path(report.step)
                        save_checkpoint(path, training.model, report.step, self.info.tokenizer)
                    yield report
            except DivergedError as error:
                self._set_status("failed", str(error))
                raise
        self._set_status("finished")

    def _metrics(self) -> list[dict]:
        path = self.folder / "metrics.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def _checkpoint_path(self, step: int) -> Path:
        return self.folder / "checkpoints" / f"step-{step:06d}.safetensors"

    def _set_status(self, status: str, reason: str = "") -> None:
        _write_info(self.folder, RunInfo(**vars(self.info) | {"status": status, "reason": reason}))


def check_fit(corpus: Corpus, tokenizer: ByteBPE, context_length: int) -> None:
    """Raises ValueError that names the split and the record when one does not fit the context."""
    for split in (corpus.train, corpus.validation):
        for record, ids in zip(split, tokenizer.encode_batch([record.text for record in split]), strict=True):
            if len(ids) + 1 > context_length:
                raise ValueError(
                    f"record {record.id} needs {len(ids) + 1} positions (BOS and {len(ids)} tokens), "
                    f"the context length is {context_length}"
                )


def prepare(run: Run) -> Training:
    """A training at step 0 for a created run: its model, splits and generators."""
    info, corpus, tokenizer = run.info, run.corpus(), run.tokenizer()
    train, validation = (
        batch_records([record.text for record in split], tokenizer, info.model.context_length) if split else None
        for split in (corpus.train, corpus.validation)
    )
    return Training(MiniGPT(info.model), train, validation, info.training)


def is_power_of_two(step: int) -> bool:
    """Whether `step` is 1, 2, 4, 8, ..."""
    return step > 0 and step & (step - 1) == 0


def _write_info(folder: Path, info: RunInfo) -> None:
    content = {"format": FORMAT} | vars(info)
    content |= {"model": to_dict(info.model), "training": to_dict(info.training)}
    write_atomic(folder / "run.json", (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def _listed(steps: tuple[int, ...]) -> str:
    return ", ".join(map(str, steps)) if steps else "none"
