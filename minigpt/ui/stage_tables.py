"""The tables of the stages page: the terms of a sum, all stages with their checks, all parameters."""

import pandas as pd

from minigpt.model.arithmetic import recompute
from minigpt.model.parameters import component_counts, parameter_rows
from minigpt.model.worked import Worked
from minigpt.ui.stage_words import shape_words, stage_title
from minigpt.ui.text import t
from minigpt.ui.view import View


def terms(view: View, work: Worked) -> pd.DataFrame:
    """The terms behind a number, each number with every digit; keys get their pieces. One row for a plain copy."""
    if not work.terms:
        return pd.DataFrame({t("by this arithmetic"): [repr(work.value)], t("by the model"): [repr(work.shown)]})
    table = pd.DataFrame([[_exact(x) for x in row] for row in work.terms], columns=list(work.columns))
    if work.columns[0] == "key":
        table.insert(1, t("piece"), [view.labels[row[0]] for row in work.terms])
    return table


def record(view: View) -> pd.DataFrame:
    """Every stage in order: what it is, its shape, its formula, its line, and its check at this position."""
    rows = []
    for number, stage in enumerate(view.trace.stages, start=1):
        check = recompute(view.model, view.trace, stage, view.position)
        rows.append(
            {
                t("step"): number,
                t("block"): "" if stage.block is None else str(stage.block),
                t("stage"): stage.name,
                t("what"): stage_title(view.trace, stage),
                t("shape"): shape_words(view.trace, stage),
                t("formula"): stage.formula,
                t("line"): f"{stage.source.file}:{stage.source.line}",
                t("difference"): f"{check.difference:.2g}",
                t("allowed"): f"{check.tolerance:.2g}",
                t("agrees"): t("yes") if check.agrees else t("NO"),
            }
        )
    return pd.DataFrame(rows)


def parameters(view: View) -> pd.DataFrame:
    """Every stored tensor once, and their sum in the last row."""
    rows = [
        (row.name, row.component, "" if row.block is None else str(row.block), str(list(row.shape)), row.count)
        for row in parameter_rows(view.model)
    ]
    rows.append((t("sum"), "", "", "", component_counts(view.model)["total"]))
    return pd.DataFrame(rows, columns=[t("tensor"), t("component"), t("block"), t("shape"), t("numbers")])


def _exact(x: int | float | str) -> int | str:
    return repr(x) if isinstance(x, float) else x
