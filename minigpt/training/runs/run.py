"""Run folders: the only channel between a trainer and its readers, and the checkpoint store.

    runs/x/run.json                        configs, corpus hash, tokenizer fingerprint, status
    runs/x/corpus.json, tokenizer.json     what the run was trained on and with
    runs/x/metrics.jsonl                   one object a line for each step and each evaluation
    runs/x/samples.jsonl                   one object a line for each sample
    runs/x/timing.jsonl                    ten times a second: step, seconds and positions so far
    runs/x/baselines.json                  losses of n-gram counts on the validation positions
    runs/x/details.json                    the last step in slow motion: batch, loss, norms, updates
    runs/x/checkpoints/step-000100.safetensors
    runs/x/resume.safetensors              where to go on
    runs/x/.writer                         locked by the process that writes

The .jsonl files grow by whole lines; all others are replaced as a whole.
"""

from collections.abc import Generator
from pathlib import Path

from minigpt.config import ModelConfig, TrainConfig, from_dict
from minigpt.corpus.baselines import Baselines
from minigpt.corpus.corpus import Corpus
from minigpt.corpus.readers.objects import load_corpus
from minigpt.model.checkpoints import Checkpoint, load_checkpoint
from minigpt.sentences import Refusal
from minigpt.storage.atomic import write_atomic
from minigpt.storage.json_objects import read_lines, read_object
from minigpt.storage.lock import FolderLock, is_held
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.files import load_tokenizer
from minigpt.training.loop import Evaluation, Report, Training
from minigpt.training.runs.info import RunInfo, RunStatus, read_info, write_info, write_status
from minigpt.training.runs.resume import FILE, Progress, checkpoint_path, checkpoint_steps, cut_back
from minigpt.training.runs.run_writer import RunWriter
from minigpt.training.samples import Sample


class Run:
    """A run folder, read afresh at each question. Raises ValueError when the folder is not a run."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.info  # noqa: B018  refuse a folder that is not a run

    @classmethod
    def create(
        cls,
        folder: str | Path,
        preset: str,
        model: ModelConfig,
        training: TrainConfig,
        tokenizer: Tokenizer,
        corpus: Corpus,
    ) -> "Run":
        """Lay out a new run. Raises ValueError when the folder exists and is not empty."""
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Refusal("{folder} exists and is not empty; choose another folder", folder=folder)
        (folder / "checkpoints").mkdir(parents=True)
        tokenizer.save(folder / "tokenizer.json")
        write_atomic(folder / "corpus.json", corpus.to_json().encode())
        info = RunInfo(preset, model, training, tokenizer.fingerprint, corpus.name, corpus.hash, RunStatus.CREATED)
        write_info(folder, info)
        return cls(folder)

    @property
    def info(self) -> RunInfo:
        """What run.json says now."""
        return read_info(self.folder)

    @property
    def status(self) -> RunStatus:
        """As run.json says, but `interrupted` for a run that no process writes although it should be going on."""
        status = self.info.status
        alone = status.in_trainer and not is_held(self.folder)
        return RunStatus.INTERRUPTED if alone and self.info.status == status else status

    @property
    def steps(self) -> tuple[int, ...]:
        """Steps that have a checkpoint, ascending."""
        return checkpoint_steps(self.folder)

    def checkpoint(self, step: int) -> Checkpoint:
        """The model after `step` updates. Raises ValueError that lists the saved steps if it was not saved."""
        if step not in self.steps:
            saved = ", ".join(map(str, self.steps))
            if not saved:
                raise Refusal(
                    "{run} has no checkpoint of step {step}; no step is saved", run=self.folder.name, step=step
                )
            raise Refusal(
                "{run} has no checkpoint of step {step}; saved: {saved}", run=self.folder.name, step=step, saved=saved
            )
        info = self.info
        return load_checkpoint(checkpoint_path(self.folder, step), info.model, info.tokenizer)

    def tokenizer(self) -> Tokenizer:
        """The run's tokenizer; ValueError when it is not the one of run.json."""
        tokenizer = load_tokenizer(self.folder / "tokenizer.json")
        if tokenizer.fingerprint != self.info.tokenizer:
            raise Refusal(
                "{folder}: tokenizer.json has fingerprint {fingerprint}, run.json says {expected}",
                folder=self.folder,
                fingerprint=tokenizer.fingerprint,
                expected=self.info.tokenizer,
            )
        return tokenizer

    def corpus(self) -> Corpus:
        """The corpus the run was trained on; ValueError when it is not the one of run.json."""
        corpus, info = load_corpus(self.folder / "corpus.json"), self.info
        if corpus.hash != info.corpus_hash:
            raise Refusal(
                "{folder}: corpus.json has hash {found}, run.json says {expected}",
                folder=self.folder,
                found=corpus.hash,
                expected=info.corpus_hash,
            )
        return corpus

    def evaluations(self) -> list[Evaluation]:
        """Every evaluation so far, by step."""
        return [Evaluation(**row) for row in self.metrics()[0] if "train_loss" in row]

    def metrics(self, start: int = 0) -> tuple[list[dict], int]:
        """The whole lines of metrics.jsonl from byte `start` on, and the byte to go on from.

        A line that is still being written is left for the next time.
        """
        return read_lines(self.folder / "metrics.jsonl", start)

    def samples(self) -> list[Sample]:
        """Every sample so far, by step, then by prompt."""
        rows = read_lines(self.folder / "samples.jsonl")[0]
        return [Sample(**row | {"ids": tuple(row["ids"])}) for row in rows]

    def timings(self) -> list[dict]:
        """step, seconds and positions so far, about ten a second; differences give the speed."""
        return read_lines(self.folder / "timing.jsonl")[0]

    def baselines(self) -> Baselines | None:
        """Losses of counting on the validation positions; None before the start or without validation."""
        path = self.folder / "baselines.json"
        if not path.exists():
            return None
        try:
            return from_dict(Baselines, read_object(path))
        except ValueError as error:
            raise Refusal("{path} is damaged: {error}", path=path, error=error) from error

    def record(self, training: Training) -> Generator[Report, None, None]:
        """Pass on the reports of `training`, after metrics and due checkpoints are written.

        Checkpoints are saved at steps 0, 1, 2, 4, 8, ... and at each evaluation. On divergence the
        status becomes `failed` with the reason, and DivergedError goes on to the caller; likewise
        RunWriteError when the folder cannot be written. Closing the iterator leaves a run to resume.
        """
        with RunWriter(self.folder, training) as writer:
            for report in training.reports():
                writer.write(report)
                yield report

    def reset(self) -> None:
        """Back to step 0 with the same settings and seeds. Raises ValueError while a process writes the run."""
        lock = FolderLock(self.folder)
        try:
            (self.folder / FILE).unlink(missing_ok=True)
            cut_back(self.folder, Progress(step=-1))
            write_status(self.folder, RunStatus.CREATED)
        finally:
            lock.release()


def _listed(steps: tuple[int, ...]) -> str:
    return ", ".join(map(str, steps)) if steps else "none"
