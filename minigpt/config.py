"""What shapes a model and a training run: frozen, validated settings.

Every field that changes the computed function is here, so that two equal configs with equal weights
are the same model. Wrong values raise ValueError in one sentence before any memory is taken.
"""

from dataclasses import asdict, dataclass, fields, replace

from minigpt.sentences import Refusal
from minigpt.validation import check_choice, check_float, check_int

ACTIVATIONS = ("relu", "gelu", "gelu_tanh")
DTYPES = ("float64", "float32")
TOKENIZERS = ("byte_bpe", "chars")
OPTIMIZERS = ("adam", "adamw")
SCHEDULES = ("constant", "cosine")
MODES = ("records", "windows")
GREATEST_SEED = 2**63 - 1  # that torch takes


@dataclass(frozen=True)
class ModelConfig:
    """The shape and arithmetic of a decoder-only, Pre-Norm GPT with learned positions.

    Raises ValueError for a value outside its range, and for `width` not divisible by `heads`.

    >>> ModelConfig(vocab_size=291, context_length=64, width=16, heads=2, layers=1, ffn_width=64).head_width
    8
    """

    vocab_size: int  # V, ids 0 .. V-1
    context_length: int  # positions that have a learned vector; a longer input is refused
    width: int  # C, of the residual vectors
    heads: int  # H, must divide width
    layers: int  # L, blocks
    ffn_width: int  # F, usually 4 * width
    activation: str = "relu"  # "gelu" is the exact erf form, "gelu_tanh" GPT-2's approximation
    norm_epsilon: float = 1e-5  # added to the variance in every LayerNorm
    attention_bias: bool = False  # on Q, K, V and the output projection alike
    head_bias: bool = True  # on the LM head
    tied_head: bool = False  # True: the LM matrix is the token table, transposed
    residual: bool = True  # False: each branch replaces the vector instead of adding to it; an ablation
    dropout: float = 0.0  # on embeddings, attention weights and both branch outputs, in training only
    dtype: str = "float64"  # of every parameter and stage
    init_seed: int = 1729
    init_std: float = 0.02  # of every matrix; biases 0, norm scales 1, norm offsets 0

    def __post_init__(self) -> None:
        for name in ("vocab_size", "context_length", "heads", "width", "layers", "ffn_width"):
            check_int(name, getattr(self, name), least=1)
        if self.width % self.heads:
            raise Refusal(
                "width must be divisible by heads, got width {width} and {heads} heads",
                width=self.width,
                heads=self.heads,
            )
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("dtype", self.dtype, DTYPES)
        for name in ("attention_bias", "head_bias", "tied_head", "residual"):
            check_choice(name, getattr(self, name), (True, False))
        check_float("norm_epsilon", self.norm_epsilon, above=0.0)
        check_float("dropout", self.dropout, least=0.0, below=1.0)
        check_float("init_std", self.init_std, least=0.0)
        check_int("init_seed", self.init_seed, least=0, most=GREATEST_SEED)

    @property
    def head_width(self) -> int:
        """D, the width of one attention head."""
        return self.width // self.heads


