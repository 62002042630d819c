"""A comparison as a table for other programs (CSV) and as a page for people (Markdown)."""

import csv
import io

from minigpt.generation.compare import Comparison
from minigpt.tokenizers.labels import visible_label

HEADER = (
    "column temperature top_k top_p seed max_new_tokens at_context_length index id piece bytes raw_probability "
    "probability rank kept raw_entropy entropy dice stop"
).split()


def to_csv(comparison: Comparison) -> str:
    """One row a token. A piece that a spreadsheet would read as a formula gets an apostrophe before it.

    Probabilities are written so that reading them gives the same float.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for number, steps in enumerate(comparison.steps):
        settings = list(comparison.columns[number].to_dict().values())
        for step in steps:
            piece = comparison.tokenizer.piece_label(step.id)
            own = (
                step.index,
                step.id,
                "'" + piece if piece[:1] in "=+-@" else piece,
                comparison.tokenizer.piece_bytes(step.id).hex(" "),
                repr(step.raw_probability),
                repr(step.probability),
                step.rank,
                step.kept,
                repr(step.raw_entropy),
                repr(step.entropy),
                "" if step.dice is None else repr(step.dice),
                step.stop or "",
            )
            writer.writerow(["ABCD"[number], *settings, *own])
    return out.getvalue()


def to_markdown(comparison: Comparison, prompt: str, source: str) -> str:
    """Prompt, and for each column its settings, text and stop; all marks of text are escaped, HTML too."""
    shown = _escaped(visible_label(prompt.encode())) or "(empty)"
    lines = [f"# Samples of {_escaped(source)}", "", f"Prompt: {shown}", ""]
    lines += ["| column | settings | text | tokens | mean raw probability | stop |", "|---|---|---|---|---|---|"]
    for number, steps in enumerate(comparison.steps):
        settings = ", ".join(f"{name} {value}" for name, value in comparison.columns[number].to_dict().items())
        text = _escaped(visible_label(comparison.written(number)))
        mean = sum(step.raw_probability for step in steps) / len(steps) if steps else 0.0
        stop = steps[-1].stop if steps and steps[-1].stop else ""
        lines.append(
            f"| {'ABCD'[number]} | {_escaped(settings)} | {text} | {len(steps)} | {mean:.6f} | {_escaped(stop)} |"
        )
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return "".join(entities.get(c, f"\\{c}" if c in "\\`*_{}[]()#+-.!|$:~" else c) for c in text)
