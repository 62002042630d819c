"""The live part of the training page: buttons, numbers, curves, and the step in slow motion.

Drawn twice a second at first and in slow motion, every other second later: a long curve hardly moves, and a class
of readers shares the machine with the trainer.
"""

import json
import time
from contextlib import suppress
from functools import partial
from math import log
from pathlib import Path

import pandas as pd
import streamlit as st

from minigpt.corpus.corpus import Record
from minigpt.figures.training import BATCH, SERIES, TRAIN, VALIDATION, Curve, Level, curves_chart
from minigpt.inspection.sources import BUNDLED, BUNDLED_RUN, RUN_PREFIX
from minigpt.training.runs.info import RunInfo
from minigpt.training.runs.library import is_mine, run_folder
from minigpt.training.runs.metrics_tail import Feed
from minigpt.training.runs.resume import checkpoint_steps
from minigpt.training.runs.run import Run
from minigpt.ui.base import browser, messages, workspace
from minigpt.ui.base.text import plain, t
from minigpt.ui.shared import open_run
from minigpt.ui.shared.trainer import State, state
from minigpt.ui.training import controls as training_controls
from minigpt.ui.training import samples as training_samples
from minigpt.ui.training import viewer_count as watching
from minigpt.ui.training import words as training_words

CURVE_PIXELS = 300  # in view at 900 px together with all above it
STEP_CURVE_PIXELS = 230  # so that what one step did begins in view as well
SECOND_CHARTS = ("gradient", "rate")
POLL_SECONDS, CALM_SECONDS = 0.5, 2.0  # between two looks at a run
LIVELY = 12.0  # seconds that a run is watched before the looks become calm
A_READER = 0.15  # seconds for each reader who watches a run, so that a whole class is served; in whole seconds
STRIP_SECONDS = 3.0  # between reruns of the whole page for new steps on the strip's slider
DRAWN = "training_drawn"  # session: when the whole page ran, and how many steps were saved then
WATCHED = "training_watched"  # session: the run and since when it is looked at
FEEDS = "training_feeds"  # session: what this reader has read of each run


def draw(id: str, others: list[str]) -> None:
    """The panel, polled while something happens; once it is over the whole page runs once more."""
    going = state(id).going
    if st.session_state.get(WATCHED, ("",))[0] != id:
        st.session_state[WATCHED] = (id, time.monotonic())
    pause = _pause() if going else None
    st.session_state[DRAWN] = (time.monotonic(), _saved(id))
    st.fragment(_panel, run_every=pause)(id, others, pause)


def example() -> None:
    """Before the first run: the buttons at rest, and the curve of the shipped run where one's own will be."""
    training_controls.draw(None, State("none"), mine=True)
    messages.hint(t("Press Start: your curve takes the place of this one, of the run the project ships."))
    data = feed(BUNDLED)
    chart = curves_chart(
        _losses(data, []), (0, data.step), [Level(t("ln V"), log(Run(BUNDLED_RUN).info.model.vocab_size))]
    )
    st.echarts_chart(
        chart, key="loss_curves", height=CURVE_PIXELS, alt=t("Loss over training steps of the shipped run")
    )


def feed(id: str) -> Feed:
    """What the run has reported, read on from where this reader stopped."""
    folder = BUNDLED_RUN if id == BUNDLED else run_folder(id)
    return st.session_state.setdefault(FEEDS, {}).setdefault(id, Feed(folder)).update()


def _pause() -> float:
    """Seconds between two looks at a run that goes on."""
    watched = time.monotonic() - st.session_state[WATCHED][1]
    lively = watched < LIVELY or training_controls.speed()
    return max(POLL_SECONDS if lively else CALM_SECONDS, round(A_READER * watching.readers()))


def _panel(id: str, others: list[str], pause: float | None) -> None:
    now = state(id)
    mine = now.status == "deleted" or is_mine(id, browser.secret())
    gone = now.status == "deleted"
    training_controls.draw(id, now, mine, None if gone else partial(_open, id))
    if not mine:
        st.caption(t("Another browser made this run: you can watch it, open it on every page and download it."))
    fault = st.session_state.get(training_controls.FAULT)
    if fault:
        messages.problem(fault)
    if now.status in ("failed", "deleted"):
        messages.problem(_failure(id, now))
    if pause != (_pause() if now.going else None) or _strip_is_behind(id):
        st.rerun()
    if now.status == "deleted":
        return
    try:
        _numbers(id, now, others)
    except (OSError, ValueError) as error:  # the folder went away between two looks
        messages.problem(str(error))


