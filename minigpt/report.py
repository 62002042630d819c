"""What the command line prints: plain objects for --json, and the same for people to read."""

from minigpt.inspection import check_length
from minigpt.tokenizers.contract import Tokenizer
from minigpt.training.loop import Evaluation

SHOWN = 6  # values of a stage in the text form; --json has all


def token_object(tokenizer: Tokenizer, text: str) -> dict:
    """ids, and for each its piece label and bytes in hex; the merges that touched the text."""
    check_length(text)
    ids = tokenizer.encode(text)
    return {
        "text": text,
        "ids": ids,
        "pieces": [tokenizer.piece_label(i) for i in ids],
        "bytes": [tokenizer.piece_bytes(i).hex(" ") for i in ids],
        "merges": [
            {"rank": step.rank, "left": step.left, "right": step.right, "id": step.id, "ids": list(step.ids)}
            for step in tokenizer.encode_steps(text)
        ],
        "vocab_size": tokenizer.vocab_size,
        "fingerprint": tokenizer.fingerprint,
    }


def token_text(result: dict) -> str:
    """The tokens as a table."""
    rows = zip(result["ids"], result["pieces"], result["bytes"], strict=True)
    lines = [f"{id:>6}  {piece:<16} {bytes}" for id, piece, bytes in rows]
    foot = f"{len(lines)} tokens by {len(result['merges'])} merges, tokenizer {result['fingerprint']}"
    return "\n".join([*lines, foot])


def inspection_text(result: dict, tokenizer: Tokenizer) -> str:
    """An inspection as indented lines: the record, each stage's first values, heads, prediction."""
    label, position = tokenizer.piece_label, result["position"]
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


def _first(values: list) -> str:
    while values and isinstance(values[0], list):
        values = values[0]
    shown = " ".join(f"{value:.6f}" if isinstance(value, float) else str(value) for value in values[:SHOWN])
    return shown + (" ..." if len(values) > SHOWN else "")
