"""Fixtures of the browser suite. A test asks for `app` (or its Playwright page, `page`):

    def test_next_stage(app, page):
        app.open("stages", text="Hi", position=1)
        page.get_by_role("button", name="Next").click()
        app.settle()

`viewport` and `color_scheme` are fixtures that a test may parametrize. Every test fails at its end when
the page had a console error, a failed or external request, or an exception: see `Watch`.
"""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.driver import BROWSERS, ONE_PROCESS, App, Profile, find_browser, launch
from tests.browser.server import Server, serve


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The installed Chromium or Chrome. Without one the test is skipped, but fails where CI is set."""
    if find_browser() is None:
        missing = f"no browser: none of {', '.join(BROWSERS)} is on the PATH"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    with sync_playwright() as playwright:
        browser = launch(playwright, ONE_PROCESS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app, started once for all browser tests."""
    with serve(home=tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="session")
def profile(browser: Browser, server: Server) -> Iterator[Profile]:
    """What the windows of one test after the other are opened in."""
    profile = Profile(browser, server)
    yield profile
    profile.close()


@pytest.fixture
def viewport() -> tuple[int, int]:
    """Width and height of the window in px."""
    return 1440, 900


@pytest.fixture
def color_scheme() -> str:
    """The reader's preference, "light" or "dark"."""
    return "light"


@pytest.fixture
def app(
    browser: Browser, server: Server, profile: Profile, viewport: tuple[int, int], color_scheme: str
) -> Iterator[App]:
    """A new reader's window on the app, which must show no fault until the test ends."""
    app = App(browser, server, viewport, color_scheme, profile)
    yield app
    app.page.wait_for_timeout(50)  # lets the last events arrive
    app.close()
    faults = app.watch.faults()
    assert not faults, "the page had faults:\n" + "\n".join(faults)


@pytest.fixture
def page(app: App) -> Page:
    """The Playwright page of `app`."""
    return app.page
