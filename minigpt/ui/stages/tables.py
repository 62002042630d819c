"""The tables of the stages page: the terms of a sum, all stages with their checks, all parameters."""

import pandas as pd

from minigpt.inspection.derivation import Derivation
from minigpt.inspection.stages import formula, recomputed, shape_text, spec_of
from minigpt.model.parameters import component_counts, parameter_rows
from minigpt.ui.base.text import t, translate
from minigpt.ui.base.view import View
from minigpt.ui.stages.grid import Grid


def terms(view: View, work: Derivation) -> pd.DataFrame:
    """The terms behind a number, each number with every digit; keys get their pieces. One row for a plain copy."""
    if not work.terms:
        return pd.DataFrame({t("by this arithmetic"): [repr(work.value)], t("by the model"): [repr(work.shown)]})
    table = pd.DataFrame([[_exact(x) for x in row] for row in work.terms], columns=list(work.columns))
    if work.columns[0] == "key":
        table.insert(1, t("piece"), [view.labels[int(row[0])] for row in work.terms])
    return table


def numbers(cells: Grid) -> pd.DataFrame:
    """The numbers on screen, in the same rows and columns, with every digit; masked ones say so."""
    rows = [
        [_cell(x, cells.masked is not None and cells.masked[row, column]) for column, x in enumerate(line)]
        for row, line in enumerate(cells.values.tolist())
    ]
    table = pd.DataFrame(rows, columns=cells.columns)
    table.insert(0, cells.row_title or t("row"), cells.rows)
    return table


def record(view: View) -> tuple[pd.DataFrame, str]:
    """Every stage in order with its check at this position, shape, formula and line; and how many agree."""
    checks = [recomputed(view.model, view.trace, stage, view.position) for stage in view.trace.stages]
    table = pd.DataFrame(
        {
            t("step"): number,
            t("block"): "" if stage.block is None else str(stage.block),
            t("stage"): stage.name,
            t("shape"): shape_text(stage),
            t("difference"): f"{check.difference:.2g}",
            t("allowed"): f"{check.tolerance:.2g}",
            t("formula"): formula(stage, view.trace.config),
            t("line"): f"{stage.source.file}:{stage.source.line}",
            t("what"): translate(spec_of(stage).title_in(view.trace.config)),
        }
        for number, (stage, check) in enumerate(zip(view.trace.stages, checks, strict=True), start=1)
    )
    agreeing = sum(check.agrees for check in checks)
    told = t(
        "{agreeing} of {all} stages agree with NumPy at position {position}.",
        agreeing=agreeing,
        all=len(checks),
        position=view.position,
    )
    return table, told


def parameters(view: View) -> tuple[pd.DataFrame, str]:
    """Every stored tensor once; and the sum, by component."""
    rows = [
        (row.name, row.component, "" if row.block is None else str(row.block), str(list(row.shape)), row.count)
        for row in parameter_rows(view.model)
    ]
    counts = component_counts(view.model)
    total = counts.pop("total")
    parts = " + ".join(f"{name} {count:,}" for name, count in counts.items())
    table = pd.DataFrame(rows, columns=[t("tensor"), t("component"), t("block"), t("shape"), t("numbers")])
    return table, t(
        "{parts} = {total} numbers in {tensors} tensors.", parts=parts, total=f"{total:,}", tensors=len(rows)
    )


def _cell(x: float, masked: bool) -> str:
    if x != x:  # no number here: the vector has ended
        return ""
    return t("{number} (masked)", number=repr(x)) if masked else repr(x)


def _exact(x: int | float | str) -> int | str:
    return repr(x) if isinstance(x, float) else x
