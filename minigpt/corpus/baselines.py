"""What counting can do: losses of a uniform guess and of unigram, bigram and trigram counts.

A model that beats the trigram line has learned more than which piece follows which two. Counts come
from the training split and are scored on the positions that the validation loss scores, in the same
nats. Each order is mixed with the one below, so that no probability is 0 (Witten-Bell):

    p(w | h) = (count(h w) + kinds(h) * p(w | shorter h)) / (count(h) + kinds(h))

where kinds(h) is the number of different ids seen after h; a context never seen leaves the shorter
one alone, and below the unigram comes 1 / V.

Source: I. Witten, T. Bell (1991), The Zero-Frequency Problem; S. Chen, J. Goodman (1998), An Empirical
Study of Smoothing Techniques for Language Modeling, section 2.5.
"""

from dataclasses import dataclass
from math import log

import numpy as np
import torch

from minigpt.corpus.batches import Batch
from minigpt.corpus.windows import Windows
from minigpt.model.loss import IGNORE
from minigpt.sentences import Refusal

NO_ID = -1  # is before the first slot of a record
ID_BITS = 21  # room for ids up to two millions


@dataclass(frozen=True)
class Baselines:
    """Mean nats per scored position; `positions` counts those."""

    uniform: float  # ln V
    unigram: float
    bigram: float
    trigram: float
    positions: int


def ngram_baselines(
    train: Batch | Windows, scored: Batch | Windows, vocab_size: int, rows: torch.Tensor | None = None
) -> Baselines:
    """Count on `train`, score on `scored`, or on those of its rows an evaluation uses.

    Raises ValueError when nothing is scored. Example: trained on "ab" and scored on "ab", with the
    framing BOS a b EOS, the bigram gives each of the three targets (1 + p(unigram)) / 2.
    """
    seen, asked = _trigrams(train), _trigrams(scored, rows)
    if not len(asked):
        raise Refusal("baselines need at least one scored position, got none")
    probability, losses = np.full(len(asked), 1 / vocab_size), list[float]()
    for ids in (1, 2, 3):  # the last of each trigram
        last = (1 << ids * ID_BITS) - 1
        probability = _mixed(seen & last, asked & last, probability)
        losses.append(float(-np.log(probability).mean()))
    return Baselines(log(vocab_size), losses[0], losses[1], losses[2], len(asked))


def _mixed(seen: np.ndarray, asked: np.ndarray, shorter: np.ndarray) -> np.ndarray:
    """p(last id | those before) of each packed `asked`; `shorter` are the probabilities with one id less before.

    `seen` is sorted in place.
    """
    seen.sort()
    first = _first_of_runs(seen)
    grams, counts = seen[first], np.diff(first, append=len(seen))
    before = grams >> ID_BITS
    first = _first_of_runs(before)
    contexts, totals, kinds = before[first], np.add.reduceat(counts, first), np.diff(first, append=len(before))
    count = _looked_up(grams, counts, asked)
    total, kind = (_looked_up(contexts, values, asked >> ID_BITS) for values in (totals, kinds))
    return np.where(total > 0, (count + kind * shorter) / np.maximum(total + kind, 1), shorter)


def _first_of_runs(values: np.ndarray) -> np.ndarray:
    """Where each run of equal values begins."""
    return np.concatenate([[0], 1 + np.flatnonzero(values[1:] != values[:-1])])


def _looked_up(keys: np.ndarray, values: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The value of each asked key, 0 where it is not one of the sorted `keys`."""
    places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[places] == asked, values[places], 0)


def _trigrams(split: Batch | Windows, rows: torch.Tensor | None = None) -> np.ndarray:
    """For each scored position the id before, the id of the slot, and its target, packed into one int64.

    The last id has the lowest ID_BITS bits. Of all positions, or those of some `rows` of a pass.
    """
    if isinstance(split, Windows):
        ids, targets = split.ids[: split.slots].numpy(), split.targets[: split.slots].numpy()
        begins = np.concatenate([[True], targets[:-1] == IGNORE])  # as after EOS
        scored = targets != IGNORE
        if rows is not None:
            slots = (rows[:, None] + torch.arange(split.length)).flatten().numpy()
            chosen = np.zeros(split.slots, dtype=bool)
            chosen[slots[slots < split.slots]] = True
            scored &= chosen
    else:
        some = slice(None) if rows is None else rows
        ids, targets = split.ids[some].flatten().numpy(), split.targets[some].flatten().numpy()
        begins = np.arange(len(ids)) % split.ids.shape[1] == 0
        scored = targets != IGNORE
    packed = np.zeros(len(ids), dtype=np.int64)  # NO_ID + 1
    packed[1:] = ids[:-1]
    packed[1:] += 1
    packed[begins] = NO_ID + 1
    for column in (ids, targets):
        packed <<= ID_BITS
        packed |= column.astype(np.int64) + 1
    return packed[scored]
