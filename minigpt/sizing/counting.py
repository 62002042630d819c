"""How many parameters? Several right answers for one model, each with what it counts.

Every count comes out of a model without numbers (meta device), the tensors of which are summed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch

from minigpt.config import ModelConfig
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import ParameterRow, parameter_rows, shape_only

CONVENTIONS = ("stored", "no_final_norm", "attention_bias", "head", "no_positions", "no_tables")


@dataclass(frozen=True)
class Count:
    """One way of counting: its name in CONVENTIONS, its number, and how far it is from the stored tensors."""

    name: str
    count: int
    difference: int


@dataclass(frozen=True)
class BlockCount:
    """One block: all its numbers, those of its matrices and norms, and those of its biases."""

    total: int
    matrices_and_norms: int
    attention_biases: int
    ffn_biases: int


def counts(config: ModelConfig) -> list[Count]:
    """Every convention of CONVENTIONS for one config.

    `stored` is each stored tensor once, so a tied head adds nothing; `no_final_norm` leaves the last
    LayerNorm out; `attention_bias` has biases on Q, K, V and O if the config has none, and none if it
    has; `head` is tied if the config is untied, and the other way round; `no_positions` leaves the
    position table out, `no_tables` both tables, and a separate LM matrix too. Raises ValueError for a
    model beyond the limits; what it is compared with may lie beyond them.

    GPT-2 Small: 124,439,808; 124,438,272; 124,402,944; 163,037,184; 123,653,376; 85,056,000.
    """
    rows = parameter_rows(shape_only(config))
    stored = _sum(rows)
    found = {
        "stored": stored,
        "no_final_norm": _sum(row for row in rows if not row.name.startswith("final_norm.")),
        "attention_bias": _sum(_rows(replace(config, attention_bias=not config.attention_bias))),
        "head": _sum(_rows(replace(config, tied_head=not config.tied_head))),
        "no_positions": _sum(row for row in rows if row.component != "position_table"),
        "no_tables": _sum(row for row in rows if row.name not in ("token_embedding", "position_embedding", "head")),
    }
    return [Count(name, found[name], found[name] - stored) for name in CONVENTIONS]


def block_count(config: ModelConfig) -> BlockCount:
    """The numbers of one block; all blocks are alike.

    GPT-2 Small: 7,087,872, of which 7,080,960 in matrices and norms, 3,072 and 3,840 in biases.
    """
    rows = [row for row in _rows(config) if row.block == 0]
    attention = _sum(row for row in rows if row.component == "attention" and row.name.endswith("bias"))
    ffn = _sum(row for row in rows if row.name.endswith((".b1", ".b2")))
    total = _sum(rows)
    return BlockCount(total, total - attention - ffn, attention, ffn)


def one_more_id(config: ModelConfig) -> int:
    """What one more vocabulary entry adds: a row of the token table, and of the LM head what is its own.

    MG-1: 16 + 16 + 1 = 33.
    """
    return _sum(_rows(replace(config, vocab_size=config.vocab_size + 1))) - _sum(_rows(config))


def _rows(config: ModelConfig) -> list[ParameterRow]:
    with torch.device("meta"):
        return parameter_rows(MiniGPT(config))


def _sum(rows: Iterable[ParameterRow]) -> int:
    return sum(row.count for row in rows)
