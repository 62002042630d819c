"""The same columns over many seeds: one text is an accident, twenty are a habit."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from minigpt.corpus.corpus import Record
from minigpt.generation.compare import Comparison, Numbers, numbers
from minigpt.generation.settings import LARGEST_SEED, SampleConfig
from minigpt.model.gpt import MiniGPT
from minigpt.tokenizers.base import Tokenizer


@dataclass(frozen=True)
class Habit:
    """One column over its seeds: means of the numbers (None where no text has them), and how often what happened."""

    texts: int
    different: int  # texts that no other seed before gave
    tokens: float
    distinct_2: float | None
    repetition: float | None
    surprise: float | None
    raw_entropy: float | None
    copied: float  # mean bytes of the longest copy
    memorised: int  # texts that stand in one record as they are
    stops: dict[str, int]


class Repetition:
    """Every column with `seeds` seeds, from its own one upwards; grown in slices, then counted in slices.

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
        every = [
            replace(column, seed=(column.seed + number) % (LARGEST_SEED + 1))
            for column in columns
            for number in range(seeds)
        ]
        self.comparison = Comparison(model, tokenizer, prompt, every, keep=False)
        self.longest = max(column.max_new_tokens for column in columns)
        self.numbers: list[Numbers] = []  # of the texts counted so far, column by column

    @property
    def finished(self) -> bool:
        """Whether every text is written and counted."""
        return len(self.numbers) == len(self.comparison.columns)

    @property
    def progress(self) -> float:
        """0 to 1: half for writing, half for counting."""
        written = 1.0 if self.comparison.finished else self.comparison.rounds / self.longest
        return (written + len(self.numbers) / len(self.comparison.columns)) / 2

    def advance(self, seconds: float) -> None:
        """Work for about this long, at least one round or one text."""
        end = time.monotonic() + seconds
        while not self.finished:
            if self.comparison.finished:
                steps = self.comparison.steps[len(self.numbers)]
                self.numbers.append(numbers(self.comparison.tokenizer, steps, self.records))
            else:
                self.comparison.advance_round()
            if time.monotonic() > end:
                return

    def texts(self, column: int) -> list[bytes]:
        """What the column wrote with each seed, its own seed first."""
        return [self.comparison.written(text) for text in self._range(column)]

    def column_numbers(self, column: int) -> list[Numbers]:
        """The numbers of each text of the column, its own seed first."""
        return self.numbers[column * self.seeds : (column + 1) * self.seeds]

    def habit(self, column: int) -> Habit:
        """The column in numbers, once `finished`."""
        found, written = self.column_numbers(column), self.texts(column)
        return Habit(
            texts=len(found),
            different=len(set(written)),
            tokens=fmean(row.tokens for row in found),
            distinct_2=_mean([row.distinct_2 for row in found]),
            repetition=_mean([row.repetition for row in found]),
            surprise=_mean([row.surprise for row in found]),
            raw_entropy=_mean([row.raw_entropy for row in found]),
            copied=fmean(row.copy.length for row in found),
            memorised=sum(row.memorised for row in found),
            stops=dict(Counter(row.stop for row in found)),
        )

    def _range(self, column: int) -> range:
        return range(column * self.seeds, (column + 1) * self.seeds)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
