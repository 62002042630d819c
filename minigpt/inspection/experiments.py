"""Evidence: experiments that anyone can run on any model and record, each with its number.

None of them changes the given model; gradients and updates happen on a copy, in evaluation mode.
Differences are absolute. Where arithmetic is done twice in another order, the allowed difference is
`TOLERANCE` of the model's dtype times the largest number compared, or times 1 if that is larger:
1e-12 is some 4,500 roundings of float64, 1e-5 some 80 of float32. Where nothing is rounded differently,
exactly 0 is allowed.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from math import exp, fsum, log, sqrt

import torch

from minigpt.config import ModelConfig
from minigpt.corpus.batches import Batch, batch_records, inspection_batch
from minigpt.inspection.edit import another_id, edit_token
from minigpt.inspection.stages import TOLERANCE
from minigpt.model.gpt import MiniGPT
from minigpt.model.loss import IGNORE, loss
from minigpt.model.parameters import component_counts
from minigpt.model.trace import BlockTrace, Trace
from minigpt.tokenizers.base import Tokenizer
from minigpt.validation import check_int

UPDATE = 0.001  # how far one update moves a number: Adam's first step is rate * gradient / |gradient|


@dataclass(frozen=True)
class Check:
    """The outcome of one experiment: it passed if `difference` is at most `allowed` and it could have failed.

    `details` are further numbers by name; counts are whole floats.
    """

    name: str
    passed: bool
    difference: float
    allowed: float
    details: dict[str, float]


def all_checks(model: MiniGPT, tokenizer: Tokenizer, text: str) -> list[Check]:
    """Every check of this file on one record, in the order of the file; some 20 forwards of the record.

    Raises ValueError for a text that is empty or does not fit.
    """
    return [experiment() for experiment in experiments(model, tokenizer, text).values()]


def experiments(
    model: MiniGPT, tokenizer: Tokenizer, text: str, trace: Trace | None = None
) -> dict[str, Callable[[], Check]]:
    """The checks of `all_checks` by name, none of them run yet: a large model takes a second for each.

    `trace` is that of the record, if there is one already. Raises ValueError as `all_checks` does.
    """
    batch = inspection_batch(text, tokenizer, model.config.context_length)
    last = batch.target_count - 1
    trace = model.trace(batch.ids, batch.valid) if trace is None else trace
    return {
        "traced_forward": lambda: traced_forward(model, trace),
        "future_token": lambda: future_token(model, batch, last, another_id(batch, last, tokenizer.vocab_size)),
        "padding_content": lambda: padding_content(model, batch),
        "other_record": lambda: other_record(model, batch),
        "target_shift": lambda: target_shift(batch, tokenizer),
        "hidden_weights": lambda: hidden_weights(trace),
        "scalar_attention": lambda: scalar_attention(trace, last),
        "uniform_loss": lambda: uniform_loss(batch, model.config),
        "parameter_sum": lambda: parameter_sum(model),
        "refusals": lambda: refusals(model, tokenizer, text),
        "gradient_reach": lambda: gradient_reach(model, batch),
        "one_update": lambda: one_update(model, batch),
    }


def traced_forward(model: MiniGPT, trace: Trace) -> Check:
    """The logits of the trace are those of a forward without a trace, bit for bit."""
    difference = (_logits(model, trace.ids, trace.valid) - trace.logits.values).abs().max().item()
    return Check("traced_forward", difference == 0, difference, 0.0, {"logits": float(trace.logits.values.numel())})


def future_token(model: MiniGPT, batch: Batch, position: int, id: int) -> Check:
    """Another id at `position`: earlier logits must not move, those of the position itself must."""
    moved = edit_token(model, batch, position, id).differences.tolist()
    earlier = max(moved[:position], default=0.0)
    later = moved[position : int(batch.valid[0].sum())]
    allowed = TOLERANCE[model.config.dtype]
    details = {"position": float(position), "moved_there": later[0], "moved_later": max(later)}
    return Check("future_token", earlier <= allowed and later[0] > 0, earlier, allowed, details)


def padding_content(model: MiniGPT, batch: Batch) -> Check:
    """Other ids in the unused slots: no logit of the record may move. A full record frees its last slot first."""
    ids, valid = batch.ids[:1], batch.valid[:1].clone()
    if valid.all():
        valid[0, -1] = False
    changed = torch.where(valid, ids, _other_ids(ids, model.config))
    difference = _logit_difference(model, (ids, valid), (changed, valid))[valid].max().item()
    allowed = TOLERANCE[model.config.dtype]
    return Check("padding_content", difference <= allowed, difference, allowed, {"slots": float((~valid).sum())})


def other_record(model: MiniGPT, batch: Batch) -> Check:
    """Another neighbour in the batch: no logit of the record may move, those of the neighbour must."""
    ids, valid = batch.ids[:1], batch.valid[:1]
    both, other = valid.expand(2, -1), _other_ids(ids, model.config)
    moved = _logit_difference(model, (torch.cat([ids, ids]), both), (torch.cat([ids, other]), both))
    difference, allowed = moved[0][valid[0]].max().item(), TOLERANCE[model.config.dtype]
    neighbour = moved[1].max().item()
    passed = difference <= allowed and neighbour > 0
    return Check("other_record", passed, difference, allowed, {"neighbour_moved": neighbour})


def target_shift(batch: Batch, tokenizer: Tokenizer) -> Check:
    """Targets are the inputs shifted once, EOS comes last and is scored, BOS is never one; counts wrong slots."""
    wanted = torch.full_like(batch.targets, IGNORE)
    for row, count in enumerate(batch.valid.sum(-1).tolist()):
        wanted[row, : count - 1] = batch.ids[row, 1:count]
        wanted[row, count - 1] = tokenizer.eos
    wrong = int((batch.targets != wanted).sum())
    if tokenizer.bos != tokenizer.eos:
        wrong += int((batch.targets == tokenizer.bos).sum())
    ends = int((batch.targets == tokenizer.eos).sum())
    details = {"scored": float(batch.target_count), "eos": float(ends)}
    return Check("target_shift", wrong == 0, float(wrong), 0.0, details)


def hidden_weights(trace: Trace) -> Check:
    """Weights on later and padding keys are exactly 0; `details` has how far the rows of real queries miss 1."""
    weights = torch.stack([block.weights.values for block in trace.blocks])  # (L, B, H, T, T)
    slots = torch.arange(weights.shape[-1])
    hidden = (slots[:, None] < slots) | ~trace.valid[:, None, :] | ~trace.valid[:, :, None]  # (B, T, T)
    largest = weights.masked_fill(~hidden[:, None], 0.0).abs().max().item()
    rows = (weights.sum(-1) - 1).abs().masked_fill(~trace.valid[:, None], 0.0).max().item()
    passed = largest == 0 and rows <= TOLERANCE[trace.config.dtype]
    return Check("hidden_weights", passed, largest, 0.0, {"row_sum": rows, "hidden": float(hidden.sum())})


def scalar_attention(trace: Trace, position: int) -> Check:
    """All heads of all blocks at one position, recomputed number by number from Q, K and V before the split.

    The loop knows nothing of the model's masks or reshapes: a key counts if it is valid and not later.
    """
    check_int("position", position, least=0, most=int(trace.valid[0].sum()) - 1)
    difference, largest = 0.0, 1.0
    for block in trace.blocks:
        weights, joined = _scalar_block(block, trace, position)
        pairs = list(zip(weights, block.weights.at(position).flatten().tolist(), strict=True))
        pairs += zip(joined, block.joined.at(position).tolist(), strict=True)
        difference = max(difference, *(abs(mine - its) for mine, its in pairs))
        largest = max(largest, *(abs(its) for _, its in pairs))
    allowed = TOLERANCE[trace.config.dtype] * largest
    details = {"position": float(position), "heads": float(trace.config.heads * trace.config.layers)}
    return Check("scalar_attention", difference <= allowed, difference, allowed, details)


def uniform_loss(batch: Batch, config: ModelConfig) -> Check:
    """Equal logits cost ln V nats, with every number of padding slots from none to three times as many slots."""
    wanted, record = log(config.vocab_size), batch.targets[0][batch.valid[0]]
    losses = []
    for slots in (len(record), len(record) + 1, 3 * batch.targets.shape[1]):
        targets = torch.full((1, slots), IGNORE)
        targets[0, : len(record)] = record
        logits = torch.zeros(1, slots, config.vocab_size, dtype=getattr(torch, config.dtype))
        losses.append(loss(logits, targets).item())
    difference = max(abs(value - wanted) for value in losses)
    allowed = TOLERANCE[config.dtype] * wanted
    return Check("uniform_loss", difference <= allowed, difference, allowed, {"ln_v": wanted, "loss": losses[0]})


def parameter_sum(model: MiniGPT) -> Check:
    """The components of the parameter table add up to a count made from the config alone."""
    counted, wanted = component_counts(model), expected_parameters(model.config)
    total = counted.pop("total")
    difference = float(max(abs(total - wanted), abs(sum(counted.values()) - wanted)))
    return Check("parameter_sum", difference == 0, difference, 0.0, {"table": float(total), "config": float(wanted)})


def expected_parameters(config: ModelConfig) -> int:
    """Parameters by arithmetic: tables + L blocks + final norm + LM head. MG-1: 5,680 + 3,216 + 32 + 4,947."""
    width, hidden = config.width, config.ffn_width
    attention = 4 * width * (width + config.attention_bias)
    ffn = width * hidden + hidden + hidden * width + width
    head = 0 if config.tied_head else width * config.vocab_size
    tables = (config.vocab_size + config.context_length) * width
    blocks = config.layers * (attention + ffn + 4 * width)
    return tables + blocks + 2 * width + head + config.vocab_size * config.head_bias


def refusals(model: MiniGPT, tokenizer: Tokenizer, text: str) -> Check:
    """Empty and over-long text, no ids, one id too many, and an unknown id are refused; counts what was let in."""
    context, too_few = model.config.context_length, len(tokenizer.encode(text))  # BOS needs one position more
    tries = (
        lambda: batch_records([""], tokenizer, context),
        lambda: batch_records([text], tokenizer, too_few),
        lambda: model(torch.zeros(1, 0, dtype=torch.long)),
        lambda: model(torch.zeros(1, context + 1, dtype=torch.long)),
        lambda: model(torch.full((1, 1), model.config.vocab_size)),
    )
    accepted = sum(not _refused(attempt) for attempt in tries)
    return Check("refusals", accepted == 0, float(accepted), 0.0, {"tried": float(len(tries))})


def gradient_reach(model: MiniGPT, batch: Batch) -> Check:
    """The loss has a gradient in every stored tensor; counts those without."""
    copy, before = _with_gradients(model, batch)
    largest = [0.0 if tensor.grad is None else tensor.grad.abs().max().item() for tensor in copy.parameters()]
    missing = float(sum(value == 0 for value in largest))
    details = {"tensors": float(len(largest)), "smallest": min(largest), "loss": before}
    return Check("gradient_reach", missing == 0, missing, 0.0, details)


def one_update(model: MiniGPT, batch: Batch) -> Check:
    """Adam's first update on a copy changes every stored tensor and lowers the loss; the given model keeps each bit.

    Counts tensors that stayed in the copy or moved in the given model.
    """
    copy, before = _with_gradients(model, batch)
    tensors, stayed, moved = list(copy.parameters()), 0, 0
    with torch.no_grad():
        for tensor, given in zip(tensors, model.parameters(), strict=True):
            old = tensor.clone()  # one at a time: a large model is not kept twice more
            assert tensor.grad is not None
            tensor.sub_(UPDATE * tensor.grad / (tensor.grad.abs() + 1e-8))
            stayed += torch.equal(tensor, old)
            moved += not torch.equal(given, old)
        after = loss(copy(batch.ids, batch.valid), batch.targets).item()
    details = {"tensors": float(len(tensors)), "loss_before": before, "loss_after": after}
    return Check("one_update", stayed + moved == 0 and after < before, float(stayed + moved), 0.0, details)


def _with_gradients(model: MiniGPT, batch: Batch) -> tuple[MiniGPT, float]:
    copy = deepcopy(model).eval()
    copy.zero_grad(set_to_none=True)
    value = loss(copy(batch.ids, batch.valid), batch.targets)
    value.backward()
    return copy, value.item()


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except ValueError:
        return True
    return False


def _other_ids(ids: torch.Tensor, config: ModelConfig) -> torch.Tensor:
    return (ids + 1) % config.vocab_size


def _logit_difference(model: MiniGPT, one: tuple, other: tuple) -> torch.Tensor:
    """Largest |logit difference| over the vocabulary, (B, T); each side is (ids, valid)."""
    return (_logits(model, *one) - _logits(model, *other)).abs().amax(-1)


@torch.no_grad()
def _logits(model: MiniGPT, ids: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    """A plain forward without dropout; the former mode is restored."""
    training = model.training
    model.eval()
    try:
        return model(ids, valid)
    finally:
        model.train(training)


def _scalar_block(block: BlockTrace, trace: Trace, position: int) -> tuple[list[float], list[float]]:
    """Weights of all heads one after the other (H T,) and the joined mixtures (C,) of the first record."""
    query = block.q_projection.at(position).tolist()
    keys, values = block.k_projection.values[0].tolist(), block.v_projection.values[0].tolist()
    valid, width = trace.valid[0].tolist(), trace.config.head_width
    visible = [key for key in range(position + 1) if valid[key]]
    weights, joined = [], []
    for start in range(0, trace.config.width, width):
        own = range(start, start + width)
        scores = {key: fsum(query[c] * keys[key][c] for c in own) / sqrt(width) for key in visible}
        highest = max(scores.values())
        powers = {key: exp(score - highest) for key, score in scores.items()}
        shares = {key: power / fsum(powers.values()) for key, power in powers.items()}
        weights += [shares.get(key, 0.0) for key in range(len(keys))]
        joined += [fsum(share * values[key][c] for key, share in shares.items()) for c in own]
    return weights, joined
