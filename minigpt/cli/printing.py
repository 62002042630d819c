"""What the command line prints: plain objects for --json, and the same for people to read."""

from collections.abc import Sequence
from pathlib import Path

from minigpt.config import to_dict
from minigpt.generation.stepping import Step
from minigpt.huggingface.imports import FolderFacts
from minigpt.limits import check_length
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import COMPONENTS, component_counts, parameter_count, shape_only
from minigpt.presets import PRESETS, Preset
from minigpt.tokenizers.base import Tokenizer
from minigpt.training.loop import Evaluation

REPLAYED = 4000  # characters of a text whose merges are listed for GPT-2: each of its words has its own merges
CANDIDATES = 5  # of each generated token, in the JSON
HEADINGS = ("preset", "parameters", "token table", "positions", "attention", "FFN", "norms", "LM head")
SHOWN = 6  # values of a stage in the text form; --json has all


def token_object(tokenizer: Tokenizer, text: str) -> dict:
    """ids, and for each its piece label and bytes in hex; the merges that touched the text.

    The merges are null for a text of more than 4,000 characters in GPT-2's tokenizer.
    """
    check_length(text)
    ids = tokenizer.encode(text)
    return {
        "text": text,
        "ids": ids,
        "pieces": [tokenizer.piece_label(i) for i in ids],
        "bytes": [tokenizer.piece_bytes(i).hex(" ") for i in ids],
        "merges": None if tokenizer.kind == "gpt2" and len(text) > REPLAYED else _merges(tokenizer, text),
        "vocab_size": tokenizer.vocab_size,
        "fingerprint": tokenizer.fingerprint,
    }


def token_text(result: dict) -> str:
    """The tokens as a table."""
    rows = zip(result["ids"], result["pieces"], result["bytes"], strict=True)
    lines = [f"{token_id:>6}  {piece:<16} {data}" for token_id, piece, data in rows]
    merges = "" if result["merges"] is None else f" by {len(result['merges'])} merges"
    return "\n".join([*lines, f"{len(lines)} tokens{merges}, tokenizer {result['fingerprint']}"])


def import_object(facts: FolderFacts, name: str) -> dict:
    """What an imported folder holds, and the name under which the app knows it."""
    return {
        "model": name,
        "folder": str(facts.folder),
        "parameters": facts.parameters,
        "weight_bytes": facts.weight_bytes,
        "config": to_dict(facts.config),
        "tokenizer": {"kind": facts.tokenizer.kind, "vocab_size": facts.tokenizer.vocab_size},
    }


def import_text(result: dict) -> str:
    """The same in three lines."""
    config, tokenizer = result["config"], result["tokenizer"]
    sizes = f"{config['layers']} blocks of width {config['width']}, {config['heads']} heads, "
    sizes += f"{config['context_length']:,} positions, {config['vocab_size']:,} ids"
    return (
        f"{result['parameters']:,} parameters in {result['weight_bytes']:,} bytes: {sizes}\n"
        f"tokenizer of kind {tokenizer['kind']} with {tokenizer['vocab_size']:,} ids\n"
        f"in the app: /?model={result['model']}"
    )


def export_object(folder: str, model: MiniGPT) -> dict:
    """The folder that was written, its files with their bytes, and the parameters."""
    files = {path.name: path.stat().st_size for path in sorted(Path(folder).iterdir())}
    return {"folder": str(folder), "parameters": parameter_count(model.config), "files": files}


def export_text(result: dict) -> str:
    """The same in a line, and how to read it."""
    files = ", ".join(result["files"])
    note = f"\n{result['note']}" if result["note"] else ""
    return (
        f"{result['parameters']:,} parameters in {result['folder']}: {files}\n"
        f"transformers reads it: GPT2LMHeadModel.from_pretrained({result['folder']!r}){note}"
    )


def inspection_text(result: dict, tokenizer: Tokenizer) -> str:
    """An inspection as indented lines: the record, each stage's first values, heads, prediction."""
    position = result["position"]

    def label(token_id: int) -> str:  # a model may have more ids than its tokenizer
        return tokenizer.piece_label(token_id) if token_id < tokenizer.vocab_size else f"id {token_id}"

    lines = [f"{len(result['ids'])} positions, mean loss {result['loss']:.9f} nats"]
    lines += [f"position {position}: {label(result['ids'][position])} -> {label(result['targets'][position])}", ""]
    for stage in result["stages"]:
        block = "" if stage["block"] is None else f"block {stage['block']}"
        lines.append(f"{block:<8} {stage['name']:<19} {str(stage['shape']):<16} {_first(stage['values'])}")
    lines.append("")
    for row in result["heads"]:
        weights = " ".join(f"{weight:.6f}" for weight in row["weights"])
        lines.append(f"block {row['block']} head {row['head']} weights {weights}")
    logits = result["logits"]
    lines += ["", f"highest {label(logits['top'])} with logit {logits['max']:.9f}"]
    lines.append(
        f"target {label(logits['target'])} logit {logits['logit']:.9f}, "
        f"probability {logits['probability']:.9f}, loss {logits['loss']:.9f} nats"
    )
    return "\n".join(lines)


