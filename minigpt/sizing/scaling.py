"""What twice the depth, width, context or vocabulary costs: parameters, cache, and products a token."""

from dataclasses import dataclass, replace

from minigpt.config import ModelConfig
from minigpt.model.cache import cache_bytes
from minigpt.model.parameters import parameter_count

DOUBLINGS = ("as_it_is", "layers", "width", "context_length", "vocab_size")


@dataclass(frozen=True)
class Doubled:
    """A config with one size doubled: its parameters, the cache of its full context, and `products` at its end."""

    name: str  # one of DOUBLINGS
    config: ModelConfig
    parameters: int
    cache_context: int  # bytes
    products: int


def doublings(config: ModelConfig) -> list[Doubled]:
    """The config, then each doubling alone. Twice the width is twice the FFN and the same number of wider heads.

    Nothing is built, so a doubled config may lie beyond the limits. GPT-2 Small: 124,439,808 parameters;
    209,494,272 with 24 blocks, 418,748,928 with width 1,536.
    """
    changes = {
        "as_it_is": {},
        "layers": {"layers": 2 * config.layers},
        "width": {"width": 2 * config.width, "ffn_width": 2 * config.ffn_width},
        "context_length": {"context_length": 2 * config.context_length},
        "vocab_size": {"vocab_size": 2 * config.vocab_size},
    }
    return [_doubled(name, replace(config, **changes[name])) for name in DOUBLINGS]


def products(config: ModelConfig, visible: int) -> int:
    """Multiplications of one token that reads `visible` positions, the others cached.

    Q, K, V and O take 4 C C, scores and mixtures C for each visible position, the FFN 2 C F, the head C V.
    GPT-2 Small at position 1,023: 142,406,400.
    """
    width = config.width
    block = 4 * width * width + 2 * visible * width + 2 * width * config.ffn_width
    return config.layers * block + width * config.vocab_size


def _doubled(name: str, config: ModelConfig) -> Doubled:
    cache = cache_bytes(config, config.context_length)
    return Doubled(name, config, parameter_count(config), cache, products(config, config.context_length))
