"""Samples over time, from noise to pattern: those that a run draws while it trains, and any others on request."""

from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import generate, prompt_ids
from minigpt.inspection.sources import run_model
from minigpt.limits import limit
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.labels import visible_label
from minigpt.training.runs.library import run_folder
from minigpt.training.runs.metrics_tail import MetricsTail
from minigpt.training.runs.resume import checkpoint_path
from minigpt.training.runs.run import Run
from minigpt.training.runs.run_writer import is_power_of_two
from minigpt.training.samples import prompts_of
from minigpt.ui.base.text import plain, t, tn
from minigpt.ui.components.table import Column, table

ROWS = 12  # steps of the live table, spread over those so far
ROW_PIXELS = 31  # of a table, as is its head
PROMPT = "The key is"
TOKENS = 32
TEMPERATURES = {"greedy": 0.0, "warm": 0.8}


def live(run: Run, data: MetricsTail) -> None:
    """What the run itself has drawn: steps down, prompts across; it has the rows of the whole run from the start."""
    config = run.info.training
    if not config.sample_every:
        return
    prompts = prompts_of(config)
    whole = [step for step in sorted(data.samples) if len(data.samples[step]) == len(prompts)]  # written to the end
    steps = _thinned(whole, ROWS, data.best.step if data.best else None)
    tokenizer = _tokenizer(run.folder, run.info.tokenizer)
    rows = min(ROWS, 1 + -(-config.steps // config.sample_every))
    empty = [""] * (rows - len(steps))  # so that nothing below moves while the table fills
    columns = [Column(t("step"), [f"{step:,}" for step in steps] + empty, "number")]
    for place, prompt in enumerate(prompts):
        texts = [visible_label(tokenizer.decode_bytes(data.samples[step][place].ids)) for step in steps]
        columns.append(Column(visible_label(prompt.encode()) or t("(from nothing)"), texts + empty, "words"))
    with st.container(key="live_samples"):
        st.caption(plain(_about_samples(data, whole, steps)))
        table(columns, key="live_table", label=t("Samples of the run"), height=ROW_PIXELS * (1 + rows))


def _about_samples(data: MetricsTail, whole: list[int], shown: list[int]) -> str:
    said = [t("How the model continues the prompt, with the same seed each time.")]
    if 0 in shown:
        said.append(t("Step 0 is untrained, so it is noise; ‹A4› is a byte that is not text."))
    if left := len(whole) - len(shown):
        said.append(
            tn(
                "{count} step is left out; the first, the best and the last are here.",
                "{count:,} of {total:,} steps are left out; the first, the best and the last are here.",
                count=left,
                total=len(whole),
            )
        )
    if data.best and data.best.step in shown:
        said.append(t("The best step is {step:,}.", step=data.best.step))
    return " ".join(said)


@st.cache_resource(show_spinner=False, max_entries=16)  # read twice a second
def _tokenizer(folder: Path, fingerprint: str) -> Tokenizer:
    return Run(folder).tokenizer()


def draw(run_id: str) -> None:
    """The controls and the table. Each text is generated once, and kept for all readers of the run."""
    run = Run(run_folder(run_id))
    text, way, which = st.columns([2, 1.3, 1.5], vertical_alignment="bottom")
    prompt = text.text_input(t("Prompt"), PROMPT, key="sample_prompt", persist_state="session")
    names = {"greedy": t("greedy"), "warm": t("temperature 0.8")}
    temperature = TEMPERATURES[_one(way, t("Draw"), names, "sample_way")]
    names = {"evaluations": t("at evaluations"), "doubling": t("at 0, 1, 2, 4, …")}
    steps = _steps(run, _one(which, t("Steps"), names, "sample_steps"))
    rows = []
    for step in steps:
        stamp = checkpoint_path(run.folder, step).stat().st_mtime_ns
        rows.append((step, *_sample(run_id, step, stamp, prompt, temperature)))
    columns = [t("step"), t("text after the prompt"), t("tokens"), t("ended")]
    widths = {
        name: st.column_config.Column(width=width) for name, width in zip(columns, (60, 700, 60, 160), strict=True)
    }
    rows_by_name = {name: list(values) for name, values in zip(columns, zip(*rows, strict=True), strict=False)}
    frame = pd.DataFrame(rows_by_name, columns=pd.Index(columns))
    st.dataframe(frame, hide_index=True, width="stretch", column_config=widths, key="samples_table")
    said = [t("At most {tokens} tokens each, with the same seed at every step.", tokens=TOKENS)]
    if left := len(_all_steps(run, st.session_state["sample_steps"])) - len(steps):
        said.append(
            tn("{count} saved step in between is left out.", "{count} saved steps in between are left out.", count=left)
        )
    st.caption(plain(" ".join(said)))


def _one(column: DeltaGenerator, label: str, names: dict[str, str], key: str) -> str:
    """A choice that always has a value."""
    options = list(names)
    return column.radio(
        label, options, key=key, format_func=names.__getitem__, horizontal=True, persist_state="session"
    )


def _all_steps(run: Run, which: str) -> list[int]:
    if which == "doubling":
        return [step for step in run.steps if step == 0 or is_power_of_two(step)]
    return [row.step for row in run.evaluations() if row.step in run.steps]


def _steps(run: Run, which: str) -> list[int]:
    """The steps to sample, thinned evenly to the limit."""
    best = [row.step for row in run.evaluations() if row.best][-1:]
    return _thinned(_all_steps(run, which), limit("MINIGPT_SAMPLES"), *best)


def _thinned(steps: list[int], most: int, keep: int | None = None) -> list[int]:
    """At most `most` of the steps, evenly; the first, the last and `keep`, if it is one of them, always there."""
    if len(steps) <= most:
        return steps
    chosen = [steps[place * (len(steps) - 1) // (most - 1)] for place in range(most)]
    if keep in steps and keep not in chosen:
        nearest = min(range(1, most - 1), key=lambda place: abs(chosen[place] - keep))
        chosen[nearest] = keep
    return chosen


@st.cache_data(show_spinner=False, max_entries=2000)
def _sample(run_id: str, step: int, stamp: int, prompt: str, temperature: float) -> tuple[str, int, str]:
    """Text with visible blanks, how many tokens, and why it ended."""
    model, tokenizer = run_model(run_folder(run_id), step)
    drawn = list(
        generate(model, tokenizer, prompt_ids(tokenizer, prompt), SampleConfig(temperature, max_new_tokens=TOKENS))
    )
    ids = [one.id for one in drawn if one.id != tokenizer.eos]
    why = {"eos": t("with EOS"), "length": t("at the limit"), "context_limit": t("at the end of the context")}
    return visible_label(tokenizer.decode_bytes(ids)), len(drawn), why[drawn[-1].stop or "length"]
