"""What shapes a model and a training run: frozen, validated settings.

Every field that changes the computed function is here, so that two equal configs with equal weights
are the same model. Wrong values raise ValueError in one sentence before any memory is taken.
"""

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar

from minigpt.sentences import Refusal, Sentence, say
from minigpt.validation import check_choice, check_settings, setting

ACTIVATIONS = ("relu", "gelu", "gelu_tanh")
NORM_TITLES = {"layer": say("LayerNorm"), "rms": say("RMSNorm")}
DTYPES = ("float64", "float32")
TOKENIZER_TITLES = {"byte_bpe": say("byte-level BPE"), "chars": say("characters")}
MODE_TITLES = {"records": say("whole records"), "windows": say("windows of the text")}
TOKENIZERS, MODES = tuple(TOKENIZER_TITLES), tuple(MODE_TITLES)
OPTIMIZERS = ("adam", "adamw")
SCHEDULES = ("constant", "cosine")
LARGEST_SEED = 2**63 - 1  # that torch takes
LARGEST_SAMPLE_SEED = 2**32 - 1  # its 32 bits are all that torch uses of a seed on the CPU

Config = TypeVar("Config")


@dataclass(frozen=True)
class ModelConfig:
    """The shape and arithmetic of a decoder-only, Pre-Norm GPT with learned positions.

    Raises ValueError for a value outside its range, and for `width` not divisible by `heads`.

    >>> ModelConfig(vocab_size=291, context_length=64, width=16, heads=2, layers=1, ffn_width=64).head_width
    8
    """

    # V, ids 0 .. V-1
    vocab_size: int = field(metadata=setting(say("Vocabulary V"), least=1))
    # positions that have a learned vector; a longer input is refused
    context_length: int = field(metadata=setting(say("Context length T"), least=1, form="shape"))
    # C, of the residual vectors
    width: int = field(metadata=setting(say("Width C"), least=1, form="shape"))
    # H, must divide width
    heads: int = field(metadata=setting(say("Heads H"), least=1, form="shape"))
    # L
    layers: int = field(metadata=setting(say("Blocks L"), least=1, form="shape"))
    # F, usually 4 * width
    ffn_width: int = field(metadata=setting(say("FFN width F"), least=1))
    # "gelu" is the exact erf form, "gelu_tanh" GPT-2's approximation
    activation: str = field(default="relu", metadata=setting(say("Activation"), choices=ACTIVATIONS))
    # "rms" divides by the root of the mean square: no mean is subtracted, and there is no bias
    norm: str = field(default="layer", metadata=setting(say("Norm"), choices=NORM_TITLES, form="more"))
    # added under the root in every norm
    norm_epsilon: float = field(default=1e-5, metadata=setting(say("Norm epsilon"), above=0))
    # on Q, K, V and the output projection alike
    attention_bias: bool = field(default=False, metadata=setting(say("Biases on Q, K, V, O")))
    # on the LM head
    head_bias: bool = field(default=True, metadata=setting(say("Bias on the LM head")))
    # True: the LM matrix is the token table, transposed
    tied_head: bool = field(default=False, metadata=setting(say("LM head tied to the token table")))
    # False: each branch replaces the vector instead of adding to it; an ablation
    residual: bool = field(default=True, metadata=setting(say("Residual connections")))
    # on embeddings, attention weights and both branch outputs, in training only
    dropout: float = field(default=0.0, metadata=setting(say("Dropout"), least=0, below=1, form="more"))
    # of every parameter and stage
    dtype: str = field(default="float64", metadata=setting(say("Number type"), choices=DTYPES))
    init_seed: int = field(
        default=1729, metadata=setting(say("Seed of the weights"), least=0, most=LARGEST_SEED, form="shape")
    )
    # of every matrix; biases 0, norm scales 1, norm offsets 0
    init_std: float = field(default=0.02, metadata=setting(say("Spread of the first weights"), least=0))

    def __post_init__(self) -> None:
        check_settings(self)
        if self.width % self.heads:
            raise _indivisible(self.width, self.heads)

    @property
    def head_width(self) -> int:
        """D, the width of one attention head."""
        return self.width // self.heads


