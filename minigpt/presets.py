"""Models by name: presets, and shapes, which are a preset with the fields in which a model differs from it.

A preset is a known-good combination of tokenizer, model and training settings of the source texts. A shape is written
`poems~layers=8~width=256`; such a name is in links, and can be used wherever an untrained preset can.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig, override
from minigpt.sentences import Refusal, say
from minigpt.validation import check_choice

SEPARATOR = "~"


@dataclass(frozen=True)
class Preset:
    """A known-good combination: tokenizer, model and training settings, what it is, and what to try with it."""

    name: str
    about: str
    to_try: str
    tokenizer: TokenizerConfig
    model: ModelConfig
    training: TrainConfig


_CHAPTER_7 = Preset(
    name="chapter-7",
    about=say("Four blocks of width 128 with GELU, biases and dropout 0.1."),
    to_try=say("A run takes its vocabulary and context from its corpus. Try a tied LM head."),
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
            about=say("One block, two heads of 8: the small model that every page shows at first."),
            to_try=say("Try a vocabulary of 292: what does one more token cost?"),
            tokenizer=TokenizerConfig(merges=32),
            model=ModelConfig(vocab_size=291, context_length=64, width=16, heads=2, layers=1, ffn_width=64),
            training=TrainConfig(),
        ),
        _CHAPTER_7,
        Preset(
            name="poems",
            about=say(
                "One id per character, four blocks of width 128, head tied to the token table; for short Chinese lines."
            ),
            to_try=say(
                "Try 8 blocks of width 256 with FFN width 1024; untie the LM head; remove the residual connections and "
                "train both for 300 steps."
            ),
            tokenizer=TokenizerConfig(kind="chars"),
            model=replace(
                _CHAPTER_7.model, vocab_size=6289, tied_head=True
            ),  # a run takes the vocabulary of its corpus
            training=replace(_CHAPTER_7.training, batch_size=32),
        ),
        Preset(
            name="numpy-demo",
            about=say(
                "The byte model of the third text: 256 ids; a run has 259, because BOS, EOS and PAD have their own ids."
            ),
            to_try=say("Try GELU instead of ReLU, and train both for 500 steps."),
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
            about=say("The shape of GPT-2 Small, 124,439,808 parameters; untrained, its weights are random."),
            to_try=say("Try 24 blocks, then 12 of width 1536 with FFN width 6144; remove the biases on Q, K, V, O."),
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


def configured(chosen: Preset, assignments: dict[str, str]) -> Preset:
    """A copy of a preset with training, model and tokenizer fields set from text, each name where it belongs.

    Raises ValueError for an unknown name or value, and for `vocab_size`, which the tokenizer decides.
    """
    if "vocab_size" in assignments:
        raise Refusal("vocab_size cannot be set: it is the vocabulary that the tokenizer learns; set merges instead")
    for part in ("training", "model", "tokenizer"):
        config = getattr(chosen, part)
        own = {field.name for field in fields(config)} & set(assignments)
        chosen = replace(chosen, **{part: override(config, {name: assignments[name] for name in own})})
        assignments = {name: text for name, text in assignments.items() if name not in own}
    override(chosen.training, assignments)  # refuses what is left by name
    return chosen


def shape_name(preset_name: str, config: ModelConfig) -> str:
    """The name of the untrained model of `config`: the preset and the fields that differ from it.

    >>> shape_name("poems", replace(preset("poems").model, layers=8, tied_head=False))
    'poems~layers=8~tied_head=false'
    """
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    differing = [f"{name}={_text(value)}" for name, value in _differing(preset_name, values).items()]
    return SEPARATOR.join([preset_name, *differing])


def shape_preset(name: str) -> Preset:
    """The preset with the fields that a shape's name gives; a preset's own name gives the preset.

    Raises ValueError for an unknown preset or field, a value that its field refuses, and a field given twice.
    """
    preset_name, *assignments = name.split(SEPARATOR)
    chosen = preset(preset_name)
    changes: dict[str, str] = {}
    for text in assignments:
        field, found, value = text.partition("=")
        if not found or field in changes:
            raise Refusal("a shape is named PRESET~FIELD=VALUE~…, each field once, got {name!r}", name=name)
        changes[field] = value
    return replace(chosen, model=override(chosen.model, changes))


def changed_words(preset_name: str, values: Mapping[str, Any]) -> str:
    """How a shape differs from its preset, "" for the preset itself; `values` are fields, which may not be valid.

    Fields have their names in the config, as in links and on the command line.

    >>> changed_words("mg-1", to_dict(replace(preset("mg-1").model, width=24, ffn_width=96)))
    'mg-1, changed: width = 24, ffn_width = 96'
    """
    changes = ", ".join(f"{name} = {_text(value)}" for name, value in _differing(preset_name, values).items())
    return say("{preset}, changed: {changes}", preset=preset_name, changes=changes) if changes else ""


def _differing(preset_name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    base = preset(preset_name).model
    return {name: value for name, value in values.items() if value != getattr(base, name)}


def _text(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
