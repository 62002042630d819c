"""What a run has reported, for those who watch it: `update` reads only what is new in its folder."""

from pathlib import Path

from minigpt.storage.json_objects import read_lines
from minigpt.training.loop import Evaluation
from minigpt.training.samples import Sample

SPEED_SECONDS = 2.0  # of training time that the speed is taken from


class MetricsTail:
    """The columns of metrics.jsonl, one entry a step, the evaluations and samples. Belongs to one reader."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._clear()

    def _clear(self) -> None:
        self.steps: list[int] = []
        self.losses: list[float] = []  # of the batches, nats per scored position
        self.rates: list[float] = []
        self.norms: list[float] = []
        self.groups: dict[str, list[float]] = {}  # gradient norms by component
        self.records: list[int] = []  # of the last batch
        self.evaluations: list[Evaluation] = []
        self.timings: list[dict] = []
        self.samples: dict[int, list[Sample]] = {}  # by step, one for each prompt
        self._read = {"metrics.jsonl": 0, "timing.jsonl": 0, "samples.jsonl": 0}

    def update(self) -> "MetricsTail":
        """Read on; from the beginning when a file has become shorter, as reset and resume make it.

        What a run writes again after that is bit for bit what was there, so a file that has grown
        back in between needs no care.
        """
        if any(self._size(name) < done for name, done in self._read.items()):
            self._clear()
        for row in self._new("metrics.jsonl"):
            if "train_loss" in row:
                self.evaluations.append(Evaluation(**row))
            else:
                self._add_step(row)
        self.timings += self._new("timing.jsonl")
        for row in self._new("samples.jsonl"):
            self.samples.setdefault(row["step"], []).append(Sample(**row | {"ids": tuple(row["ids"])}))
        return self

    @property
    def step(self) -> int:
        """Steps done."""
        return self.steps[-1] if self.steps else 0

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the lowest validation loss, the earliest on ties; None before there is one."""
        return next((row for row in reversed(self.evaluations) if row.best), None)

    def speed(self) -> tuple[float, float] | None:
        """Steps and scored positions a second of training time, over the last two seconds; None before that."""
        if not self.timings:
            return None
        last = self.timings[-1]
        first = self.timings[0]
        for row in reversed(self.timings):
            if last["seconds"] - row["seconds"] >= SPEED_SECONDS:
                first = row
                break
        seconds = last["seconds"] - first["seconds"]
        if seconds <= 0:
            return None
        return (last["step"] - first["step"]) / seconds, (last["positions"] - first["positions"]) / seconds

    def _add_step(self, row: dict) -> None:
        self.steps.append(row["step"])
        self.losses.append(row["loss"])
        self.rates.append(row["learning_rate"])
        self.norms.append(row["gradient_norm"])
        for component, norm in row.get("group_norms", {}).items():
            self.groups.setdefault(component, []).append(norm)
        self.records = row["records"]

    def _new(self, name: str) -> list[dict]:
        rows, self._read[name] = read_lines(self.folder / name, self._read[name])
        return rows

    def _size(self, name: str) -> int:
        path = self.folder / name
        return path.stat().st_size if path.exists() else 0
