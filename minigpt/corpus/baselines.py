"""What counting can do: losses of a uniform guess and of unigram, bigram and trigram counts.

A model that beats the trigram line has learned more than which piece follows which two. Counts come
from the training split and are scored on the positions that the validation loss scores, in the same
nats. Each order is mixed with the one below, so that no probability is 0 (Witten-Bell):

    p(w | h) = (count(h w) + kinds(h) * p(w | shorter h)) / (count(h) + kinds(h))

where kinds(h) is the number of different ids seen after h; a context never seen leaves the shorter
one alone, and below the unigram stands 1 / V.

Source: I. Witten, T. Bell (1991), The Zero-Frequency Problem; S. Chen, J. Goodman (1998), An Empirical
Study of Smoothing Techniques for Language Modeling, section 2.5.
"""

from dataclasses import dataclass
from math import log

import numpy as np
import torch

from minigpt.corpus.batches import IGNORE, Batch
from minigpt.corpus.windows import Windows

NO_ID = -1  # stands before the first slot of a record
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
    seen, asked = _trigrams(train, train.pass_rows), _trigrams(scored, scored.pass_rows if rows is None else rows)
    if not len(asked):
        raise ValueError("baselines need at least one scored position, got none")
    probability, losses = np.full(len(asked), 1 / vocab_size), []
    for context in (0, 1, 2):
        probability = _mixed(seen[:, 2 - context :], asked[:, 2 - context :], probability)
        losses.append(float(-np.log(probability).mean()))
    return Baselines(log(vocab_size), *losses, positions=len(asked))


def _mixed(seen: np.ndarray, asked: np.ndarray, shorter: np.ndarray) -> np.ndarray:
    """p(last id | those before) for each row of `asked`; `shorter` are the probabilities with one id less before."""
    grams, counts = np.unique(_packed(seen), return_counts=True)
    contexts, totals = np.unique(_packed(seen[:, :-1]), return_counts=True)
    kinds = np.unique(grams >> ID_BITS, return_counts=True)[1]
    count = _looked_up(grams, counts, _packed(asked))
    total, kind = (_looked_up(contexts, values, _packed(asked[:, :-1])) for values in (totals, kinds))
    return np.where(total > 0, (count + kind * shorter) / np.maximum(total + kind, 1), shorter)


def _looked_up(keys: np.ndarray, values: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The value of each asked key, 0 where it is none of the sorted `keys`."""
    places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[places] == asked, values[places], 0)


def _packed(rows: np.ndarray) -> np.ndarray:
    """Each row of up to three ids (from NO_ID on) as one whole number; `>> ID_BITS` takes the last id off."""
    packed = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        packed = (packed << ID_BITS) | (column + 1)
    return packed


def _trigrams(split: Batch | Windows, rows: torch.Tensor) -> np.ndarray:
    """(positions, 3): the id before, the id of the slot, and its target, for each scored position."""
    if isinstance(split, Windows):
        slots = torch.cat([torch.arange(row, min(row + split.length, split.slots)) for row in rows.tolist()])
        begins = (slots == 0) | (split.targets[slots - 1] == IGNORE)  # as after EOS
        before = torch.where(begins, NO_ID, split.ids[slots - 1])
        grams = torch.stack([before, split.ids[slots], split.targets[slots]], dim=-1)
    else:
        ids, targets = split.ids[rows], split.targets[rows]
        before = torch.cat([torch.full_like(ids[:, :1], NO_ID), ids[:, :-1]], dim=1)
        grams = torch.stack([before, ids, targets], dim=-1).flatten(0, 1)
    return grams[grams[:, 2] != IGNORE].numpy()