def _indivisible(width: int, heads: int) -> Refusal:
    below = width // heads * heads
    if not below:
        return Refusal(
            "width must be divisible by heads, got width {width} and {heads} heads; the smallest width that works is "
            "{above}",
            width=width,
            heads=heads,
            above=heads,
        )
    return Refusal(
        "width must be divisible by heads, got width {width} and {heads} heads; the nearest widths that work are "
        "{below} and {above}",
        width=width,
        heads=heads,
        below=below,
        above=below + heads,
    )


@dataclass(frozen=True)
class TrainConfig:
    """How a run updates the parameters. Loss is always nats per scored position.

    A batch is `batch_size` whole training records drawn with replacement, or windows of the context
    length cut from all records laid end to end; an update uses `accumulation` batches, weighted by
    their scored positions. Evaluation runs over both splits at step 0, every `evaluate_every` steps
    and at the last step.
    """

    # updates
    steps: int = field(default=600, metadata=setting(say("Steps"), least=1, form="first"))
    # "windows" for long texts: a record may be longer than the context
    mode: str = field(default="records", metadata=setting(say("Batches of"), choices=MODE_TITLES, form="shape"))
    # records or windows
    batch_size: int = field(default=8, metadata=setting(say("Records in a batch"), least=1, form="more"))
    # batches an update
    accumulation: int = field(default=1, metadata=setting(say("Batches per update"), least=1, form="more"))
    # "adamw" decays matrices only: biases and norms never shrink
    optimizer: str = field(default="adam", metadata=setting(say("Optimizer"), choices=OPTIMIZERS, form="more"))
    learning_rate: float = field(default=0.01, metadata=setting(say("Learning rate"), above=0, form="first"))
    beta1: float = field(default=0.9, metadata=setting(say("Adam: beta 1"), least=0, below=1, form="more"))
    beta2: float = field(default=0.999, metadata=setting(say("Adam: beta 2"), least=0, below=1, form="more"))
    epsilon: float = field(default=1e-8, metadata=setting(say("Adam: epsilon"), above=0))
    # decoupled, of adamw; must be 0 for adam
    weight_decay: float = field(default=0.0, metadata=setting(say("Weight decay"), least=0, form="more"))
    # "cosine" falls to final_learning_rate at the last step
    schedule: str = field(
        default="constant", metadata=setting(say("Learning rate over time"), choices=SCHEDULES, form="more")
    )
    # linear rise from learning_rate / warmup_steps
    warmup_steps: int = field(default=0, metadata=setting(say("Warm-up steps"), least=0, form="more"))
    final_learning_rate: float = field(default=0.0, metadata=setting(say("Final learning rate"), least=0, form="more"))
    # largest global gradient norm; 0 = off
    clip_norm: float = field(
        default=0.0, metadata=setting(say("Clip the gradient norm at (0 = off)"), least=0, form="more")
    )
    # steps
    evaluate_every: int = field(default=50, metadata=setting(say("Steps between evaluations"), least=1, form="more"))
    # records or windows of a split, the same each time; 0 = all
    evaluation_rows: int = field(
        default=0, metadata=setting(say("Records per evaluation (0 = all)"), least=0, form="more")
    )
    # of the generator that chooses them
    evaluation_seed: int = field(
        default=11, metadata=setting(say("Seed of the evaluated records"), least=0, most=LARGEST_SEED)
    )
    # steps between samples, which begin at step 0; 0 = none
    sample_every: int = field(
        default=0, metadata=setting(say("Steps between samples (0 = none)"), least=0, form="more")
    )
    # one a line
    sample_prompts: str = field(default="", metadata=setting(say("Sample prompts, one per line")))
    # drawn at most for each prompt
    sample_tokens: int = field(default=40, metadata=setting(say("Tokens of a sample"), least=1))
    sample_temperature: float = field(default=0.8, metadata=setting(say("Temperature of the samples"), least=0))
    sample_seed: int = field(
        default=31415, metadata=setting(say("Seed of the samples"), least=0, most=LARGEST_SAMPLE_SEED)
    )
    # of the generator that draws the batches
    batch_seed: int = field(
        default=101, metadata=setting(say("Seed of the batches"), least=0, most=LARGEST_SEED, form="more")
    )
    dropout_seed: int = field(
        default=7, metadata=setting(say("Seed of the dropout"), least=0, most=LARGEST_SEED, form="more")
    )

    def __post_init__(self) -> None:
        check_settings(self)
        if self.optimizer == "adam" and self.weight_decay:
            raise Refusal(
                "weight_decay needs optimizer 'adamw', got {weight_decay} with 'adam'", weight_decay=self.weight_decay
            )
        if self.warmup_steps >= self.steps:
            raise Refusal(
                "warmup_steps must be below steps, got {warmup_steps} of {steps}",
                warmup_steps=self.warmup_steps,
                steps=self.steps,
            )