def _open(id: str) -> None:
    """Speak and look inside, in the row of the buttons; a folder that goes away meanwhile is told below."""
    with suppress(OSError, ValueError):
        best = feed(id).best
        open_run.draw(id, best.step or None if best else None)  # a run that never improved speaks as it is now


def _strip_is_behind(id: str) -> bool:
    """Whether the strip shows this run and its slider lacks a step saved since; asked every few seconds only."""
    drawn, saved = st.session_state[DRAWN]
    shown = workspace.current().model == f"{RUN_PREFIX}{id}"
    return shown and time.monotonic() - drawn > STRIP_SECONDS and _saved(id) != saved


def _saved(id: str) -> int:
    try:
        return len(checkpoint_steps(run_folder(id)))
    except ValueError:  # a link to no run
        return 0


def _failure(id: str, now: State) -> str:
    if now.status == "deleted":
        return t("There is no run {id} here: its folder was deleted, or the link is wrong.", id=id)
    return t("This run failed: {reason}. What was saved before stays.", reason=now.reason.rstrip("."))


def _numbers(id: str, now: State, others: list[str]) -> None:
    run, data = Run(run_folder(id)), feed(id)
    info, baselines = run.info, run.baselines()
    _readings(data, info, now)
    place = st.container(key="train_curve")  # the chart, drawn when its span is known
    details = _details(run, data)
    if details:
        _slow_motion(run, details)
    span, logarithmic = _view(info.training.steps)
    levels = [Level(t("ln V"), log(info.model.vocab_size))]
    if baselines:
        names = {"unigram": t("unigram"), "bigram": t("bigram"), "trigram": t("trigram")}
        levels += [Level(name, getattr(baselines, field)) for field, name in names.items()]
    best = data.best and (t("best, step {step}", step=data.best.step), data.best.step, data.best.validation_loss)
    height = STEP_CURVE_PIXELS if details else CURVE_PIXELS
    chart = curves_chart(_losses(data, others), span, levels, best, logarithmic, height=height)
    place.echarts_chart(chart, key="loss_curves", height=height, renderer=_renderer(), alt=_alt(data))
    for sentence in training_words.curve_words(data, baselines):
        st.markdown(plain(sentence))
    training_samples.live(run, data)
    _second_chart(data, span)


def _readings(data: Feed, info: RunInfo, now: State) -> None:
    """Where the run stands: a sentence, and its numbers as one table: six tiles take five times as long."""
    rate = data.speed()
    moving = now.going or now.status == "paused"
    shown = {
        t("Step"): f"{data.step:,} / {info.training.steps:,}",
        t("Batch loss"): f"{data.losses[-1]:.4f}" if data.losses else "–",
        t("Best validation loss"): t("{loss:.4f} at {step}", loss=data.best.validation_loss, step=f"{data.best.step:,}")
        if data.best
        else "–",
        t("Tokens a second"): f"{rate[1]:,.0f}" if rate else "–",
        t("Time left"): training_words.time_left(data, info) if moving else "–",
    }
    rows = [shown, ["---"] * len(shown), shown.values()]
    with st.container(key="train_numbers", gap="xxsmall"):
        st.markdown(plain(training_words.status(now, data.step)))
        st.markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))


def _view(steps: int) -> tuple[tuple[int, int], bool]:
    """The steps on show and whether the loss axis is logarithmic; both stay through every update."""
    zoom, scale = st.columns([4, 1.3], vertical_alignment="bottom")
    key = f"train_span_{steps}"
    span = zoom.slider(t("Steps shown"), 0, steps, (0, steps), key=key, persist_state="session")
    logarithmic = scale.toggle(t("Logarithmic"), key="train_log", persist_state="session")
    return (span if span[0] < span[1] else (0, steps)), logarithmic


