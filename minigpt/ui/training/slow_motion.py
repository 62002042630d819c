"""One step in slow motion: its batch, and how far it moved each tensor."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from minigpt.corpus.corpus import Record
from minigpt.training.runs.metrics_tail import MetricsTail
from minigpt.training.runs.run import Run
from minigpt.ui.base.text import plain, t


def details_of(run: Run, tail: MetricsTail) -> dict[str, Any] | None:
    """What the last step did, if it was taken in slow motion."""
    path = run.folder / "details.json"
    details = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return details if details and details["step"] == tail.step else None


def draw(run: Run, details: dict[str, Any]) -> None:
    """The batch of the step, and how far it moved each tensor."""
    st.subheader(t("Step {step} in slow motion", step=details["step"]))
    st.markdown(
        plain(
            t(
                "Loss {loss:.6f} nats on {scored} scored positions; gradient norm {norm:.4f}; learning rate {rate:g}.",
                loss=details["loss"],
                scored=details["scored"],
                norm=details["gradient_norm"],
                rate=details["learning_rate"],
            )
        )
    )
    batch, moved = st.columns(2, gap="large")
    batch.caption(t("The records in this batch, as they were drawn"))
    batch.dataframe(_batch(run, details["records"]), hide_index=True, width="stretch", key="slow_batch", height=248)
    moved.caption(t("The tensors that moved most, and the gradient norm of their component"))
    moved.dataframe(_update_norms(details), hide_index=True, width="stretch", key="slow_moves", height=248)


def _batch(run: Run, rows: list[int]) -> pd.DataFrame:
    if run.info.training.mode == "windows":
        return pd.DataFrame({t("window from position"): rows})
    records = _records(run.folder, run.info.corpus_hash)
    chosen = [records[row] for row in rows]
    return pd.DataFrame({t("record"): [record.id for record in chosen], t("text"): [record.text for record in chosen]})


@st.cache_resource(show_spinner=False, max_entries=4)  # read twice a second, and large corpora take long to read
def _records(folder: Path, corpus_hash: str) -> tuple[Record, ...]:
    return Run(folder).corpus().train


def _update_norms(details: dict[str, Any]) -> pd.DataFrame:
    rows = details["moves"]
    return pd.DataFrame(
        {
            t("tensor"): [row["name"] for row in rows],
            t("moved by"): [row["moved"] for row in rows],
            t("of its length"): [f"{row['share']:.2%}" for row in rows],
            t("gradient"): [details["group_norms"][row["component"]] for row in rows],
        }
    )
