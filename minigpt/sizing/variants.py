"""What a change of the config would cost, in numbers: one size doubled, or the block changed as newer models do.

Of the five newer changes only RMSNorm is built here (`norm="rms"`). The counts follow from the shapes of their papers,
each applied alone to the given config:
RoPE: J. Su et al. (2021), RoFormer. RMSNorm: B. Zhang, R. Sennrich (2019). SwiGLU: N. Shazeer (2020), GLU
Variants Improve Transformer. Grouped-query attention: J. Ainslie et al. (2023). Mixture of experts:
N. Shazeer et al. (2017), as routed in A. Jiang et al. (2024), Mixtral.
"""

from dataclasses import dataclass, replace

from minigpt.config import ModelConfig
from minigpt.model.cache import cache_bytes
from minigpt.model.layers import norm_parameters
from minigpt.model.parameters import parameter_count
from minigpt.model.size_limits import number_bytes
from minigpt.sentences import Refusal
from minigpt.validation import check_int

VARIANTS = ("rope", "rmsnorm", "swiglu", "gqa", "experts")
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
    changes: dict[str, dict[str, int]] = {
        "as_it_is": {},
        "layers": {"layers": 2 * config.layers},
        "width": {"width": 2 * config.width, "ffn_width": 2 * config.ffn_width},
        "context_length": {"context_length": 2 * config.context_length},
        "vocab_size": {"vocab_size": 2 * config.vocab_size},
    }
    return [_doubled(name, replace(config, **changes[name])) for name in DOUBLINGS]  # type: ignore[arg-type]  # sizes


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


@dataclass(frozen=True)
class Variant:
    """One change alone: the parameters it leaves, how many of them one token uses, and its cache bytes a token."""

    name: str  # one of VARIANTS
    parameters: int
    active: int  # differs with experts only
    cache_token: int
    difference: int  # to the parameters of the config


def variants(config: ModelConfig, groups: int, experts: int, chosen: int) -> list[Variant]:
    """Every change of VARIANTS: `groups` of heads share a key and a value; a token is sent to `chosen` of `experts`.

    Raises ValueError for groups that do not divide the heads, and for more chosen experts than there are.

    GPT-2 Small with 4 groups, 8 experts, 2 chosen: -786,432; -19,200; -46,080; -9,446,400; +396,727,296.
    """
    if groups not in divisors(config.heads):
        raise Refusal("groups must divide the {heads} heads, got {groups!r}", heads=config.heads, groups=groups)
    check_int("experts", experts, least=1)
    check_int("chosen", chosen, least=1, most=experts)
    width, blocks, stored = config.width, config.layers, parameter_count(config)
    cache = 2 * blocks * width * number_bytes(config)
    ffn = _ffn(config)
    routed = blocks * width * experts
    changes = {
        "rope": -config.context_length * width,
        "rmsnorm": (2 * blocks + 1) * (width - norm_parameters(config)),  # one vector a norm
        "swiglu": blocks * (3 * width * gated_width(config) - ffn),
        "gqa": -2 * blocks * (width - groups * config.head_width) * (width + config.attention_bias),
        "experts": routed + (experts - 1) * blocks * ffn,
    }
    idle = (experts - chosen) * blocks * ffn
    return [
        Variant(
            name,
            parameters=stored + change,
            active=stored + change - (idle if name == "experts" else 0),
            cache_token=cache * groups // config.heads if name == "gqa" else cache,
            difference=change,
        )
        for name, change in changes.items()
    ]


def divisors(heads: int) -> list[int]:
    """The numbers of groups that share `heads` heads evenly: 1 (one key and value for all) to `heads` (as here).

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    return [groups for groups in range(1, heads + 1) if heads % groups == 0]


def gated_width(config: ModelConfig) -> int:
    """F of a gated FFN: 2/3 of the plain one, rounded down, so that its three matrices cost what two did."""
    return 2 * config.ffn_width // 3


def _ffn(config: ModelConfig) -> int:
    """Parameters of one block's FFN, biases included."""
    return 2 * config.width * config.ffn_width + config.ffn_width + config.width
