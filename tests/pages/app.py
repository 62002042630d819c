"""Opens the app as AppTest, on a page and with URL parameters."""

import json
from dataclasses import replace
from pathlib import Path

from streamlit.testing.v1 import AppTest

from minigpt.ui.base.workspace import STATE, Workspace

APP = Path(__file__).parents[2] / "app.py"


def open_app(page: str | None = None, **params: str) -> AppTest:
    """The app after its first run on `page` ("stages"; the overview by default), without any exception.

    Example: `open_app("stages", text="Hi", position="1")`.
    """
    at = AppTest.from_file(str(APP), default_timeout=60)
    for name, value in params.items():
        at.query_params[name] = value
    at.run()
    if page is not None:
        at.switch_page(f"pages/{page}.py").run()
    assert not at.exception, [exception.value for exception in at.exception]
    return at


def choose(at: AppTest, **changes) -> AppTest:
    """Change the workspace as the components do, whose clicks AppTest cannot make, and run."""
    space: Workspace = at.session_state[STATE]
    at.session_state[STATE] = replace(space, **changes)
    at.run()
    assert not at.exception, [exception.value for exception in at.exception]
    return at


def unfold(at: AppTest) -> AppTest:
    """Open what the training page folds away: the settings beside a run, and those that few need."""
    at.session_state["train_another"] = at.session_state["train_more"] = True
    return at.run()


def table_of(at: AppTest, number: int = 0) -> dict[str, list[str]]:
    """The cells of a light table by heading, as they would be copied; the `number`th on the page."""
    tables = [element.proto for element in at.get("bidi_component") if element.proto.component_name == "minigpt.table"]
    return {
        column["name"]: column.get("exact", column["cells"]) for column in json.loads(tables[number].json)["columns"]
    }
