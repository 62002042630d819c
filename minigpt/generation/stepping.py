"""Text, one token at a time: prefill the prompt, decode with a cache, draw, stop.

Several columns can grow from one prompt in one batch, each with its own settings and its own generator. Their
logits are those of a column alone up to rounding (1e-12 in float64), so their texts are the same.

The model reads at most its context length. There a column stops with reason `context_limit`, or slides: the oldest
token is dropped and the rest is computed again, because every token then has another position and no cached key can be
reused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import torch
from torch import Tensor

from minigpt.generation.drawing import DiceDraw, draw, draw_with_dice, new_generator, throw_dice
from minigpt.generation.filters import (
    FilterTrace,
    filter_trace,
    forbid,
    forbidden_mask,
    next_token_probabilities,
    rank_of,
)
from minigpt.generation.measures import entropy
from minigpt.generation.settings import SampleConfig
from minigpt.limits import check_length
from minigpt.model.cache import KVCache
from minigpt.model.gpt import MiniGPT
from minigpt.model.kernels.decode import Decoder
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer


@dataclass(frozen=True)
class DrawCandidate:
    """One id at one step: its probability before all filters, and in the distribution drawn from (0 if removed)."""

    id: int
    rank: int  # among the allowed logits, from 1; ties go to the lowest id
    raw_probability: float
    probability: float


@dataclass(frozen=True, eq=False)
class Step:
    """One drawn token. Its numbers are computed from the logits when they are asked for."""

    column: int
    index: int  # from 0
    id: int
    settings: SampleConfig
    logits: Tensor  # (V,), as the model gave them
    forbidden: Tensor  # (V,) bool
    dice: float | None  # the shared random number u, None without; greedy columns ignore it
    stop: str | None  # why the column ends with this token: eos, length or context_limit
    _written: list[int]  # prompt and all tokens of the column; still grows
    _span: tuple[int, int]  # of it, what the model read

    @property
    def context_ids(self) -> tuple[int, ...]:
        """The ids the model read for this step, at most its context length."""
        return tuple(self._written[slice(*self._span)])

    @property
    def filters(self) -> FilterTrace:
        """Every stage from the logits to the distribution that was drawn from; computed at each access."""
        return filter_trace(self.logits, self.settings, self.forbidden)

    @cached_property
    def _facts(self) -> dict[str, float]:
        """The numbers below, kept without the filters: it is a dozen times as large as the logits."""
        filters = self.filters
        return {
            "raw_probability": filters.raw_probabilities[self.id].item(),
            "probability": filters.probabilities[self.id].item(),
            "rank": rank_of(filters.allowed_logits, self.id),
            "kept": int(filters.kept_top_p.sum()),
            "entropy": entropy(filters.probabilities.double().numpy()),
            "raw_entropy": entropy(filters.raw_probabilities.double().numpy()),
        }

    def settled(self) -> "Step":
        """The same step without its logits: its numbers stay, its distributions are gone."""
        bare = replace(self, logits=self.logits.new_empty(0))
        bare.__dict__["_facts"] = self._facts
        return bare

    @property
    def raw_probability(self) -> float:
        """Probability of the choice before all filters, over the whole vocabulary."""
        return self._facts["raw_probability"]

    @property
    def probability(self) -> float:
        """Probability of the choice in the distribution drawn from."""
        return self._facts["probability"]

    @property
    def rank(self) -> int:
        """Place of the choice among the allowed logits, 1 for the best."""
        return int(self._facts["rank"])

    @property
    def kept(self) -> int:
        """How many ids could be drawn."""
        return int(self._facts["kept"])

    @property
    def entropy(self) -> float:
        """Of the distribution drawn from, in nats; 0 when greedy."""
        return self._facts["entropy"]

    @property
    def raw_entropy(self) -> float:
        """Of the model's own distribution, in nats."""
        return self._facts["raw_entropy"]

    @property
    def dice_draw(self) -> DiceDraw | None:
        """The part of the cumulative bar that the shared random number fell into; None without one and when greedy."""
        if self.dice is None or self.settings.greedy:
            return None
        return draw_with_dice(self.filters.probabilities, self.dice)

    @property
    def choice(self) -> DrawCandidate:
        """The drawn id among the others."""
        return DrawCandidate(self.id, self.rank, self.raw_probability, self.probability)

    def candidates(self, count: int) -> list[DrawCandidate]:
        """The `count` best allowed ids, best first, ties to the lowest id."""
        filters = self.filters
        order = filters.allowed_logits.sort(descending=True, stable=True).indices[:count].tolist()
        return [
            DrawCandidate(token, place, filters.raw_probabilities[token].item(), filters.probabilities[token].item())
            for place, token in enumerate(order, start=1)
        ]


def prompt_ids(tokenizer: Tokenizer, prompt: str) -> list[int]:
    """BOS and the ids of the prompt, without EOS: the text continues. An empty prompt is BOS alone.

    Raises ValueError for a prompt of too many characters. Example: prompt_ids(tokenizer, "") == [256].
    """
    check_length(prompt)
    return [tokenizer.bos, *tokenizer.encode(prompt)]


def never_drawn(model: MiniGPT, tokenizer: Tokenizer) -> Tensor:
    """(V,) bool: specials but EOS, and the ids that the tokenizer does not know. EOS may be drawn: it ends a text."""
    return forbidden_mask(model.config.vocab_size, set(tokenizer.specials) - {tokenizer.eos}, tokenizer.vocab_size)


