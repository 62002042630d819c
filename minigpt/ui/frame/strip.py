"""The strip above every page: record, model, training step, and the token chips that choose the position."""

import streamlit as st

from minigpt.corpus.batches import RecordTooLong
from minigpt.huggingface.imports import import_title, imports_of, is_import
from minigpt.inspection.sources import BUNDLED, RUN_PREFIX, SOURCES, source_steps
from minigpt.presets import SEPARATOR
from minigpt.tokenizers.labels import visible_label
from minigpt.training.runs.library import runs_of
from minigpt.ui.base import browser, messages, workspace
from minigpt.ui.base.text import plain, t
from minigpt.ui.base.view import View, current_reader, resolve, takes_time
from minigpt.ui.components.chips import Chip, chips
from minigpt.ui.components.record import record_box
from minigpt.ui.frame import playback
from minigpt.ui.shared import examples, open_run
from minigpt.ui.shared.run_titles import run_title

SAMPLES = (
    "The key is blue. Answer: blue.",
    "法国的首都叫巴黎。",
    "the cat the cat",
    "<b>1</b> $x$ **b**\n🙂",
)
WRAPPED = 64  # positions; those of a longer record are in one row that scrolls, so that the page stays in view
SHOWN = 20  # characters of a model's title that its box shows; the whole of a longer one is in its tooltip
LABEL = 120  # characters of an example that its chip shows


def draw() -> View | None:
    """Draw the strip; the view the page shows, or None after a sentence that says what to change."""
    view: View | None = None
    fault: ValueError | str = ""
    playback.advance()
    with st.container(key="strip"):
        try:
            view = _resolve()
        except ValueError as error:
            fault = _said(error)
        _controls(view)
        if view is None:
            messages.problem(fault)
            _way_out()
        else:
            _chips(view)
    for sentence in workspace.notices():
        messages.notice(sentence)
    return view


def _said(error: ValueError) -> ValueError | str:
    """What is wrong with the record of the workspace."""
    if isinstance(error, RecordTooLong):
        return t(
            "The record needs {needed:,} positions; the context length is {context:,}: leave out about {more:,} tokens",
            needed=error.needed,
            context=error.context,
            more=error.needed - error.context,
        )
    return error if workspace.current().text else t("The record is empty; type at least one character")


def _resolve() -> View:
    """The view; with a sentence while the page waits for a large model to be made or run."""
    place = st.empty()
    if not takes_time():
        return resolve()
    with place.container(), st.spinner(t("The model reads the record …")):
        return resolve()


def _way_out() -> None:
    """One click to a record that the chosen model can read, if the model is there."""
    space = workspace.current()
    try:
        config, tokenizer = current_reader()
        texts = [record.text for record in examples.training_records(space.model)]
        found = examples.fitting(texts, tokenizer, config.context_length, most=1)
    except (ValueError, OSError):  # the problem above says it
        return
    if found:
        label = t("Use the first record of this model's corpus")
        st.button(label, key="use_fitting", icon=":material/arrow_forward:", on_click=_set_record, args=(found[0],))


def model_title(name: str) -> str:
    """How a source is called in the model list."""
    if name == BUNDLED:
        return t("MG-1, trained")
    if name.startswith(RUN_PREFIX):
        return _id_first(run_title(name.removeprefix(RUN_PREFIX)))
    if is_import(name):
        return import_title(name)
    return _shape_title(name)


def _shape_title(name: str) -> str:
    """An untrained shape: the preset it was made of, then what differs."""
    base, *changes = name.split(SEPARATOR)
    if not changes:
        return t("{name}, untrained", name="MG-1" if name == "mg-1" else name)
    differences = ", ".join(change.replace("_", " ").replace("=", " ") for change in changes)
    return t("Untrained {base}: {differences}", base=base, differences=differences)


def _id_first(title: str) -> str:
    """The title with its id in front, where a narrow box shows it: `1a2b · keys: mg-1, rate 0.01`."""
    about, dot, run_id = title.rpartition(" · ")
    return f"{run_id}{dot}{about}" if dot else title


