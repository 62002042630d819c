"""How fast the pages answer in a real browser: python benchmarks/pages.py [--actions 20] [--model mini-gpt]
[--trainings 3 [--away]]

Prints the time from `streamlit run` to the filled first screen, then per page and action (another position,
another training step, another head) the median and the 95th percentile of the time from the press to the
second frame after the page has last changed, in milliseconds, by the browser's own clock. With --trainings,
how fast pages change while so many others train: see trainings.py. Needs the packages of
requirements-dev.txt and an installed Chromium or Chrome.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page, sync_playwright

from benchmarks import trainings
from tests.browser.driver import App, launch
from tests.browser.server import serve

PAGES = ("", "tokens", "stages", "attention", "logits")
TEXT = "The key is red. Answer: red."

# Notes the moment of each press, and of the second frame after the last change of the page.
WATCH = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  for (const kind of ['pointerdown', 'keydown'])
    document.addEventListener(kind, (event) => { window.pressed = event.timeStamp; }, true);
  new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(() => {
    window.answered = performance.now();
  }))).observe(app, { attributes: true, childList: true, characterData: true, subtree: true });
}"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--actions", type=int, default=20, help="of each kind and page (default: 20)")
    parser.add_argument("--model", default="mini-gpt", help="source to look at (default: the shipped run)")
    parser.add_argument("--trainings", type=int, default=0, help="measure page changes while so many others train")
    parser.add_argument("--away", action="store_true", help="with --trainings: the watching windows are emptied")
    options = parser.parse_args()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        browser = launch(playwright)
        started = time.monotonic()
        with serve(Path(home)) as server:
            if options.trainings:
                trainings.measure(browser, server, options.trainings, options.actions, WATCH, options.away)
                return
            app = App(browser, server, (1440, 900), "light")
            app.page.goto("/")
            app.page.locator(".st-key-pipeline button.box").first.wait_for()
            print(f"first screen filled {time.monotonic() - started:.2f} s after the start of the server")
            print(f"{'page':<10} {'action':<9} {'p50 ms':>7} {'p95 ms':>7}")
            for name in PAGES:
                app.open(name, model=options.model, text=TEXT, position=1)
                app.page.evaluate(WATCH)
                for action, act in ACTIONS.items():
                    if action == "head" and name != "attention":
                        continue
                    if action == "step" and options.model != "mini-gpt":
                        continue
                    times = [milliseconds(app, act, turn) for turn in range(options.actions)]
                    centiles = statistics.quantiles(times, n=20, method="inclusive")
                    print(f"{name or 'overview':<10} {action:<9} {statistics.median(times):>7.0f} {centiles[-1]:>7.0f}")
            app.close()
        browser.close()


def milliseconds(app: App, act, turn: int) -> float:
    """The time one action takes to be answered."""
    act(app.page, turn)
    app.settle()
    return app.page.evaluate("window.answered - window.pressed")


def another_position(page: Page, turn: int) -> None:
    """Click the next token chip."""
    page.locator(".st-key-position button.chip").nth(2 + turn % 12).click()


def another_step(page: Page, turn: int) -> None:
    """One saved step back or forth, by key."""
    page.locator(".st-key-step_choice input").focus()
    page.keyboard.press("ArrowRight" if turn % 2 else "ArrowLeft")


def another_head(page: Page, turn: int) -> None:
    """The other head of MG-1, by arrow key in the gallery."""
    page.get_by_role("application").first.focus()
    page.keyboard.press("ArrowLeft" if turn % 2 else "ArrowRight")


ACTIONS = {"position": another_position, "step": another_step, "head": another_head}

if __name__ == "__main__":
    main()
