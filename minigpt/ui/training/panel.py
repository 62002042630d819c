"""The live part of the training page: buttons, numbers and curves.

Drawn twice a second at first and in slow motion, every other second later: a long curve hardly moves, and a class
of readers shares the machine with the trainer.
"""

import time
from contextlib import suppress
from functools import partial
from math import log
from typing import Literal

import streamlit as st

from minigpt.figures.training import BATCH, SERIES, TRAIN, VALIDATION, Curve, Level, curves_chart
from minigpt.inspection.sources import BUNDLED, BUNDLED_RUN, RUN_PREFIX
from minigpt.training.runs.info import RunInfo, RunStatus
from minigpt.training.runs.library import is_mine, run_folder
from minigpt.training.runs.metrics_tail import MetricsTail
from minigpt.training.runs.resume import checkpoint_steps
from minigpt.training.runs.run import Run
from minigpt.training.server.client import RunState
from minigpt.ui.base import browser, messages, workspace
from minigpt.ui.base.text import plain, t, translate
from minigpt.ui.shared import open_run
from minigpt.ui.shared.run_titles import source_title
from minigpt.ui.shared.trainer import state
from minigpt.ui.training import controls as training_controls
from minigpt.ui.training import run_sentences, slow_motion
from minigpt.ui.training import samples as training_samples

CURVE_PIXELS = 300  # in view at 900 px together with all above it
STEP_CURVE_PIXELS = 230  # so that what one step did begins in view as well
SECOND_CHARTS = ("gradient", "rate")
POLL_SECONDS, CALM_SECONDS = 0.5, 2.0  # between two updates
LIVELY = 12.0  # seconds that a run is watched before updates become rare
PER_VIEWER = (
    0.15  # seconds for each reader who watches a run, so that a whole class is served; rounded to whole seconds
)
STRIP_SECONDS = 3.0  # between reruns of the whole page for new steps on the strip's slider
DRAWN = "training_drawn"  # session: when the whole page ran, and how many steps were saved then
WATCHED = "training_watched"  # session: the run and since when it is watched
RECENT = 15.0  # seconds since a viewer's last update; longer than any pause between two
VIEWER = "training_viewer"  # session: this viewer's entry
TAILS = "training_tails"  # session: what this reader has read of each run


def draw(run_id: str, others: list[str]) -> None:
    """The panel, polled while something happens; once it is over the whole page runs once more."""
    going = state(run_id).status.active
    if st.session_state.get(WATCHED, ("",))[0] != run_id:
        st.session_state[WATCHED] = (run_id, time.monotonic())
    pause = _pause() if going else None
    st.session_state[DRAWN] = (time.monotonic(), _saved(run_id))
    st.fragment(_panel, run_every=pause)(run_id, others, pause)


def example() -> None:
    """Before the first run: disabled buttons, and the curve of the shipped run."""
    training_controls.draw(None, RunState("", RunStatus.CREATED), mine=True)
    messages.hint(t("Press Start: your curve takes the place of this one, which is that of the shipped run."))
    data = metrics_tail(BUNDLED)
    chart = curves_chart(
        _losses(data, []), (0, data.step), [Level(t("ln V"), log(Run(BUNDLED_RUN).info.model.vocab_size))]
    )
    st.echarts_chart(
        chart, key="loss_curves", height=CURVE_PIXELS, alt=t("Loss over training steps of the shipped run")
    )


def metrics_tail(run_id: str) -> MetricsTail:
    """What the run has reported, read on from where this reader stopped."""
    folder = BUNDLED_RUN if run_id == BUNDLED else run_folder(run_id)
    return st.session_state.setdefault(TAILS, {}).setdefault(run_id, MetricsTail(folder)).update()


def _pause() -> float:
    """Seconds between two updates for a run that goes on."""
    watched = time.monotonic() - st.session_state[WATCHED][1]
    lively = watched < LIVELY or training_controls.speed()
    return max(POLL_SECONDS if lively else CALM_SECONDS, round(PER_VIEWER * _viewers()))