def generate(
    model: MiniGPT,
    tokenizer: Tokenizer,
    context_ids: Sequence[int],
    settings: SampleConfig | Sequence[SampleConfig],
    *,
    dice_seed: int | None = None,
    cached: bool = True,
) -> Iterator[Step]:
    """Yield the drawn tokens, round by round: the first of every column, then the second of those that continue.

    `context_ids` are what is read first (see `prompt_ids`); `settings` one column's, or a sequence. Each column draws
    from its own generator, made from its seed; with `dice_seed` all share one random number per round instead, so
    that they differ only where their distributions do. Greedy columns draw nothing. Without `cached` every step
    reads the whole text again.

    Raises ValueError before the first step for no column, an empty or too long context, an unknown id, or a
    model in training mode.

    >>> [step.id for step in generate(model, tokenizer, prompt_ids(tokenizer, "Hi"), SampleConfig(max_new_tokens=3))]
    [46, 32, 257]
    """
    columns = [settings] if isinstance(settings, SampleConfig) else list(settings)
    if not columns:
        raise Refusal("at least one column is needed, got none")
    reader = _Reader(model, tokenizer.eos, context_ids, columns, cached)
    dice = None if dice_seed is None else new_generator(dice_seed)
    return _rounds(reader, columns, never_drawn(model, tokenizer), dice)


def _rounds(
    reader: "_Reader", columns: list[SampleConfig], forbidden: Tensor, dice: torch.Generator | None
) -> Iterator[Step]:
    generators = [new_generator(column.seed) for column in columns]
    active = list(range(len(columns)))
    index = 0
    while active:
        rows = reader.read(active)
        u = None if dice is None else throw_dice(dice)
        continuing = []
        for column, logits in zip(active, rows, strict=True):
            chosen = columns[column]
            token = _choose(logits, chosen, forbidden, generators[column], u)
            span = reader.span(column)
            stop = reader.append(column, token, chosen, index)
            if stop is None:
                continuing.append(column)
            yield Step(column, index, token, chosen, logits, forbidden, u, stop, reader.texts[column], span)
        active = continuing
        index += 1


def _choose(
    logits: Tensor, settings: SampleConfig, forbidden: Tensor, generator: torch.Generator, u: float | None
) -> int:
    """The next id; the distribution is the one that `Step.filters` shows."""
    if settings.greedy:
        allowed = forbid(logits, forbidden)
        best = int(allowed.argmax())
        if abs(allowed[best].item()) < inf:
            return best
    probabilities = next_token_probabilities(logits, settings, forbidden)  # names what is wrong with the logits
    return int(draw(probabilities, generator)) if u is None else draw_with_dice(probabilities, u).token_id


class _Reader:
    """The texts of all columns and the next logits of each, with one cache for those that still grow."""

    def __init__(
        self, model: MiniGPT, eos: int, context_ids: Sequence[int], columns: Sequence[SampleConfig], cached: bool
    ):
        if model.training:
            raise Refusal("the model is in training mode, where dropout changes its logits; call eval() first")
        self.model, self.eos, self.most = model, eos, model.config.context_length
        self.texts = [list(context_ids) for _ in columns]
        if not 1 <= len(context_ids) <= self.most:
            raise Refusal(
                "the context must have 1 to {most} ids, BOS included, got {count}",
                count=len(context_ids),
                most=self.most,
            )
        for token in context_ids:
            if not 0 <= token < model.config.vocab_size:
                raise Refusal(
                    "a context id must be 0 to {most}, got {token_id}", most=model.config.vocab_size - 1, token_id=token
                )
        capacity = min(self.most, len(context_ids) + max(column.max_new_tokens for column in columns))
        self.decoder = Decoder(model)
        self.cache = KVCache(model.config, batch=1, capacity=capacity) if cached else None
        self.batch: list[int] = []  # columns in the cache

    def span(self, column: int) -> tuple[int, int]:
        """The part of a column's text that the model reads: its last ids, as many as fit."""
        length = len(self.texts[column])
        return max(0, length - self.most), length

    def append(self, column: int, token: int, settings: SampleConfig, index: int) -> str | None:
        """Add a token; why the column ends with it, or None."""
        self.texts[column].append(token)
        if token == self.eos:
            return "eos"
        if index + 1 >= settings.max_new_tokens:
            return "length"
        full = len(self.texts[column]) > self.most
        return "context_limit" if full and settings.at_context_length == "stop" else None

    @torch.inference_mode()
    def read(self, columns: list[int]) -> Tensor:
        """The next logits (columns, V)."""
        if not self.batch and self.cache is not None:  # the prompt is the same for all: once through the model
            self.batch = columns
            logits = self.model.next_logits(torch.tensor(self.texts[:1]), self.cache)
            self.cache.keep([0] * len(columns))
            return logits.expand(len(columns), -1)
        if self.cache is None or len(self.texts[columns[0]]) > self.most:
            windows = [self.texts[column][slice(*self.span(column))] for column in columns]
            return self.model.next_logits(torch.tensor(windows))
        if columns != self.batch:
            self.cache.keep([self.batch.index(column) for column in columns])
            self.batch = columns
        return self.decoder(torch.tensor([self.texts[column][-1] for column in columns]), self.cache)
