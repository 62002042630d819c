"""Where the parameters are: one row a tensor, and totals by component. A tied matrix counts once."""

from dataclasses import dataclass

import torch

from minigpt.config import ModelConfig
from minigpt.limits import limit
from minigpt.model.gpt import MiniGPT
from minigpt.model.layers import norm_parameters
from minigpt.sentences import Refusal

COMPONENTS = ("token_table", "position_table", "attention", "ffn", "norms", "lm_head")


@dataclass(frozen=True)
class ParameterRow:
    """One stored tensor: its name in the model and in checkpoints, component, block (None outside) and shape."""

    name: str
    component: str
    block: int | None
    shape: tuple[int, ...]
    count: int


def parameter_rows(model: MiniGPT) -> list[ParameterRow]:
    """Every stored tensor once, in order; a tied head has no row of its own."""
    return [
        ParameterRow(name, _component(name), _block(name), tuple(tensor.shape), tensor.numel())
        for name, tensor in model.named_parameters()
    ]


def component_counts(model: MiniGPT) -> dict[str, int]:
    """Parameters by component (0 where a tied head adds none), and their `total`.

    MG-1: 4,656 + 1,024 + 1,024 + 2,128 + 96 + 4,947 = 13,875.
    """
    counts = dict.fromkeys(COMPONENTS, 0)
    for row in parameter_rows(model):
        counts[row.component] += row.count
    return counts | {"total": sum(counts.values())}


def parameter_count(config: ModelConfig) -> int:
    """How many parameters a model of `config` has, from the sizes alone: nothing is built.

    Tables V C + T C, a block 4 C C (+ 4 C) + 2 C F + F + C and two norms, a last norm, head C V (0 if tied) (+ V).
    """
    width, hidden, norm = config.width, config.ffn_width, norm_parameters(config)
    block = 4 * width * (width + config.attention_bias) + 2 * width * hidden + hidden + width + 2 * norm
    head = config.vocab_size * (width * (not config.tied_head) + config.head_bias)
    return (config.vocab_size + config.context_length) * width + config.layers * block + norm + head


def shape_only(config: ModelConfig) -> MiniGPT:
    """The model without memory for its numbers (meta device): for counting and for checking shapes.

    Raises ValueError beyond the limit of parameters or of blocks, before anything is allocated.
    """
    check_parameters(config)
    with torch.device("meta"):
        return MiniGPT(config)


def check_parameters(config: ModelConfig) -> None:
    """Raises ValueError beyond the limit of parameters or of blocks; nothing is built."""
    count, most = parameter_count(config), limit("MINIGPT_MODEL_PARAMETERS")
    if count > most:
        raise Refusal("this model has {count:,} parameters, at most {most:,} are allowed here", count=count, most=most)
    blocks = limit("MINIGPT_MODEL_LAYERS")
    if config.layers > blocks:
        raise Refusal(
            "this model has {layers:,} blocks, at most {blocks:,} are allowed here", layers=config.layers, blocks=blocks
        )


def _component(name: str) -> str:
    parts = name.split(".")
    by_part = {"token_embedding": "token_table", "position_embedding": "position_table", "attention": "attention"}
    by_part |= {"ffn": "ffn", "norm1": "norms", "norm2": "norms", "final_norm": "norms"}
    by_part |= {"head": "lm_head", "head_bias": "lm_head"}
    return by_part[parts[2] if parts[0] == "blocks" else parts[0]]


def _block(name: str) -> int | None:
    parts = name.split(".")
    return int(parts[1]) if parts[0] == "blocks" else None