def _panel(run_id: str, others: list[str], pause: float | None) -> None:
    now = state(run_id)
    mine = now.status == RunStatus.DELETED or is_mine(run_id, browser.secret())
    gone = now.status == RunStatus.DELETED
    training_controls.draw(run_id, now, mine, None if gone else partial(_open, run_id))
    if not mine:
        st.caption(t("Another browser made this run: you can watch it, open it on every page and download it."))
    fault = st.session_state.get(training_controls.FAULT)
    if fault:
        messages.problem(fault)
    if now.status in (RunStatus.FAILED, RunStatus.DELETED):
        messages.problem(_failure(run_id, now))
    if pause != (_pause() if now.status.active else None) or _strip_is_behind(run_id):
        st.rerun()
    if now.status == RunStatus.DELETED:
        return
    try:
        _numbers(run_id, now, others)
    except (OSError, ValueError) as error:  # the folder was deleted between two updates
        messages.problem(translate(error))


def _open(run_id: str) -> None:
    """The buttons that open the run on other pages; for a folder that is gone the message is below."""
    with suppress(OSError, ValueError):
        best = metrics_tail(run_id).best
        open_run.draw(run_id, best.step or None if best else None)  # a run that never improved opens as it is now


def _strip_is_behind(run_id: str) -> bool:
    """Whether the strip shows this run and its slider lacks a step saved since; asked every few seconds only."""
    drawn, saved = st.session_state[DRAWN]
    shown = workspace.current().model == f"{RUN_PREFIX}{run_id}"
    return shown and time.monotonic() - drawn > STRIP_SECONDS and _saved(run_id) != saved


def _saved(run_id: str) -> int:
    try:
        return len(checkpoint_steps(run_folder(run_id)))
    except ValueError:  # a link to a run that is gone
        return 0


def _failure(run_id: str, now: RunState) -> str:
    if now.status == RunStatus.DELETED:
        return t("There is no run {id} here: its folder was deleted, or the link is wrong.", id=run_id)
    reason = translate(now.reason).rstrip(".")
    return t("This run failed: {reason}. What was saved before is kept.", reason=reason)


def _numbers(run_id: str, now: RunState, others: list[str]) -> None:
    run, data = Run(run_folder(run_id)), metrics_tail(run_id)
    info, baselines = run.info, run.baselines()
    _readings(data, info, now)
    place = st.container(key="train_curve")  # the chart, drawn when its span is known
    details = slow_motion.details_of(run, data)
    if details:
        slow_motion.draw(run, details)
    span, logarithmic = _view(info.training.steps)
    levels = [Level(t("ln V"), log(info.model.vocab_size))]
    if baselines:
        names = {"unigram": t("unigram"), "bigram": t("bigram"), "trigram": t("trigram")}
        levels += [Level(name, getattr(baselines, field)) for field, name in names.items()]
    best = None
    if data.best and data.best.validation_loss is not None:
        best = (t("best, step {step}", step=data.best.step), data.best.step, data.best.validation_loss)
    height = STEP_CURVE_PIXELS if details else CURVE_PIXELS
    chart = curves_chart(_losses(data, others), span, levels, best, logarithmic, height=height)
    place.echarts_chart(chart, key="loss_curves", height=height, renderer=_renderer(), alt=_alt(data))
    for sentence in run_sentences.curve_words(data, baselines):
        st.markdown(plain(sentence))
    training_samples.live(run, data)
    _second_chart(data, span)