@dataclass(frozen=True)
class TokenizerConfig:
    """Which tokenizer a corpus trains: byte-level BPE with `merges` merges, or one id a character."""

    kind: str = field(default="byte_bpe", metadata=setting(say("Tokenizer"), choices=TOKENIZER_TITLES, form="shape"))
    # of byte_bpe; fewer are learned when the text runs out of pairs
    merges: int = field(default=32, metadata=setting(say("Merges"), least=0, form="shape"))

    def __post_init__(self) -> None:
        check_settings(self)


def to_dict(config: Any) -> dict[str, Any]:
    """A config as plain JSON-ready values."""
    return asdict(config)


def from_dict(kind: type[Config], values: object) -> Config:
    """A config of `kind` from plain values; unknown keys and missing ones are refused by name."""
    if not isinstance(values, dict):
        raise Refusal("{kind} must be an object with its fields, got {values!r:.60}", kind=kind.__name__, values=values)
    known = {known.name for known in fields(kind)}  # type: ignore[arg-type]  # every config is a dataclass
    unknown = sorted(set(values) - known)
    if unknown:
        raise Refusal(
            "{kind} has no field {unknown}; fields: {known}",
            kind=kind.__name__,
            unknown=", ".join(unknown),
            known=", ".join(sorted(known)),
        )
    try:
        return kind(**values)
    except TypeError as error:
        raise Refusal("{kind} is incomplete: {error}", kind=kind.__name__, error=error) from error


def model_faults(values: dict[str, Any]) -> list[Sentence]:
    """A sentence for each value that ModelConfig refuses, or for values that do not go together; empty if none.

    `values` holds every field without a default. A config stops at its first fault; a form shows all.
    """
    alone = dict.fromkeys(("vocab_size", "context_length", "heads", "width", "layers", "ffn_width"), 1)
    faults = []
    for name, value in values.items():
        divisible = {"width": value} if name == "heads" and isinstance(value, int) and value > 0 else {}
        faults += _fault(alone | divisible | {name: value})
    return faults or _fault(values)


def _fault(values: dict[str, Any]) -> list[Sentence]:
    try:
        ModelConfig(**values)
    except Refusal as error:
        return [error.sentence]
    return []


def override(config: Config, assignments: dict[str, str]) -> Config:
    """A copy of `config` with fields set from text such as {"steps": "100"}; the text is read by the field's type."""
    kinds = {known.name: known.type for known in fields(config)}  # type: ignore[arg-type]  # every config is a dataclass
    values = {}
    for name, text in assignments.items():
        if name not in kinds:
            raise Refusal(
                "{config} has no field {name!r}; fields: {known}",
                config=type(config).__name__,
                name=name,
                known=", ".join(kinds),
            )
        values[name] = _read(name, text, kinds[name])
    return replace(config, **values)  # type: ignore[type-var]


def _read(name: str, text: str, kind: Any) -> bool | int | float | str:
    if kind is bool:
        check_choice(name, text.lower(), ("true", "false"))
        return text.lower() == "true"
    try:
        return kind(text)
    except ValueError as error:
        if kind is int:
            raise Refusal("{name} must be a whole number, got {text!r}", name=name, text=text) from error
        raise Refusal("{name} must be a number, got {text!r}", name=name, text=text) from error