@dataclass(frozen=True)
class TrainConfig:
    """How a run updates the parameters. Loss is always nats per scored position.

    A batch is `batch_size` whole training records drawn with replacement, or windows of the context
    length cut from all records laid end to end; an update uses `accumulation` batches, weighted by
    their scored positions. Evaluation runs over both splits at step 0, every `evaluate_every` steps
    and at the last step.
    """

    steps: int = 600  # updates
    mode: str = "records"  # "windows" for long texts: a record may be longer than the context
    batch_size: int = 8  # records or windows
    accumulation: int = 1  # batches an update
    optimizer: str = "adam"  # "adamw" decays matrices only: biases and norms never shrink
    learning_rate: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0  # decoupled, of adamw; must be 0 for adam
    schedule: str = "constant"  # "cosine" falls to final_learning_rate at the last step
    warmup_steps: int = 0  # linear rise from learning_rate / warmup_steps
    final_learning_rate: float = 0.0
    clip_norm: float = 0.0  # greatest global gradient norm; 0 = off
    evaluate_every: int = 50  # steps
    evaluation_rows: int = 0  # records or windows of a split, the same each time; 0 = all
    evaluation_seed: int = 11  # of the generator that chooses them
    sample_every: int = 0  # steps between samples, which begin at step 0; 0 = none
    sample_prompts: str = ""  # one a line
    sample_tokens: int = 40  # drawn at most for each
    sample_temperature: float = 0.8
    sample_seed: int = 31415
    batch_seed: int = 101  # of the generator that draws the batches
    dropout_seed: int = 7

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "accumulation", "evaluate_every"):
            check_int(name, getattr(self, name), least=1)
        check_int("sample_tokens", self.sample_tokens, least=1)
        check_float("sample_temperature", self.sample_temperature, least=0.0)
        check_int("sample_seed", self.sample_seed, least=0, most=2**32 - 1)
        if not isinstance(self.sample_prompts, str):
            raise Refusal(
                "sample_prompts must be text with one prompt a line, got {sample_prompts!r:.60}",
                sample_prompts=self.sample_prompts,
            )
        for name in ("sample_every", "warmup_steps", "evaluation_rows"):
            check_int(name, getattr(self, name), least=0)
        for name in ("evaluation_seed", "batch_seed", "dropout_seed"):
            check_int(name, getattr(self, name), least=0, most=GREATEST_SEED)
        check_choice("mode", self.mode, MODES)
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_choice("schedule", self.schedule, SCHEDULES)
        check_float("learning_rate", self.learning_rate, above=0.0)
        check_float("epsilon", self.epsilon, above=0.0)
        for name in ("beta1", "beta2"):
            check_float(name, getattr(self, name), least=0.0, below=1.0)
        for name in ("weight_decay", "final_learning_rate", "clip_norm"):
            check_float(name, getattr(self, name), least=0.0)
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

    kind: str = "byte_bpe"
    merges: int = 32  # of byte_bpe; fewer are learned when the text runs out of pairs

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, TOKENIZERS)
        check_int("merges", self.merges, least=0)


def to_dict(config) -> dict:
    """A config as plain JSON-ready values."""
    return asdict(config)


def from_dict(kind: type, values: dict):
    """A config of `kind` from plain values; unknown keys and missing ones are refused by name."""
    if not isinstance(values, dict):
        raise Refusal("{kind} must be an object with its fields, got {values!r:.60}", kind=kind.__name__, values=values)
    known = {field.name for field in fields(kind)}
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


def model_faults(values: dict) -> list[str]:
    """A sentence for each value that ModelConfig refuses, or for values that do not go together; empty if none.

    `values` holds every field without a default. A config stops at its first fault; a form shows all.
    """
    alone = dict.fromkeys(("vocab_size", "context_length", "heads", "width", "layers", "ffn_width"), 1)
    tries = [alone | {name: value} | ({"width": value} if name == "heads" else {}) for name, value in values.items()]
    faults = [fault for fields in tries if (fault := _fault(fields))]
    return faults or [fault for fault in (_fault(values),) if fault]


def _fault(values: dict) -> str:
    try:
        ModelConfig(**values)
    except ValueError as error:
        return str(error)
    return ""


def override(config, assignments: dict[str, str]):
    """A copy of `config` with fields set from text such as {"steps": "100"}; the text is read by the field's type."""
    kinds = {field.name: field.type for field in fields(config)}
    values = {}
    for name, text in assignments.items():
        check_choice(f"{type(config).__name__} field", name, tuple(kinds))
        values[name] = _read(name, text, kinds[name])
    return replace(config, **values)


def _read(name: str, text: str, kind: type):
    if kind is bool:
        check_choice(name, text.lower(), ("true", "false"))
        return text.lower() == "true"
    try:
        return kind(text)
    except ValueError as error:
        raise Refusal("{name} must be {kind}, got {text!r}", name=name, kind=kind.__name__, text=text) from error
