"""What the cache saves: the same text with and without it, token by token, on this machine and this model.

Times are processor seconds of the calling thread, which with one torch thread does all the work: the load of a busy
machine does not count.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from minigpt.model.cache import KVCache
from minigpt.model.gpt import MiniGPT
from minigpt.model.kernels.decode import Decoder
from minigpt.sentences import Refusal


@dataclass(frozen=True)
class CostStep:
    """One new token: how long it took either way, and by how much the logits differ (None where not measured)."""

    length: int  # ids the model had to know
    prefill: bool  # the first step reads the whole prompt at once, into the cache
    cached_seconds: float
    uncached_seconds: float | None
    difference: float | None  # largest, over all logits


@dataclass(frozen=True)
class CostSummary:
    """Totals over the steps that were measured both ways; means in seconds."""

    tokens: int
    prefill_seconds: float | None
    decode_seconds: float | None  # mean of a decoded token, with the cache
    uncached_seconds: float | None  # mean of the same tokens, without
    ratio: float | None  # uncached / cached, prompt included
    difference: float  # largest


def compare_costs(
    model: MiniGPT, context_ids: Sequence[int], tokens: int, uncached_every: int = 1
) -> Iterator[CostStep]:
    """Write `tokens` new tokens greedily; every `uncached_every`-th is computed without the cache as well.

    Both ways read the same ids and give the logits of the last position only. Raises ValueError before the first
    step when the text does not fit the context.
    """
    most = model.config.context_length
    if tokens < 1 or len(context_ids) < 1 or len(context_ids) + tokens - 1 > most:
        raise Refusal(
            "at least 1 id and 1 new token are needed, and at most {most} of both together, got {count} ids and "
            "{tokens} new tokens",
            count=len(context_ids),
            tokens=tokens,
            most=most + 1,
        )
    return _steps(model, list(context_ids), tokens, uncached_every)


def _steps(model: MiniGPT, ids: list[int], tokens: int, uncached_every: int) -> Iterator[CostStep]:
    cache, decoder = KVCache(model.config, capacity=len(ids) + tokens - 1), Decoder(model)
    for index in range(tokens):
        with torch.inference_mode():
            started = time.thread_time()
            if index == 0:
                logits = model.next_logits(torch.tensor([ids]), cache)
            else:
                logits = decoder(torch.tensor([ids[-1]]), cache)
            cached, uncached, difference = time.thread_time() - started, None, None
            if index % uncached_every == 0:
                started = time.thread_time()
                again = model.next_logits(torch.tensor([ids]))
                uncached = time.thread_time() - started
                difference = (again - logits).abs().max().item()
            length = len(ids)
            ids.append(int(logits.argmax()))
        yield CostStep(length, index == 0, cached, uncached, difference)


def summarize(steps: Sequence[CostStep]) -> CostSummary:
    """Means and the total ratio; steps without an uncached time count in no ratio."""
    both = [(step, step.uncached_seconds) for step in steps if step.uncached_seconds is not None]
    decoded = [(step.cached_seconds, uncached) for step, uncached in both if not step.prefill]
    spent = sum(step.cached_seconds for step, _ in both)
    return CostSummary(
        tokens=len(steps),
        prefill_seconds=next((step.cached_seconds for step in steps if step.prefill), None),
        decode_seconds=sum(cached for cached, _ in decoded) / len(decoded) if decoded else None,
        uncached_seconds=sum(uncached for _, uncached in decoded) / len(decoded) if decoded else None,
        ratio=sum(uncached for _, uncached in both) / spent if spent else None,
        difference=max((step.difference or 0.0 for step, _ in both), default=0.0),
    )