def _controls(view: View | None) -> None:
    space = workspace.current()
    record, samples, model, step, play = st.columns([4, 1.8, 2.6, 2.2, 0.5], vertical_alignment="bottom")
    with record:
        note = ""
        if view is not None:
            note = t("{length} of {context:,} positions", length=view.length, context=view.context)
        record_box(
            space.text,
            key="record",
            label=t("Record"),
            note=note,
            placeholder=t("Type any text"),
            on_change=_set_record,
        )
    box = samples.popover(t("Examples"), width="stretch", key="examples_box", on_change="rerun")
    if box.open:  # closed, its chips would still cost the browser a redraw at each click
        with box:
            _examples()
    steps = _steps(space.model)
    with model:
        names = _names(space)
        st.session_state["model_choice"] = space.model if space.model in names else None
        whole = model_title(space.model) if space.model in names else ""
        st.selectbox(
            t("Model"),
            names,
            key="model_choice",
            format_func=model_title,
            on_change=_take_model,
            help=plain(whole) if len(whole) > SHOWN else None,
        )
    with step:
        _step(steps)
    with play:
        playback.draw(steps)


def _names(space: workspace.Workspace) -> list[str]:
    """The models to choose from: those that everyone has, this browser's imports and runs, and what a link shares."""
    runs = [*imports_of(browser.secret()), *(f"{RUN_PREFIX}{run_id}" for run_id in runs_of(browser.secret()))]
    shared = f"{RUN_PREFIX}{space.run}" if space.run else space.model
    known = [*SOURCES, *runs]
    return known + [name for name in dict.fromkeys((shared, space.model)) if name not in known and _exists(name)]


def _exists(name: str) -> bool:
    try:
        return bool(source_steps(name))
    except ValueError:
        return False


def _steps(name: str) -> tuple[int, ...]:
    try:
        return source_steps(name)
    except ValueError:  # `draw` says why
        return (0,)


def _step(steps: tuple[int, ...]) -> None:
    label = t("Training step")
    if len(steps) == 1:
        imported = is_import(workspace.current().model)
        only = t("as imported") if imported else t("0 (untrained)")
        st.text_input(label, value=only, disabled=True, key=f"step_fixed_{imported}")
        return
    step = workspace.current().step
    st.session_state["step_choice"] = step if step in steps else steps[-1]
    st.select_slider(label, steps, key="step_choice", on_change=_take_step)


def _examples() -> None:
    st.caption(t("A few odd ones, and records of the model's own corpus"))
    try:
        config, tokenizer = current_reader()
        records = [record.text for record in examples.training_records(workspace.current().model)]
        texts = examples.fitting([*SAMPLES, *records], tokenizer, config.context_length)
    except (ValueError, OSError) as error:
        messages.problem(error)
        return
    items = [Chip(visible_label(text[:LABEL].encode())) for text in texts]
    chips(items, key="examples", label=t("Example records"), on_select=lambda index: _take_example(texts[index]))


def _chips(view: View) -> None:
    items = [
        Chip(
            label,
            below=str(token),
            hint=_chip_hint(view, position),
            kind="special" if view.is_special(token) else "plain",
        )
        for position, (label, token) in enumerate(zip(view.labels, view.ids, strict=True))
    ]
    few = view.length <= WRAPPED
    chips(items, key="position", label=t("Position"), selected=view.position, on_select=_take_position, wrap=few)


def _chip_hint(view: View, position: int) -> str:
    piece = view.tokenizer.piece_bytes(view.ids[position])
    token, target, loss = view.ids[position], view.target_labels[position], view.losses[position]
    if not piece:
        return t(
            "position {position} · special id {id}, without bytes · next: {target} ({loss:.3f} nats)",
            position=position,
            id=token,
            target=target,
            loss=loss,
        )
    return t(
        "position {position} · id {id} · bytes {bytes} · next: {target} ({loss:.3f} nats)",
        position=position,
        id=token,
        bytes=piece.hex(" ").upper(),
        target=target,
        loss=loss,
    )


def _take_example(text: str) -> None:
    st.session_state["examples_box"] = False
    _set_record(text)


def _set_record(text: str) -> None:
    workspace.choose(text=text)


def _take_model() -> None:
    open_run.look_at(st.session_state["model_choice"])


def _take_step() -> None:
    workspace.choose(step=st.session_state["step_choice"])


def _take_position(position: int) -> None:
    workspace.choose(position=position)
