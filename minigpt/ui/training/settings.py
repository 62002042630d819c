"""The settings of the next run: corpus, preset, the few fields that change most often, all others on request."""

from collections.abc import Callable
from dataclasses import replace
from math import log
from typing import Any

import streamlit as st

from minigpt.config import TokenizerConfig
from minigpt.corpus.corpus import Corpus
from minigpt.corpus.library import FIRST as FIRST_CORPUS
from minigpt.corpus.tokenizer_jobs.jobs import Learned
from minigpt.model.parameters import parameter_count
from minigpt.model.size_limits import check_model
from minigpt.presets import PRESETS, Preset, preset
from minigpt.training.runs.library import NAME_CHARACTERS
from minigpt.training.samples import common_start
from minigpt.ui.base import messages
from minigpt.ui.base.text import plain, t, translate
from minigpt.ui.shared import corpora, tokenizing
from minigpt.ui.shared.corpus_fit import fit_fault
from minigpt.ui.shared.run_titles import shape_words
from minigpt.ui.shared.training_fields import (
    FIRST,
    FITTED,
    MORE,
    PARTS,
    SHAPE,
    UNFOLDED,
    field,
    fit,
    in_columns,
    key_of,
    note,
    part_of,
    shaped,
    value_of,
)
from minigpt.ui.training import waiting as training_waiting


def draw(on_start: Callable[[], None], folded: bool = False) -> None:
    """One row with Start, the rest in an expander; all in one expander if `folded`, as a run is watched.

    What is folded away is not on the page at all: the browser goes over every element at each update of the
    panel. `on_start` is the callback of the button.
    """
    choice = corpora.current()
    if gone := corpora.gone():
        messages.notice(gone)
    _fit_to(choice)
    if not folded:
        return _draw(choice, on_start)
    st.session_state.setdefault(UNFOLDED, False)
    another = st.expander(t("Start another run"), icon=":material/add:", key=UNFOLDED, on_change="rerun")
    if another.open or training_waiting.STATE in st.session_state:
        with another:
            _draw(choice, on_start)
    return None


def fold() -> None:
    """In a callback: a run was started, its curve is what matters now."""
    st.session_state[UNFOLDED] = False


def _draw(choice: corpora.Choice, on_start: Callable[[], None]) -> None:
    which, presets, steps, rate, start = st.columns([2.2, 1.6, 1.3, 1.3, 1.4], vertical_alignment="bottom")
    with which:
        _corpus_box(choice)
    with presets:
        hint = t("The settings of the source texts. Everything else follows from them.")
        st.selectbox(t("Preset"), tuple(PRESETS), key="train_preset", persist_state="session", help=hint)
    base = shaped(preset(st.session_state["train_preset"]))
    for column, name in ((steps, "steps"), (rate, "learning_rate")):
        with column:
            field(base, name)
    more = st.expander(t("More settings"), key="train_more", on_change="rerun")
    if more.open:
        with more:
            _more(base)
    note(base)
    chosen_preset, faults = chosen()
    for fault in faults:
        messages.problem(fault)
    with start:
        st.button(
            t("Start"),
            type="primary",
            key="train_start",
            shortcut="S",
            width="stretch",
            icon=":material/play_arrow:",
            disabled=bool(faults) or training_waiting.STATE in st.session_state,
            on_click=on_start,
        )
    st.caption(plain(_about(choice, base if chosen_preset is None else chosen_preset)))
    if chosen_preset is not None:
        training_waiting.draw(choice, chosen_preset.tokenizer, on_start)


def chosen() -> tuple[Preset | None, list[str]]:
    """What the widgets say at this moment; read in a callback too, where a click may bring a value just typed."""
    base = shaped(preset(st.session_state["train_preset"]))
    values = {name: value_of(base, name) for name in (*FIRST, *SHAPE, *MORE)}
    values["sample_prompts"] = _prompts_of(base)
    parts: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for name, value in values.items():
        parts[part_of(name)][name] = value
    found, faults = settle(base, *(parts[part] for part in PARTS))
    if found is not None and (fault := _unfitting(found)):
        return None, [fault]
    return found, faults


def corpus() -> Corpus:
    """The corpus of the next run."""
    return corpora.loaded(corpora.current())


def run_name() -> str:
    """The name of the next run: as typed, else that of its corpus unless that is the one of the shipped run."""
    typed, choice = st.session_state.get("train_name") or "", corpora.current()
    return typed if typed or choice.key == FIRST_CORPUS else corpus().name[:NAME_CHARACTERS]


def tokenizer(found: Preset) -> Learned | None:
    """The tokenizer of the next run. None when it has to be learned first: then that begins, and Start follows it.

    Raises ValueError when it cannot be learned now.
    """
    choice = corpora.current()
    learned = tokenizing.learned(choice, found.tokenizer)
    if learned is None:
        tokenizing.begin(choice, found.tokenizer)
        training_waiting.wait(choice, found.tokenizer)
    return learned


