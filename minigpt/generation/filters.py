"""From logits to the distribution that is drawn from, in pure functions.

The order is fixed, and each stage sees only what the stage before left:

    forbid -> temperature -> top-k -> top-p -> softmax -> (draw: drawing.py)

All stages take float tensors (..., V), V last, and return new tensors; a token that is out has the
logit -inf. float32 and float64 keep their type, shorter floats are computed in float32. Whenever tokens
tie, the lower id wins. A temperature above 0 does not change the order, but its rounding can make near
logits equal: so top-k and top-p compare the logits before temperature, and only the masses are those after it.
`filter_trace` keeps every intermediate so that a page can plot it;
`next_token_probabilities` is the same computation without the bookkeeping, equal bit for bit.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from minigpt.generation.settings import SampleConfig
from minigpt.sentences import Refusal
from minigpt.validation import check_float, check_int

MASS_SLACK = 1e-12  # a mass this close to top_p has reached it: 0.7 + 0.1 is 0.7999999999999999 in float64
PREFIX = 1024  # top-p sorts this many best tokens first, and all of them only if their mass is too small


@dataclass(frozen=True, eq=False)
class FilterTrace:
    """Every stage between the logits and the distribution drawn from; shapes (..., V) unless noted.

    A token counts as kept while its scaled logit is finite, even where its probability rounds to 0.
    Example: for logits [2, 1, 0] and top_k=2, `kept_top_k` is [True, True, False].
    """

    settings: SampleConfig
    greedy: bool  # temperature 0: `probabilities` is 1 at one id and 0 elsewhere
    logits: Tensor  # as the model gave them
    raw_probabilities: Tensor  # softmax of `logits` over the whole vocabulary, before any filter
    forbidden: Tensor  # (V,) bool, ids that may never be drawn
    allowed_logits: Tensor  # after forbid
    allowed_probabilities: Tensor
    scaled_logits: Tensor  # after temperature: (logit - best) / temperature, so the best is 0
    scaled_probabilities: Tensor
    kept_top_k: Tensor  # bool, still in after forbid, temperature and top-k
    top_k_probabilities: Tensor  # renormalized over `kept_top_k`; the mass that top-p counts
    kept_top_p: Tensor  # bool, the tokens that can be drawn; a subset of `kept_top_k`
    probabilities: Tensor  # exactly the distribution drawn from; 0 outside `kept_top_p`, sums to 1


def forbidden_mask(vocab_size: int, ids: Iterable[int], tokenizer_size: int | None = None) -> Tensor:
    """Mark the ids that must never be drawn: the ones given, and all from `tokenizer_size` on.

    Returns (V,) bool. Raises ValueError for an id outside 0..vocab_size-1 and for a tokenizer size
    outside 1..vocab_size. Leave EOS out: it ends a text.

    Example: forbidden_mask(6, [1], tokenizer_size=4) is [F, T, F, F, T, T].
    """
    size = vocab_size if tokenizer_size is None else tokenizer_size
    if not 1 <= size <= vocab_size:
        raise Refusal(
            "the tokenizer size must be 1 to {vocab_size}, the model's vocabulary size, got {size}",
            size=size,
            vocab_size=vocab_size,
        )
    mask = torch.arange(vocab_size) >= size
    for token_id in ids:
        if not 0 <= token_id < vocab_size:
            raise Refusal("a forbidden id must be 0 to {most}, got {token_id}", most=vocab_size - 1, token_id=token_id)
        mask[token_id] = True
    return mask


def forbid(logits: Tensor, forbidden: Tensor | None) -> Tensor:
    """Set forbidden ids to -inf; `forbidden` is (V,) bool, None forbids nothing.

    Example: forbid([2., 1., 0.], [T, F, F]) is [-inf, 1, 0].
    """
    if forbidden is None:
        return logits
    if forbidden.dtype != torch.bool or forbidden.shape != logits.shape[-1:]:
        raise Refusal(
            "forbidden must be a bool tensor of shape ({size},), got {dtype} {shape}",
            size=logits.shape[-1],
            dtype=forbidden.dtype,
            shape=tuple(forbidden.shape),
        )
    return logits.masked_fill(forbidden.to(logits.device), -math.inf)


def apply_temperature(logits: Tensor, temperature: float) -> Tensor:
    """(logit - best) / temperature; at temperature 0 the best id gets 0 and all others -inf.

    The best logit is subtracted first and the division is done in float64, so no temperature above 0
    makes a NaN. Temperature 0 is greedy: of equal logits the lowest id stays. Above 0 equal logits
    stay equal. Raises ValueError `no token left to sample` if a row is -inf throughout.

    Example: apply_temperature([2., 1., 0.], 0.5) is [0, -2, -4].
    """
    check_float("temperature", temperature, least=0)
    best = logits.amax(-1, keepdim=True)  # (..., 1)
    if (best.min() if best.numel() > 1 else best).item() == -math.inf:
        raise Refusal("no token left to sample: every token is forbidden or has the logit -inf")
    if temperature == 0.0:
        return torch.full_like(logits, -math.inf).scatter(-1, logits.argmax(-1, keepdim=True), 0.0)
    below_best = logits - best
    if temperature == 1.0:
        return below_best
    return (below_best.double() / temperature).to(logits.dtype)


def keep_top_k(logits: Tensor, k: int) -> Tensor:
    """Mark exactly the k largest logits, ties to the lowest id; bool (..., V).

    k = 0 is off, and so is a k of at least the number of remaining tokens: all that are not -inf stay.
    Raises ValueError if k is not a whole number from 0.

    Example: keep_top_k([1., 2., 2., 2., 3.], 3) marks the ids 1, 2 and 4.
    """
    check_int("top_k", k, least=0)
    remaining = logits > -math.inf
    if k == 0 or k >= logits.shape[-1]:
        return remaining
    return _largest(logits, logits.topk(k).values[..., -1:], k) & remaining


def keep_top_p(logits: Tensor, p: float, ranking: Tensor | None = None) -> Tensor:
    """Mark the smallest set of best tokens whose probability mass reaches p; bool (..., V).

    The mass is that of softmax(logits): in the chain, of what temperature and top-k left. It is summed in
    float64 from the best token down, and has reached p when it is within 1e-12 of it. Ties go to the
    lowest id, at least one token stays, 1.0 is off. `ranking`, (..., V), says which is better: the logits
    before temperature, without which rounding may tie unequal tokens; by default the logits themselves.
    Raises ValueError unless p is in (0, 1].
    Source: Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration", section 3.1.

    Example: keep_top_p(log([0.5, 0.3, 0.2]), 0.8) marks the ids 0 and 1.
    """
    check_float("top_p", p, above=0, most=1)
    remaining = logits > -math.inf
    if p == 1.0:
        return remaining
    ranking = logits if ranking is None else ranking.masked_fill(~remaining, -math.inf)
    return _largest(ranking, *_nucleus(logits, ranking, p)) & remaining


def rank_of(values: Tensor, token_id: int) -> int:
    """The place of one id among `values` (V,), 1 for the largest; of equal values the lower id leads.

    Raises ValueError if the id is outside 0..V-1. Example: rank_of([0.2, 0.5, 0.2], 2) == 3.
    """
    if not 0 <= token_id < len(values):
        raise Refusal("the token id must be 0 to {most}, got {token_id}", most=len(values) - 1, token_id=token_id)
    value = values[token_id]
    return 1 + int((values > value).sum()) + int((values[:token_id] == value).sum())


def filter_trace(logits: Tensor, settings: SampleConfig, forbidden: Tensor | None = None) -> FilterTrace:
    """Run all stages on logits (..., V) and return every intermediate.

    `forbidden` is (V,) bool, see `forbidden_mask`. Raises ValueError for NaN or +inf (with the
    position) and when no token is left to sample; -inf is allowed and means probability 0.

    Example: filter_trace(tensor([2., 1., 0.]), SampleConfig(top_k=1)).probabilities is [1, 0, 0].
    """
    raw = _checked(logits).clone()
    allowed = forbid(raw, forbidden)
    scaled = apply_temperature(allowed, settings.temperature)
    kept_top_k = keep_top_k(allowed, settings.top_k) & (scaled > -math.inf)
    limited = scaled.masked_fill(~kept_top_k, -math.inf)
    kept_top_p = keep_top_p(limited, settings.top_p, ranking=allowed)
    nothing = torch.zeros(raw.shape[-1], dtype=torch.bool, device=raw.device)
    return FilterTrace(
        settings=settings,
        greedy=settings.greedy,
        logits=raw,
        raw_probabilities=raw.softmax(-1),
        forbidden=nothing if forbidden is None else forbidden.to(raw.device, copy=True),
        allowed_logits=allowed,
        allowed_probabilities=allowed.softmax(-1),
        scaled_logits=scaled,
        scaled_probabilities=scaled.softmax(-1),
        kept_top_k=kept_top_k,
        top_k_probabilities=limited.softmax(-1),
        kept_top_p=kept_top_p,
        probabilities=limited.masked_fill(~kept_top_p, -math.inf).softmax(-1),
    )


def next_token_probabilities(logits: Tensor, settings: SampleConfig, forbidden: Tensor | None = None) -> Tensor:
    """The distribution that `filter_trace` ends with, bit for bit, without the intermediates.

    Arguments, errors and shapes are those of `filter_trace`. Top-p among the k best needs no other tokens
    than those, so both filters share one partial sort; stages that are off cost nothing.

    Example: next_token_probabilities(tensor([2., 1., 0.]), SampleConfig(temperature=0.0)) is [1, 0, 0].
    """
    allowed = forbid(_checked(logits), forbidden)
    scaled = apply_temperature(allowed, settings.temperature)
    k = settings.top_k if settings.top_k < allowed.shape[-1] else 0
    if settings.greedy or (k == 0 and settings.top_p == 1.0):
        return scaled.softmax(-1)
    if settings.top_p == 1.0:
        kept = _largest(allowed, allowed.topk(k).values[..., -1:], k)
    else:
        kept = _largest(allowed, *_nucleus(scaled, allowed, settings.top_p, k))
    return torch.where(kept, scaled, -math.inf).softmax(-1)


def _checked(logits: Tensor) -> Tensor:
    """The logits detached, as float32 or float64, or raise if they are unusable."""
    if not logits.is_floating_point() or logits.numel() == 0 or logits.dim() == 0:
        raise Refusal(
            "logits must be a float tensor of shape (..., V), not empty, got {dtype} {shape}",
            dtype=logits.dtype,
            shape=tuple(logits.shape),
        )
    if not logits.max().item() < math.inf:  # NaN, which max passes on, fails this comparison too
        position = (~(logits < math.inf)).nonzero()[0].tolist()
        value = logits[tuple(position)].item()
        if position[:-1]:
            raise Refusal(
                "logits must be finite or -inf, got {value} at id {token_id} of row {row}",
                value=value,
                token_id=position[-1],
                row=position[:-1],
            )
        raise Refusal("logits must be finite or -inf, got {value} at id {token_id}", value=value, token_id=position[-1])
    logits = logits.detach()
    return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()


def _largest(values: Tensor, threshold: Tensor, count: Tensor | int) -> Tensor:
    """Mark the `count` largest values, given the smallest of them; the lowest ids among its equals."""
    at_least = values >= threshold
    if threshold.numel() == 1 and at_least.count_nonzero().item() == int(count):
        return at_least  # one row, and nothing tied at its border: the common case
    above = values > threshold
    tied = values == threshold
    room = count - above.sum(-1, keepdim=True)  # (..., 1)
    return above | (tied & (tied.cumsum(-1) <= room))


def _nucleus(logits: Tensor, ranking: Tensor, p: float, k: int = 0) -> tuple[Tensor, Tensor]:
    """The smallest ranking value of the nucleus and how many tokens are in it, both (..., 1).

    The nucleus is the smallest set of best tokens with the mass p, where only the k best have mass (0: all).
    """
    vocab_size = logits.shape[-1]
    ordered, ids = ranking.topk(k or min(PREFIX, vocab_size))  # (..., M)
    masses = _cumulative(logits.gather(-1, ids))
    total = masses[..., -1:]
    if k == 0 and vocab_size > PREFIX:
        best = logits.amax(-1, keepdim=True).double()  # (..., 1)
        total = (logits.double() - best).exp().sum(-1, keepdim=True)
        if (masses[..., -1:] < p * total).any():
            ordered, ids = ranking.sort(dim=-1, descending=True)
            masses = _cumulative(logits.gather(-1, ids))
            total = masses[..., -1:]
    last = torch.searchsorted(masses, (p - MASS_SLACK) * total)  # (..., 1), the first place to reach p
    return ordered.gather(-1, last), last + 1


def _cumulative(ordered: Tensor) -> Tensor:
    """The running sums of exp(logit - first logit) in float64; logits (..., M) fall."""
    values = ordered.double()
    return (values - values[..., :1]).exp().cumsum(-1)
