"""Any model config as a name: a preset, then the fields in which it differs, as `poems~layers=8~width=256`.

Such a name stands in links, and wherever an untrained preset can be looked at.
"""

from dataclasses import fields, replace

from minigpt.config import ModelConfig, override
from minigpt.presets import Preset, preset
from minigpt.sentences import Refusal

SEPARATOR = "~"
_WORDS = {
    "ffn_width": "FFN width",
    "vocab_size": "vocabulary",
    "context_length": "context",
    "tied_head": "tied LM head",
}


def shape_name(preset_name: str, config: ModelConfig) -> str:
    """The name of the untrained model of `config`, told by what differs from the preset.

    >>> shape_name("poems", replace(preset("poems").model, layers=8, tied_head=False))
    'poems~layers=8~tied_head=false'
    """
    base = preset(preset_name).model
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    differing = [f"{name}={_text(value)}" for name, value in values.items() if value != getattr(base, name)]
    return SEPARATOR.join([preset_name, *differing])


def shape_preset(name: str) -> Preset:
    """The preset with the fields that a shape's name gives; a preset's own name gives the preset.

    Raises ValueError for an unknown preset or field, a value that its field refuses, and a field twice.
    """
    preset_name, *assignments = name.split(SEPARATOR)
    chosen, changes = preset(preset_name), {}
    for text in assignments:
        field, found, value = text.partition("=")
        if not found or field in changes:
            raise Refusal("a shape is named PRESET~FIELD=VALUE~…, each field once, got {name!r}", name=name)
        changes[field] = value
    return replace(chosen, model=override(chosen.model, changes))


def changed_words(preset_name: str, values: dict) -> str:
    """What differs from the preset in words, "" for the preset itself; `values` are fields, which may not be valid.

    >>> changed_words("mg-1", to_dict(replace(preset("mg-1").model, width=24, ffn_width=96)))
    'mg-1, changed: width 24, FFN width 96'
    """
    base = preset(preset_name).model
    changes = [
        f"{_WORDS.get(name, name.replace('_', ' '))} {_text(value)}"
        for name, value in values.items()
        if value != getattr(base, name)
    ]
    return f"{preset_name}, changed: {', '.join(changes)}" if changes else ""


def _text(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
