"""Several columns from one prompt, grown step by step, the numbers that compare them, and both as files."""

import csv
import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from minigpt.config import ModelConfig
from minigpt.corpus.corpus import Record
from minigpt.generation.copies import Copy, longest_copy
from minigpt.generation.measures import distinct_n, mean_surprise, repeated_ngram_rate
from minigpt.generation.measures import first_difference as first_index
from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import Step, generate, prompt_ids
from minigpt.limits import limit
from minigpt.model.cache import cache_bytes
from minigpt.model.gpt import MiniGPT
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.labels import visible_label

HEADER = (
    "column temperature top_k top_p seed max_new_tokens at_context_length index id piece bytes raw_probability "
    "probability rank kept raw_entropy entropy dice stop"
).split()


class Comparison:
    """Columns that grow from one prompt; `steps[c]` are the tokens of column c so far.

    Without `keep` the steps are `settled`: numbers without distributions. Raises ValueError for what `generate`
    refuses, for more kept logits than MINIGPT_KEPT_LOGITS and for a larger cache than MINIGPT_CACHE_BYTES allows.

    >>> comparison = Comparison(model, tokenizer, "The ", [SampleConfig(), SampleConfig(0.0)])
    >>> comparison.advance_round(); [len(steps) for steps in comparison.steps]
    [1, 1]
    """

    def __init__(
        self,
        model: MiniGPT,
        tokenizer: Tokenizer,
        prompt: str,
        columns: Sequence[SampleConfig],
        dice_seed: int | None = None,
        keep: bool = True,
    ):
        self.columns, self.tokenizer, self.keep = tuple(columns), tokenizer, keep
        self.prompt_ids = prompt_ids(tokenizer, prompt)
        if keep:
            _check_logits(model.config, self.columns)
        _check_cache(model.config, len(self.prompt_ids), self.columns)
        self.steps: list[list[Step]] = [[] for _ in columns]
        self._source = generate(model, tokenizer, self.prompt_ids, columns, dice_seed=dice_seed)
        self.growing = len(columns)

    @property
    def finished(self) -> bool:
        """Whether every column has stopped."""
        return self.growing == 0

    @property
    def rounds(self) -> int:
        """Tokens of the longest column."""
        return max(len(steps) for steps in self.steps)

    @property
    def first_difference(self) -> int | None:
        """The first token at which not all columns agree; None while they do."""
        ids = [[step.id for step in steps] for steps in self.steps]
        if not self.finished:
            ids = [column[: min(map(len, ids))] for column in ids]
        return first_index(ids)

    def advance_round(self) -> None:
        """One token for every column that still grows."""
        for step in list(islice(self._source, self.growing)):
            self.steps[step.column].append(step if self.keep else step.settled())
            self.growing -= step.stop is not None

    def advance(self, seconds: float) -> None:
        """Rounds until all columns have stopped or the time is over; at least one."""
        end = time.monotonic() + seconds
        while not self.finished:
            self.advance_round()
            if time.monotonic() > end:
                break

    def written(self, column: int) -> bytes:
        """The new text of a column, as bytes: it may end inside a character."""
        return self.tokenizer.decode_bytes(step.id for step in self.steps[column])


def _check_logits(config: ModelConfig, columns: Sequence[SampleConfig]) -> None:
    most = limit("MINIGPT_KEPT_LOGITS")
    needed = sum(column.max_new_tokens for column in columns) * config.vocab_size
    if needed > most:
        raise Refusal(
            "{count} columns of this length keep {needed:,} logits, at most {most:,} are allowed, which are {tokens:,} "
            "tokens in all; shorten them or compare fewer",
            count=len(columns),
            needed=needed,
            most=most,
            tokens=most // config.vocab_size,
        )


