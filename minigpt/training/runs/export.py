"""Downloads of a run: its metrics as CSV, or all of it as one zip file."""

import csv
import io
import zipfile

from minigpt.training.runs.library import LABEL_FILE
from minigpt.training.runs.run import Run

LEFT_OUT = (LABEL_FILE, ".writer")  # its owner and its writer mean nothing elsewhere


def metrics_csv(run: Run) -> str:
    """One line a step, with every digit; evaluations are in the line of their step, gradient norms by component.

    Columns: step, batch_loss, learning_rate, gradient_norm, scored, train_loss, validation_loss, norm_*.
    """
    rows: dict[int, dict] = {}
    for row in run.metrics()[0]:
        line = rows.setdefault(row["step"], {"step": row["step"]})
        if "train_loss" in row:
            line |= {"train_loss": row["train_loss"], "validation_loss": row["validation_loss"]}
        else:
            line |= {"batch_loss": row["loss"]}
            line |= {name: row[name] for name in ("learning_rate", "gradient_norm", "scored")}
            line |= {f"norm_{component}": norm for component, norm in row.get("group_norms", {}).items()}
    first = ["step", "batch_loss", "learning_rate", "gradient_norm", "scored", "train_loss", "validation_loss"]
    norms = dict.fromkeys(name for line in rows.values() for name in line if name.startswith("norm_"))
    text = io.StringIO()
    writer = csv.DictWriter(text, [*first, *norms], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[step] for step in sorted(rows))
    return text.getvalue()


def run_zip(run: Run) -> bytes:
    """The run folder under its own name, to be put into another library and opened or resumed there."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(run.folder.rglob("*")):
            inner = path.relative_to(run.folder)
            if path.is_file() and inner.name not in LEFT_OUT and not inner.name.startswith("."):
                archive.writestr(f"{run.folder.name}/{inner.as_posix()}", path.read_bytes())
    return buffer.getvalue()
