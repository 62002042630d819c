"""The reader's workspace: which model, step, record, position, block and head every page shows.

It lives in the session and in the URL as plain values, so that a link reproduces the view. Nothing
here needs torch, so the first paint does not wait for it.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import streamlit as st

from minigpt.ui.base.text import t

STATE = "workspace"
NOTICES = "workspace_notices"  # present during the first run of a session, whose values came with the link
DEFAULT_TEXT = "The key is red. Answer: red."


@dataclass(frozen=True)
class Workspace:
    """What is looked at. `step` None means the model's last saved step, `position` counts input slots from 0."""

    model: str = "mini-gpt"
    step: int | None = 100
    text: str = DEFAULT_TEXT
    position: int = 5
    block: int = 0
    head: int = 0
    stage: str = ""  # "" is the first that has an interesting page: what enters the block
    run: str | None = None  # of the training page
    corpus: str | None = None  # of the corpus page and the next run; None is the one of the shipped run


def start() -> None:
    """Once a session: read the URL. A value that cannot be used is named in a notice, the default stays."""
    if STATE in st.session_state:
        return
    notices: list[str] = []
    values: dict[str, Any] = {}
    for field in fields(Workspace):
        if field.name not in st.query_params:
            continue
        text = st.query_params[field.name]
        if field.name in ("model", "text", "stage", "run", "corpus"):
            values[field.name] = text
        elif text.isascii() and text.isdecimal() and len(text) < 10:
            values[field.name] = int(text)
        else:
            notices.append(t("The link says {name} = {text}; it must be a whole number.", name=field.name, text=text))
    if "model" in values and "step" not in values:
        values["step"] = None
    st.session_state[STATE] = Workspace(**values)
    st.session_state[NOTICES] = notices


def current() -> Workspace:
    """The workspace of this session."""
    return st.session_state[STATE]


def choose(**changes: Any) -> None:
    """Change the workspace: in a callback, before the rerun, or while it is being resolved."""
    st.session_state[STATE] = replace(current(), **changes)


def notices() -> list[str]:
    """Sentences about values of the link that could not be used, once."""
    return st.session_state.pop(NOTICES, [])


def note(sentence: str) -> None:
    """Keep a sentence for `notices`, if the values at hand came with the link."""
    if NOTICES in st.session_state:
        st.session_state[NOTICES].append(sentence)


def write_url() -> None:
    """Put the workspace into the address bar, in one change, if it says something else."""
    values = {field.name: getattr(current(), field.name) for field in fields(Workspace)}
    written = {name: value for name, value in st.query_params.to_dict().items() if values.get(name, value) is not None}
    wanted = written | {name: str(value) for name, value in values.items() if value is not None}
    if wanted != st.query_params.to_dict():
        st.query_params.from_dict(wanted)
