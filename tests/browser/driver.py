"""Drives the app in a real Chromium: opens pages, waits until they are done, measures and looks.

Nothing here sleeps for a fixed time in the hope that the app has finished: `App.settle` asks the messages
between browser and server whether a rerun is asked for or running, and the page whether all is drawn.
"""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright

from tests.browser import scripts
from tests.browser.server import Server
from tests.browser.watch import Watch

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A sandbox needs a user other than root; the rest keeps Chromium from looking for updates on the network.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
ONE_PROCESS = "--process-per-site"  # for all windows of a profile, as `Profile` wants it
QUIET_SECONDS = 0.3  # longer than Streamlit's 200 ms debounce of sliders, so a pending change is not missed
PAINT_LIMIT = 12000  # px, the highest picture Chromium draws reliably


def find_browser() -> str | None:
    """Return the path of an installed Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def launch(playwright: Playwright, *flags: str) -> Browser:
    """Start the installed browser without a window, with more `flags`; ValueError when there is none."""
    path = find_browser()
    if path is None:
        raise ValueError(f"no browser found: looked for {', '.join(BROWSERS)} on the PATH")
    return playwright.chromium.launch(executable_path=path, args=[*FLAGS, *flags])


def new_context(browser: Browser, server: Server) -> BrowserContext:
    """Make a reader's profile: nothing in it yet."""
    # Without a picture card every frame of an animation costs processor time.
    return browser.new_context(base_url=server.url, reduced_motion="reduce")


class Profile:
    """A reader's profile that stays from one window to the next, as an open browser does.

    Compiling Streamlit's scripts is most of the work of opening a page. A window parked at the server's health
    answer keeps the process in which they are compiled (launch with ONE_PROCESS); `forget` makes the next window a
    new reader's.
    """

    def __init__(self, browser: Browser, server: Server) -> None:
        self.context = new_context(browser, server)
        self._url = server.url
        parked = self.context.new_page()
        parked.goto("/_stcore/health")
        self._session = self.context.new_cdp_session(parked)

    def forget(self) -> None:
        """Delete cookies and everything else the app has stored."""
        self.context.clear_cookies()
        self._session.send("Storage.clearDataForOrigin", {"origin": self._url, "storageTypes": "all"})

    def close(self) -> None:
        """Close every window."""
        self.context.close()


class App:
    """One reader's window on the app, with everything it showed being watched.

    `scheme` is "light" or "dark": the app's theme follows the browser's preference, as for a real reader. The
    reader has nothing stored; given a `profile`, whoever used it before is forgotten.
    """

    def __init__(
        self, browser: Browser, server: Server, size: tuple[int, int], scheme: str, profile: Profile | None = None
    ) -> None:
        if profile is not None:
            profile.forget()
        self.context = profile.context if profile is not None else new_context(browser, server)
        self._others = list(self.context.pages) if profile is not None else None
        self.page: Page = self.context.new_page()
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.emulate_media(color_scheme=scheme)
        self.watch = Watch(self.page, server)

    def close(self) -> None:
        """Close the window and those opened from it; `watch.faults()` still answers."""
        if self._others is None:
            self.context.close()
            return
        for page in self.context.pages:
            if page not in self._others:
                page.close()

    def open(self, page_name: str, **params: object) -> Page:
        """Load a page by its address ("" is the overview) with its URL parameters, and wait for it.

        Example: `app.open("stages", text="Hi", position=1)` loads `/stages?text=Hi&position=1`.
        """
        self.page.goto(f"/{page_name}" + (f"?{urlencode(params)}" if params else ""))
        self.settle()
        return self.page

    def settle(self, seconds: float = 60) -> None:
        """Wait until the script has run, no rerun is pending and everything visible is drawn.

        TimeoutError after `seconds`, saying what it waited for. A polling page settles between polls.
        """
        end, since = time.monotonic() + seconds, None
        while time.monotonic() < end:
            # A look at the page is work for it: none while a rerun is known to be asked for or running.
            drawn = self.watch.idle and self.page.evaluate(scripts.DRAWN)
            if not (drawn and self.watch.idle):
                since = None
            elif since is None:
                since = time.monotonic()
            elif time.monotonic() - since >= QUIET_SECONDS:
                return
            self.page.wait_for_timeout(30)
        state = f"idle and drawn: {drawn}, asked: {self.watch.asked}, running: {self.watch.running}"
        raise TimeoutError(f"{self.page.url} is not settled after {seconds:.0f} s ({state})")

    def milliseconds(self, act: Callable[[], object], appears: Locator) -> float:
        """Return the time from the last key or pointer press that `act` makes until `appears` is visible.

        Both moments come from the browser's clock; the second is late by one round trip, a few ms. ValueError
        if `appears` is visible before `act`.
        """
        if appears.is_visible():
            raise ValueError(f"what should appear is visible before the action: {appears}")
        self.page.evaluate(scripts.NOTE_PRESSES)
        act()
        appears.wait_for(state="visible")
        return self.page.evaluate(scripts.SINCE_PRESS)

    def pages(self) -> list[str]:
        """Return the addresses of the pages in the navigation, in order; the overview is ""."""
        return self.page.evaluate(scripts.PAGES)

    def filled(self) -> float:
        """Return how far down the window content reaches: 0 is an empty page, 1 the bottom or beyond."""
        return self.page.evaluate(scripts.FILLED)

    def cut_off(self) -> list[str]:
        """Return what is cut at the window's right edge or shortened with an ellipsis, one line each.

        What lies in an element that scrolls sideways by itself (code, wide tables) is not cut.
        """
        return self.page.evaluate(scripts.CUT)

    def assert_no_overflow(self) -> None:
        """Fail when anything on the page is cut off horizontally."""
        cut = self.cut_off()
        assert not cut, "cut off:\n" + "\n".join(cut)

    def show_all(self) -> None:
        """Make the window as high as the page (Streamlit scrolls an inner container, not the document)."""
        for _ in range(3):  # a new height may lay charts out anew
            wanted = self.page.evaluate(scripts.HEIGHT)
            size = self.page.viewport_size
            if wanted <= size["height"]:
                return
            self.page.set_viewport_size({"width": size["width"], "height": min(wanted, PAINT_LIMIT)})
            self.settle()

    def screenshot(self, name: str) -> None:
        """Save the window as `name`.png in the folder MINIGPT_SCREENSHOTS names; without it, do nothing."""
        folder = os.environ.get("MINIGPT_SCREENSHOTS")
        if folder:
            self.page.screenshot(path=Path(folder) / f"{name}.png")
