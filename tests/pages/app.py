"""Opens the app as AppTest, on a page and with URL parameters."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

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