def _check_cache(config: ModelConfig, prompt: int, columns: Sequence[SampleConfig]) -> None:
    most, longest = limit("MINIGPT_CACHE_BYTES"), max(column.max_new_tokens for column in columns)
    needed = len(columns) * cache_bytes(config, min(config.context_length, prompt + longest))
    if needed > most:
        raise Refusal(
            "the keys and values of {count} texts of this length take {needed:,} bytes, at most "
            "{most:,} are allowed; shorten them or compare fewer",
            count=len(columns),
            needed=needed,
            most=most,
        )


@dataclass(frozen=True)
class TextMeasures:
    """The numbers of one text. Rates are 0 to 1 and None where the text is too short; nats."""

    tokens: int
    distinct_1: float | None  # different tokens / tokens
    distinct_2: float | None
    repetition: float | None  # fraction of the 3-grams that occurred before
    surprise: float | None  # mean -ln of the raw probability of the tokens drawn
    entropy: float | None  # mean, of the distributions drawn from
    raw_entropy: float | None  # mean, of the model's own distributions
    copy: Copy  # longest stretch shared with a training record, in bytes
    memorized: bool  # all of the text is in one record
    stop: str | None


def measure(tokenizer: Tokenizer, steps: Sequence[Step], records: Sequence[Record]) -> TextMeasures:
    """The numbers of one column; `records` are those the model was trained on."""
    ids = [step.id for step in steps]
    written = tokenizer.decode_bytes(ids)
    copy = longest_copy(written, [record.text.encode() for record in records])
    return TextMeasures(
        tokens=len(ids),
        distinct_1=distinct_n(ids, 1),
        distinct_2=distinct_n(ids, 2),
        repetition=repeated_ngram_rate(ids, 3),
        surprise=mean_surprise([step.raw_probability for step in steps]),
        entropy=sum(step.entropy for step in steps) / len(ids) if ids else None,
        raw_entropy=sum(step.raw_entropy for step in steps) / len(ids) if ids else None,
        copy=copy,
        memorized=bool(written) and copy.length == len(written),
        stop=steps[-1].stop if steps else None,
    )


def to_csv(comparison: Comparison) -> str:
    """One row per token. A piece that a spreadsheet would read as a formula gets an apostrophe before it.

    Probabilities are written so that reading them gives the same float.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for number, steps in enumerate(comparison.steps):
        settings = list(comparison.columns[number].to_dict().values())
        for step in steps:
            piece = comparison.tokenizer.piece_label(step.id)
            own = (
                step.index,
                step.id,
                "'" + piece if piece[:1] in "=+-@" else piece,
                comparison.tokenizer.piece_bytes(step.id).hex(" "),
                repr(step.raw_probability),
                repr(step.probability),
                step.rank,
                step.kept,
                repr(step.raw_entropy),
                repr(step.entropy),
                "" if step.dice is None else repr(step.dice),
                step.stop or "",
            )
            writer.writerow(["ABCD"[number], *settings, *own])
    return out.getvalue()


def to_markdown(comparison: Comparison, prompt: str, source: str) -> str:
    """Prompt, and for each column its settings, text and stop; all marks of text are escaped, HTML too."""
    shown = _escaped(visible_label(prompt.encode())) or "(empty)"
    lines = [f"# Samples of {_escaped(source)}", "", f"Prompt: {shown}", ""]
    lines += ["| column | settings | text | tokens | mean raw probability | stop |", "|---|---|---|---|---|---|"]
    for number, steps in enumerate(comparison.steps):
        settings = ", ".join(f"{name} {value}" for name, value in comparison.columns[number].to_dict().items())
        text = _escaped(visible_label(comparison.written(number)))
        mean = sum(step.raw_probability for step in steps) / len(steps) if steps else 0.0
        stop = steps[-1].stop if steps and steps[-1].stop else ""
        lines.append(
            f"| {'ABCD'[number]} | {_escaped(settings)} | {text} | {len(steps)} | {mean:.6f} | {_escaped(stop)} |"
        )
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return "".join(entities.get(c, f"\\{c}" if c in "\\`*_{}[]()#+-.!|$:~" else c) for c in text)
