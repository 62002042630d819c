"""The same columns over many seeds: one text is an accident, twenty show a pattern."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from minigpt.corpus.corpus import Record
from minigpt.generation.compare import Comparison, TextMeasures, measure
from minigpt.generation.settings import SampleConfig, next_seed
from minigpt.model.gpt import MiniGPT
from minigpt.tokenizers.base import Tokenizer


@dataclass(frozen=True)
class SeedSummary:
    """One column over its seeds: means (None where no text has the number) and counts."""

    texts: int
    different: int  # texts that no earlier seed gave
    tokens: float
    distinct_2: float | None
    repetition: float | None
    surprise: float | None
    raw_entropy: float | None
    copied: float  # mean bytes of the longest copy
    memorized: int  # texts that are in one record as they are
    stops: dict[str, int]


class SeedComparison:
    """Every column with `seeds` seeds, from its own seed upwards; grown in slices, then counted in slices.

    Raises ValueError as `Comparison` does.
    """

    def __init__(
        self,
        model: MiniGPT,
        tokenizer: Tokenizer,
        prompt: str,
        columns: Sequence[SampleConfig],
        records: Sequence[Record],
        seeds: int = 20,
    ):
        self.seeds, self.width, self.records = seeds, len(columns), records
        every = [replace(column, seed=next_seed(column.seed, number)) for column in columns for number in range(seeds)]
        self.comparison = Comparison(model, tokenizer, prompt, every, keep=False)
        self.longest = max(column.max_new_tokens for column in columns)
        self.measures: list[TextMeasures] = []  # of the texts counted so far, column by column

    @property
    def finished(self) -> bool:
        """Whether every text is written and counted."""
        return len(self.measures) == len(self.comparison.columns)

    @property
    def progress(self) -> float:
        """0 to 1: half for writing, half for counting."""
        written = 1.0 if self.comparison.finished else self.comparison.rounds / self.longest
        return (written + len(self.measures) / len(self.comparison.columns)) / 2

    def advance(self, seconds: float) -> None:
        """Work for about this long, at least one round or one text."""
        end = time.monotonic() + seconds
        while not self.finished:
            if self.comparison.finished:
                steps = self.comparison.steps[len(self.measures)]
                self.measures.append(measure(self.comparison.tokenizer, steps, self.records))
            else:
                self.comparison.advance_round()
            if time.monotonic() > end:
                return

    def texts(self, column: int) -> list[bytes]:
        """What the column wrote with each seed, its own seed first."""
        return [self.comparison.written(text) for text in self._range(column)]

    def column_measures(self, column: int) -> list[TextMeasures]:
        """The numbers of each text of the column, its own seed first."""
        return self.measures[column * self.seeds : (column + 1) * self.seeds]

    def summary(self, column: int) -> SeedSummary:
        """The column in numbers, once `finished`."""
        found, written = self.column_measures(column), self.texts(column)
        return SeedSummary(
            texts=len(found),
            different=len(set(written)),
            tokens=fmean(row.tokens for row in found),
            distinct_2=_mean([row.distinct_2 for row in found]),
            repetition=_mean([row.repetition for row in found]),
            surprise=_mean([row.surprise for row in found]),
            raw_entropy=_mean([row.raw_entropy for row in found]),
            copied=fmean(row.copy.length for row in found),
            memorized=sum(row.memorized for row in found),
            stops=dict(Counter(row.stop or "" for row in found)),
        )

    def _range(self, column: int) -> range:
        return range(column * self.seeds, (column + 1) * self.seeds)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
