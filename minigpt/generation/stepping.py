"""Text, one token at a time: prefill the prompt, decode with a cache, draw, stop.

Several columns can grow from one prompt in one batch, each with its own settings and its own generator. Their
logits are those of a column alone up to rounding (1e-12 in float64), so their texts are the same.

The model reads at most its context length. There a column stops with reason `context_limit`, or slides: the oldest
token is dropped and the rest is computed afresh, because every token stands at another position then and no cached
key may be used again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import torch
from torch import Tensor

from minigpt.generation.drawing import DiceDraw, draw, draw_with_dice, new_generator, throw_dice
from minigpt.generation.filters import (
    Chain,
    filter_chain,
    forbid,
    forbidden_mask,
    next_token_probabilities,
    rank_of,
)
from minigpt.generation.measures import entropy
from minigpt.generation.settings import SampleConfig
from minigpt.inspection.record import check_length
from minigpt.model.cache import KVCache
from minigpt.model.gpt import MiniGPT
from minigpt.model.kernels.decode import Decoder
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer

STOPS = ("eos", "context_limit", "length")


@dataclass(frozen=True)
class Candidate:
    """One id at one step: its probability before all filters, and in the distribution drawn from (0 if removed)."""

    id: int
    rank: int  # among the allowed logits, from 1; ties go to the lowest id
    raw_probability: float
    probability: float


@dataclass(frozen=True, eq=False)
class Step:
    """One drawn token. What is only looked at is computed from the logits when it is asked for."""

    column: int
    index: int  # from 0
    id: int
    settings: SampleConfig
    logits: Tensor  # (V,), as the model gave them
    forbidden: Tensor  # (V,) bool
    dice: float | None  # the shared throw u, None without; greedy columns do not look at it
    stop: str | None  # why the column ends with this token: one of STOPS
    _written: list[int]  # prompt and all tokens of the column; grows on
    _span: tuple[int, int]  # of it, what the model read

    @property
    def context_ids(self) -> tuple[int, ...]:
        """The ids the model read for this step, at most its context length."""
        return tuple(self._written[slice(*self._span)])

    @property
    def chain(self) -> Chain:
        """Every stage from the logits to the distribution that was drawn from; computed at each call."""
        return filter_chain(self.logits, self.settings, self.forbidden)

    @cached_property
    def _facts(self) -> dict[str, float]:
        """The numbers below, kept without the chain: it is a dozen times as large as the logits."""
        chain = self.chain
        return {
            "raw_probability": chain.raw_probabilities[self.id].item(),
            "probability": chain.probabilities[self.id].item(),
            "rank": rank_of(chain.allowed_logits, self.id),
            "kept": int(chain.kept_top_p.sum()),
            "entropy": entropy(chain.probabilities.double().numpy()),
            "raw_entropy": entropy(chain.raw_probabilities.double().numpy()),
        }

    def settled(self) -> "Step":
        """The same step without its logits: its numbers stay, its distributions can no longer be asked for."""
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
        return self._facts["rank"]

    @property
    def kept(self) -> int:
        """How many ids could be drawn."""
        return self._facts["kept"]

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
        """The part of the cumulative bar that the throw fell into; None without dice and when greedy."""
        if self.dice is None or self.settings.greedy:
            return None
        return draw_with_dice(self.chain.probabilities, self.dice)

    @property
    def choice(self) -> Candidate:
        """The drawn id among the others."""
        return Candidate(self.id, self.rank, self.raw_probability, self.probability)

    def candidates(self, count: int) -> list[Candidate]:
        """The `count` best allowed ids, best first, ties to the lowest id."""
        chain = self.chain
        order = chain.allowed_logits.sort(descending=True, stable=True).indices[:count].tolist()
        return [
            Candidate(id, place, chain.raw_probabilities[id].item(), chain.probabilities[id].item())
            for place, id in enumerate(order, start=1)
        ]


def prompt_ids(tokenizer: Tokenizer, prompt: str) -> list[int]:
    """BOS and the ids of the prompt, without EOS: the text goes on. An empty prompt is BOS alone.

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
    """Yield the drawn tokens, round by round: the first of every column, then the second of those that go on.

    `context_ids` are what is read first (see `prompt_ids`); `settings` one column's, or a sequence. Each column draws
    from its own generator, made from its seed; with `dice_seed` all share one throw of the dice a round instead, so
    that they differ only where their distributions do. Greedy columns draw nothing. Without `cached` every step
    reads the whole text again.

    Raises ValueError before the first step for no column, an empty or too long context, an unknown id, or a
    model in training mode.

    >>> [step.id for step in generate(model, tokenizer, prompt_ids(tokenizer, "Hi"), SampleConfig(max_new_tokens=3))]
    [46, 32, 257]
    """
    columns = [settings] if isinstance(settings, SampleConfig) else list(settings)
    if not columns:
        raise Refusal("there are 0 columns; allowed: 1 or more")
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
        going_on = []
        for column, logits in zip(active, rows, strict=True):
            chosen = columns[column]
            id = _choose(logits, chosen, forbidden, generators[column], u)
            span = reader.span(column)
            stop = reader.append(column, id, chosen, index)
            if stop is None:
                going_on.append(column)
            yield Step(column, index, id, chosen, logits, forbidden, u, stop, reader.texts[column], span)
        active = going_on
        index += 1


def _choose(
    logits: Tensor, settings: SampleConfig, forbidden: Tensor, generator: torch.Generator, u: float | None
) -> int:
    """The next id; the distribution is the one that `Step.chain` shows."""
    if settings.greedy:
        allowed = forbid(logits, forbidden)
        id = allowed.argmax().item()
        if abs(allowed[id].item()) < inf:
            return id
    probabilities = next_token_probabilities(logits, settings, forbidden)  # names what is wrong with the logits
    return draw(probabilities, generator).item() if u is None else draw_with_dice(probabilities, u).token_id


class _Reader:
    """The texts of all columns and what the model says comes next, with one cache for those that still grow."""

    def __init__(
        self, model: MiniGPT, eos: int, context_ids: Sequence[int], columns: Sequence[SampleConfig], cached: bool
    ):
        if model.training:
            raise Refusal("the model is in training mode, where dropout changes what it says; call eval() first")
        self.model, self.eos, self.most = model, eos, model.config.context_length
        self.texts = [list(context_ids) for _ in columns]
        if not 1 <= len(context_ids) <= self.most:
            raise Refusal(
                "the context has {count} ids, BOS included; allowed: 1 to {most}, the context length",
                count=len(context_ids),
                most=self.most,
            )
        for id in context_ids:
            if not 0 <= id < model.config.vocab_size:
                raise Refusal(
                    "context id is {id}; allowed: 0 to {vocab_size}", id=id, vocab_size=model.config.vocab_size - 1
                )
        capacity = min(self.most, len(context_ids) + max(column.max_new_tokens for column in columns))
        self.decoder = Decoder(model) if cached else None
        self.cache = KVCache(model.config, batch=1, capacity=capacity) if cached else None
        self.batch: list[int] = []  # columns in the cache

    def span(self, column: int) -> tuple[int, int]:
        """The part of a column's text that the model reads: its last ids, as many as fit."""
        length = len(self.texts[column])
        return max(0, length - self.most), length

    def append(self, column: int, id: int, settings: SampleConfig, index: int) -> str | None:
        """Add a token; why the column ends with it, or None."""
        self.texts[column].append(id)
        if id == self.eos:
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
