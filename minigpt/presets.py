"""Known-good combinations by name: tokenizer, model and training settings of the source texts."""

from dataclasses import dataclass, fields, replace

from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig, override
from minigpt.sentences import Refusal
from minigpt.validation import check_choice


@dataclass(frozen=True)
class Preset:
    """A known-good combination: tokenizer, model and training settings, and why it is here."""

    name: str
    about: str
    tokenizer: TokenizerConfig
    model: ModelConfig
    training: TrainConfig


_CHAPTER_7 = Preset(
    name="chapter-7",
    about="four blocks of width 128 with GELU, biases and dropout 0.1",
    tokenizer=TokenizerConfig(merges=32),
    model=ModelConfig(
        vocab_size=291,
        context_length=128,
        width=128,
        heads=4,
        layers=4,
        ffn_width=512,
        activation="gelu",
        attention_bias=True,
        head_bias=False,
        dropout=0.1,
        dtype="float32",
    ),
    training=TrainConfig(
        steps=300,
        batch_size=16,
        optimizer="adamw",
        learning_rate=1e-3,
        weight_decay=0.1,
        schedule="cosine",
        warmup_steps=20,
        final_learning_rate=1e-4,
        clip_norm=1.0,
        evaluate_every=25,
    ),
)

PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            name="mg-1",
            about="one block, two heads of 8: the small model that every page shows at first",
            tokenizer=TokenizerConfig(merges=32),
            model=ModelConfig(vocab_size=291, context_length=64, width=16, heads=2, layers=1, ffn_width=64),
            training=TrainConfig(),
        ),
        _CHAPTER_7,
        Preset(
            name="poems",
            about="one id a character, four blocks of width 128, head tied to the table; for short Chinese lines",
            tokenizer=TokenizerConfig(kind="chars"),
            model=replace(_CHAPTER_7.model, vocab_size=6289, tied_head=True),  # a run takes its corpus' vocabulary
            training=replace(_CHAPTER_7.training, batch_size=32),
        ),
        Preset(
            name="numpy-demo",
            about="the byte model of the third text: 256 ids; a run has 259, as BOS, EOS and PAD are ids of their own",
            tokenizer=TokenizerConfig(merges=0),
            model=ModelConfig(
                vocab_size=256,
                context_length=64,
                width=128,
                heads=4,
                layers=4,
                ffn_width=512,
                head_bias=False,
                tied_head=True,
                dtype="float32",
            ),
            training=TrainConfig(
                steps=1000,
                mode="windows",
                batch_size=8,
                optimizer="adamw",
                learning_rate=1e-3,
                weight_decay=0.1,
                schedule="cosine",
                warmup_steps=50,
                final_learning_rate=1e-4,
                clip_norm=1.0,
            ),
        ),
        Preset(
            name="gpt2-small",
            about="the shape of GPT-2 Small, 124,439,808 parameters; untrained, its weights are random",
            tokenizer=TokenizerConfig(merges=32),
            model=ModelConfig(
                vocab_size=50_257,
                context_length=1024,
                width=768,
                heads=12,
                layers=12,
                ffn_width=3072,
                activation="gelu_tanh",
                attention_bias=True,
                head_bias=False,
                tied_head=True,
                dropout=0.1,
                dtype="float32",
            ),
            training=TrainConfig(
                steps=1000,
                optimizer="adamw",
                learning_rate=6e-4,
                weight_decay=0.1,
                schedule="cosine",
                warmup_steps=100,
                final_learning_rate=6e-5,
                clip_norm=1.0,
            ),
        ),
    )
}


def preset(name: str) -> Preset:
    """The preset called `name`; ValueError that lists the known names otherwise."""
    check_choice("preset", name, tuple(PRESETS))
    return PRESETS[name]


def configured(preset: Preset, assignments: dict[str, str]) -> Preset:
    """A copy of `preset` with training, model and tokenizer fields set from text, each name where it belongs.

    Raises ValueError for an unknown name or value, and for `vocab_size`, which the tokenizer decides.
    """
    if "vocab_size" in assignments:
        raise Refusal("vocab_size cannot be set: it is the vocabulary that the tokenizer learns; set merges")
    for part in ("training", "model", "tokenizer"):
        config = getattr(preset, part)
        own = {field.name for field in fields(config)} & set(assignments)
        preset = replace(preset, **{part: override(config, {name: assignments[name] for name in own})})
        assignments = {name: text for name, text in assignments.items() if name not in own}
    override(preset.training, assignments)  # refuses what is left by name
    return preset