def settle(
    base: Preset, training: dict[str, Any], model: dict[str, Any], tokenizer: dict[str, Any] | None = None
) -> tuple[Preset | None, list[str]]:
    """The preset with these fields; or None, and a sentence for each part that is wrong.

    The hidden layers keep their ratio to the width.
    """
    if "width" in model:
        model = model | {"ffn_width": model["width"] * base.model.ffn_width // base.model.width}
    parts: dict[str, Any] = {}
    faults: list[str] = []
    for part, values in (("training", training), ("model", model), ("tokenizer", tokenizer or {})):
        try:
            parts[part] = replace(getattr(base, part), **values)
        except ValueError as error:
            faults.append(translate(error))
    return (None, faults) if faults else (replace(base, **parts), [])


def _fit_to(choice: corpora.Choice) -> None:
    """When another corpus was chosen, also by a link. The first one keeps mg-1 as it is."""
    fitted = st.session_state.setdefault(FITTED, FIRST_CORPUS)
    if fitted != choice.key and choice.ready:
        fit(choice)


def _corpus_box(choice: corpora.Choice) -> None:
    titles = {other.key: other.title for other in corpora.choices() if other.ready or other.key == choice.key}
    st.session_state["train_corpus"] = choice.key
    st.selectbox(
        t("Corpus"),
        list(titles),
        key="train_corpus",
        format_func=titles.__getitem__,
        on_change=_choose_corpus,
        help=t("Shipped ones and yours; bring a file on the Corpus page. The settings follow the corpus."),
    )


def _choose_corpus() -> None:
    corpora.choose(st.session_state["train_corpus"])


def _more(base: Preset) -> None:
    st.caption(t("Tokenizer and shape"))
    in_columns(base, SHAPE)
    st.caption(t("Training"))
    in_columns(base, MORE)
    most = NAME_CHARACTERS
    name, prompts = st.columns([1, 3])
    with name:
        st.text_input(t("Name of the run"), key="train_name", max_chars=most, persist_state="session")
    with prompts:
        _prompts(base)


def _unfitting(found: Preset) -> str:
    """Why this corpus cannot be trained with these settings, "" if it can as far as is known."""
    choice = corpora.current()
    if not choice.ready:
        return t("The corpus {corpus} is not ready: choose on the Corpus page how to read it.", corpus=choice.title)
    try:
        check_model(replace(found.model, vocab_size=_vocab_size(choice, found.tokenizer)))
        return fit_fault(choice, found)
    except ValueError as error:
        return translate(error)


def _vocab_size(choice: corpora.Choice, config: TokenizerConfig) -> int:
    """Of the tokenizer, or the most it can be before it is learned."""
    learned = tokenizing.learned(choice, config)
    if learned is not None:
        return learned.tokenizer.vocab_size
    return 259 + config.merges if config.kind == "byte_bpe" else 3


def _about(choice: corpora.Choice, found: Preset) -> str:
    """What the next run is, in numbers."""
    changed = shape_words(found.name, found.model)
    said = [t("Preset {shape}.", shape=changed) if changed else translate(found.about)]
    if not choice.ready:
        return " ".join(said)
    records, learned = corpora.loaded(choice), tokenizing.learned(choice, found.tokenizer)
    said.append(_about_corpus(records))
    if learned is None:
        said.append(t("Its tokenizer is learned first, in a separate process; then the run begins."))
        return " ".join(said)
    size = learned.tokenizer.vocab_size
    count = parameter_count(replace(found.model, vocab_size=size))
    said.append(
        t(
            "{parameters:,} parameters; {size:,} ids, so guessing costs {loss:.3f} nats.",
            parameters=count,
            size=size,
            loss=log(size),
        )
    )
    return " ".join(said)


def _about_corpus(corpus: Corpus) -> str:
    train, validation = len(corpus.train), len(corpus.validation)
    if not corpus.is_one_text:
        return t(
            "Corpus {corpus}: {train:,} training and {validation:,} validation records.",
            corpus=corpus.name,
            train=train,
            validation=validation,
        )
    if validation:
        return t("Corpus {corpus}: one text, and its end is for validation.", corpus=corpus.name)
    return t("Corpus {corpus}: one text, all of it for training.", corpus=corpus.name)


def _prompts(base: Preset) -> None:
    key = _prompts_key(base)
    st.session_state[key] = _prompts_of(base)
    st.text_area(
        t("Sample prompts, one a line"),
        key=key,
        height=90,
        persist_state="session",
        help=t("At regular steps the run continues each of them, with the same seed. Empty: it begins with nothing."),
    )


def _prompts_of(base: Preset) -> str:
    """What the samples continue; at first a common beginning in the corpus."""
    default = "" if not corpora.current().ready else base.training.sample_prompts or common_start(corpus())
    return st.session_state.get(_prompts_key(base), default)


def _prompts_key(base: Preset) -> str:
    choice = corpora.current()
    return f"{key_of(base, 'sample_prompts')}_{corpus().hash if choice.ready else choice.key}"
