"""The presets with their sizes: what `python -m minigpt models` prints."""

from minigpt.config import to_dict
from minigpt.model.parameters import COMPONENTS, component_counts, shape_only
from minigpt.presets import PRESETS, Preset

HEADINGS = ("preset", "parameters", "token table", "positions", "attention", "FFN", "norms", "LM head")


def preset_objects() -> list[dict]:
    """JSON-ready, in the order of the presets: name, about, parameters, components (which add up), settings.

    A tied head is 0 in `components`: its matrix is the token table, which counts once. `config` is the
    model's; a run takes `vocab_size` from its tokenizer.
    """
    return [_object(preset) for preset in PRESETS.values()]


def preset_table(objects: list[dict]) -> str:
    """The same as a table, one preset a line, and below it what each is."""
    rows = [HEADINGS] + [
        (each["name"], *(f"{count:,}" for count in (each["parameters"], *each["components"].values())))
        for each in objects
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([name.ljust(widths[0]), *map(str.rjust, counts, widths[1:])]) for name, *counts in rows]
    about = [f"{each['name'].ljust(widths[0])}  {each['about']}" for each in objects]
    return "\n".join([*lines, "", "A tied LM head is the token table and counts once.", "", *about])


def _object(preset: Preset) -> dict:
    counts = component_counts(shape_only(preset.model))
    return {
        "name": preset.name,
        "about": preset.about,
        "parameters": counts["total"],
        "components": {name: counts[name] for name in COMPONENTS},
        "config": to_dict(preset.model),
        "tokenizer": to_dict(preset.tokenizer),
        "training": to_dict(preset.training),
    }
