"""Any model config as a name: a preset, then the fields in which it differs, as `poems~layers=8~width=256`.

Such a name stands in links, and wherever an untrained preset can be looked at.
"""

from dataclasses import fields, replace

from minigpt.config import ModelConfig, override
from minigpt.presets import Preset, preset

SEPARATOR = "~"


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
            raise ValueError(f"a shape is named PRESET~FIELD=VALUE~…, each field once, got {name!r}")
        changes[field] = value
    return replace(chosen, model=override(chosen.model, changes))


def _text(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