def _losses(data: Feed, others: list[str]) -> list[Curve]:
    """Validation first: lines and marks hang on the first curve."""
    rows = data.evaluations
    steps = [row.step for row in rows]
    curves = [
        Curve(t("validation"), steps, [row.validation_loss for row in rows], VALIDATION, "points"),
        Curve(t("training records"), steps, [row.train_loss for row in rows], TRAIN, "points"),
        Curve(t("batch"), data.steps, data.losses, BATCH),
    ]
    for other, colour in zip(others, SERIES * (1 + len(others) // len(SERIES)), strict=False):
        rows = feed(other).evaluations
        name = t("validation, {run}", run=training_words.source_title(other))
        curves.append(Curve(name, [row.step for row in rows], [row.validation_loss for row in rows], colour, "dashed"))
    return curves


def _second_chart(data: Feed, span: tuple[int, int]) -> None:
    """Gradient norms or the learning rate, for whoever asks: a third of the cost of a look."""
    names = {"gradient": t("Gradient norms"), "rate": t("Learning rate")}
    shown = st.segmented_control(
        t("Second chart"), SECOND_CHARTS, key="train_second", format_func=names.get,
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    if shown is None:
        return
    if shown == "rate":
        curves = [Curve(t("learning rate"), data.steps, data.rates, TRAIN)]
    else:
        curves = [Curve(t("all"), data.steps, data.norms, TRAIN)]
        curves += [
            Curve(name, data.steps, norms, colour)
            for (name, norms), colour in zip(data.groups.items(), SERIES, strict=False)
        ]
    chart = curves_chart(curves, span, logarithmic=shown == "gradient", most=300)
    st.echarts_chart(chart, key=f"second_{shown}", height=230, renderer=_renderer(), alt=names[shown])


def _details(run: Run, data: Feed) -> dict | None:
    """What the last step did, when it was one of slow motion."""
    path = run.folder / "details.json"
    details = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return details if details and details["step"] == data.step else None


def _slow_motion(run: Run, details: dict) -> None:
    st.subheader(t("Step {step} in slow motion", step=details["step"]))
    text = "Loss {loss:.6f} nats on {scored} scored positions; gradient norm {norm:.4f}; learning rate {rate:g}."
    values = {"loss": details["loss"], "scored": details["scored"], "norm": details["gradient_norm"]}
    st.markdown(plain(t(text, rate=details["learning_rate"], **values)))
    batch, moved = st.columns(2, gap="large")
    batch.caption(t("The records in this batch, as they were drawn"))
    batch.dataframe(_batch(run, details["records"]), hide_index=True, width="stretch", key="slow_batch", height=248)
    moved.caption(t("The tensors that moved most, and the gradient norm of their component"))
    moved.dataframe(_moves(details), hide_index=True, width="stretch", key="slow_moves", height=248)


def _batch(run: Run, rows: list[int]) -> pd.DataFrame:
    if run.info.training.mode == "windows":
        return pd.DataFrame({t("window from position"): rows})
    records = _records(run.folder, run.info.corpus_hash)
    chosen = [records[row] for row in rows]
    return pd.DataFrame({t("record"): [record.id for record in chosen], t("text"): [record.text for record in chosen]})


@st.cache_resource(show_spinner=False, max_entries=4)  # looked at twice a second, and large corpora take long to read
def _records(folder: Path, corpus_hash: str) -> tuple[Record, ...]:
    return Run(folder).corpus().train


def _moves(details: dict) -> pd.DataFrame:
    rows = details["moves"]
    return pd.DataFrame(
        {
            t("tensor"): [row["name"] for row in rows],
            t("moved by"): [row["moved"] for row in rows],
            t("of its length"): [f"{row['share']:.2%}" for row in rows],
            t("gradient"): [details["group_norms"][row["component"]] for row in rows],
        }
    )


def _renderer() -> str:
    return "svg" if st.session_state.get("train_picture") == "SVG" else "canvas"


def _alt(data: Feed) -> str:
    if not data.losses:
        return t("Loss over training steps; no step yet")
    return t("Loss over training steps: {loss:.3f} nats at step {step}", loss=data.losses[-1], step=data.step)