def evaluation_object(row: Evaluation) -> dict:
    """An evaluation row; validation_loss is null without validation records."""
    return {"step": row.step, "train_loss": row.train_loss, "validation_loss": row.validation_loss}


def evaluation_text(row: Evaluation) -> str:
    """An evaluation row as a line, the best marked."""
    validation = "not available" if row.validation_loss is None else f"{row.validation_loss:.6f}"
    best = "  best so far" if row.best else ""
    return f"step {row.step:>6}  train {row.train_loss:.6f}  validation {validation}{best}"


def _merges(tokenizer: Tokenizer, text: str) -> list[dict]:
    return [
        {"rank": step.rank, "left": step.left, "right": step.right, "id": step.id, "ids": list(step.ids)}
        for step in tokenizer.encode_steps(text)
    ]


def _first(values: list) -> str:
    while values and isinstance(values[0], list):
        values = values[0]
    shown = " ".join(f"{value:.6f}" if isinstance(value, float) else str(value) for value in values[:SHOWN])
    return shown + (" ..." if len(values) > SHOWN else "")


def generation_object(tokenizer: Tokenizer, steps: Sequence[Step]) -> dict:
    """The new `ids` (a closing EOS included), their `text` and bytes, why it stopped, and every step.

    `text` has U+FFFD where bytes are not valid UTF-8; `bytes` (hex) has them all.
    """
    ids = [step.id for step in steps]
    return {
        "ids": ids,
        "text": tokenizer.decode(ids),
        "stop": steps[-1].stop,
        "bytes": tokenizer.decode_bytes(ids).hex(" "),
        "settings": steps[0].settings.to_dict(),
        "steps": [_step_object(tokenizer, step) for step in steps],
    }


def _step_object(tokenizer: Tokenizer, step: Step) -> dict:
    return {
        "id": step.id,
        "piece": tokenizer.piece_label(step.id),
        "raw_probability": step.raw_probability,
        "probability": step.probability,
        "rank": step.rank,
        "kept": step.kept,
        "entropy": step.entropy,
        "context": len(step.context_ids),
        "candidates": [vars(candidate) for candidate in step.candidates(CANDIDATES)],
        "stop": step.stop,
    }


def generation_text(tokenizer: Tokenizer, prompt: str, steps: Sequence[Step]) -> str:
    """Prompt and text, then every token with its numbers; bytes that are not text are made visible, such as ‹E6›."""
    rows = [f"{'':>4}  {'id':>6}  {'raw':>9}  {'final':>9}  {'rank':>6}  piece"]
    for step in steps:
        numbers = f"{step.raw_probability:9.6f}  {step.probability:9.6f}  {step.rank:>6}"
        rows.append(f"{step.index:>4}  {step.id:>6}  {numbers}  {tokenizer.piece_label(step.id)}")
    written = readable(tokenizer.decode_bytes(step.id for step in steps))
    return "\n".join([prompt + written, "", *rows, f"stopped: {steps[-1].stop}"])


def readable(written: bytes) -> str:
    """The text of `written`: control characters and bytes that are not valid UTF-8 in hex, all else unchanged.

    >>> readable("法 a".encode()[:2] + b" b\x14\n")
    '‹E6›‹B3› b‹14›\n'
    """
    return "".join(_shown(c) for c in written.decode("utf-8", errors="surrogateescape"))


def _shown(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: a byte outside valid UTF-8
        return f"‹{code - 0xDC00:02X}›"
    control = (code < 0x20 and character not in "\n\t") or 0x7F <= code < 0xA0
    return f"‹{code:02X}›" if control else character


def preset_objects() -> list[dict]:
    """JSON-ready, in the order of the presets: name, about, parameters, components (which add up), settings.

    A tied head is 0 in `components`: its matrix is the token table, which counts once. `config` is the
    model's; a run takes `vocab_size` from its tokenizer.
    """
    return [_preset_object(preset) for preset in PRESETS.values()]


def preset_table(objects: list[dict]) -> str:
    """The same as a table, one preset a line, and below it what each one is."""
    rows = [HEADINGS] + [
        (each["name"], *(f"{count:,}" for count in (each["parameters"], *each["components"].values())))
        for each in objects
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([name.ljust(widths[0]), *map(str.rjust, counts, widths[1:])]) for name, *counts in rows]
    about = [f"{each['name'].ljust(widths[0])}  {each['about']}" for each in objects]
    return "\n".join([*lines, "", "A tied LM head is the token table and counts once.", "", *about])


def _preset_object(preset: Preset) -> dict:
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