def _readings(data: MetricsTail, info: RunInfo, now: RunState) -> None:
    """The status in a sentence, and the numbers as one table: six tiles take five times as long."""
    rate = data.speed()
    moving = now.status.in_trainer
    shown = {
        t("Step"): f"{data.step:,} / {info.training.steps:,}",
        t("Batch loss"): f"{data.losses[-1]:.4f}" if data.losses else "–",
        t("Best validation loss"): t("{loss:.4f} at {step:,}", loss=data.best.validation_loss, step=data.best.step)
        if data.best
        else "–",
        t("Tokens a second"): f"{rate[1]:,.0f}" if rate else "–",
        t("Time left"): run_sentences.time_left(data, info) if moving else "–",
    }
    rows = [shown, ["---"] * len(shown), shown.values()]
    with st.container(key="train_numbers", gap="xxsmall"):
        st.markdown(plain(run_sentences.status(now, data.step)))
        st.markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))


def _view(steps: int) -> tuple[tuple[int, int], bool]:
    """The steps on show and whether the loss axis is logarithmic; both stay through every update."""
    zoom, scale = st.columns([4, 1.3], vertical_alignment="bottom")
    key = f"train_span_{steps}"
    span = zoom.slider(t("Steps shown"), 0, steps, (0, steps), key=key, persist_state="session")
    logarithmic = scale.toggle(t("Logarithmic"), key="train_log", persist_state="session")
    return (span if span[0] < span[1] else (0, steps)), logarithmic


def _losses(data: MetricsTail, others: list[str]) -> list[Curve]:
    """Validation first: lines and marks hang on the first curve."""
    rows = data.evaluations
    steps = [row.step for row in rows]
    curves = [
        Curve(t("validation"), steps, [row.validation_loss for row in rows], VALIDATION, "points"),
        Curve(t("training records"), steps, [row.train_loss for row in rows], TRAIN, "points"),
        Curve(t("batch"), data.steps, data.losses, BATCH),
    ]
    for other, color in zip(others, SERIES * (1 + len(others) // len(SERIES)), strict=False):
        rows = metrics_tail(other).evaluations
        name = t("validation, {run}", run=source_title(other))
        curves.append(Curve(name, [row.step for row in rows], [row.validation_loss for row in rows], color, "dashed"))
    return curves


def _second_chart(data: MetricsTail, span: tuple[int, int]) -> None:
    """Gradient norms or the learning rate, on request: a third of the cost of an update."""
    names = {"gradient": t("Gradient norms"), "rate": t("Learning rate")}
    shown = st.segmented_control(
        t("Second chart"),
        SECOND_CHARTS,
        key="train_second",
        format_func=names.__getitem__,
        label_visibility="collapsed",
        persist_state="session",
    )
    if shown is None:
        return
    if shown == "rate":
        curves = [Curve(t("learning rate"), data.steps, data.rates, TRAIN)]
    else:
        curves = [Curve(t("all"), data.steps, data.norms, TRAIN)]
        curves += [
            Curve(name, data.steps, norms, color)
            for (name, norms), color in zip(data.groups.items(), SERIES, strict=False)
        ]
    chart = curves_chart(curves, span, logarithmic=shown == "gradient", most=300)
    st.echarts_chart(chart, key=f"second_{shown}", height=230, renderer=_renderer(), alt=names[shown])


def _renderer() -> Literal["svg", "canvas"]:
    return "svg" if st.session_state.get("train_picture") == "SVG" else "canvas"


def _alt(data: MetricsTail) -> str:
    if not data.losses:
        return t("Loss over training steps; no step yet")
    return t("Loss over training steps: {loss:.3f} nats at step {step}", loss=data.losses[-1], step=data.step)


@st.cache_resource(show_spinner=False)
def _last_looks() -> dict[object, float]:
    """When each viewer updated last, all sessions together."""
    return {}


def _viewers() -> int:
    """Note that this session watches a run; how many did so lately, this one included."""
    looks, now = _last_looks(), time.monotonic()
    looks[st.session_state.setdefault(VIEWER, object())] = now
    for viewer, last in list(looks.items()):
        if now - last > RECENT:
            looks.pop(viewer, None)
    return len(looks)
