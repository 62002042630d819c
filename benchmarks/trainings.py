"""How fast pages change while others train: python benchmarks/pages.py --trainings 3 [--actions 20] [--away]

As many browsers start a run each, on corpora of their own; then the last one walks through the pages while
the others watch their runs. Prints the time from each press on Start to the first step on screen, and per page
the median and the 95th percentile of the time from the press on its link to the second frame after the page has
last changed; at the end over all pages, and how far the runs came meanwhile. All these browsers share this
machine's cores; with --away the watching windows are emptied, as if they stood on other desks.
"""

import statistics

from playwright.sync_api import Browser

from tests.browser.driver import App
from tests.browser.server import Server

CORPORA = ("mini-gpt", "english-text", "chinese-lines", "riddles")
PAGES = ("tokens", "stages", "attention", "logits", "sampling", "training", "")
LONG = 180_000  # ms; a tokenizer may have to be learned first

FIRST_STEP = """() => {
  const shown = document.querySelector('.st-key-train_numbers td');
  const run = new URLSearchParams(location.search).get('run');
  return run && shown && Number(shown.innerText.split(' ')[0].replace(',', '')) > 0 && performance.now();
}"""


def measure(browser: Browser, server: Server, trainings: int, actions: int, watch: str, away: bool) -> None:
    """Print the figures. `watch` is the script that notes presses and changes of a page."""
    pupils = [App(browser, server, (1440, 900), "light") for _ in range(trainings)]
    for place, pupil in enumerate(pupils):
        seconds = start(pupil, CORPORA[place % len(CORPORA)], watch)
        print(f"run {place + 1}, {CORPORA[place % len(CORPORA)]}: first step on screen {seconds:.2f} s after Start")
    before = [step(pupil) for pupil in pupils]
    addresses = [pupil.page.url for pupil in pupils]
    *watching, reader = pupils
    for pupil in watching if away else []:
        pupil.page.goto("about:blank")
    times: dict[str, list[float]] = {name: [] for name in PAGES}
    for turn in range(actions + 1):
        for name in PAGES:
            spent = change(reader, name)
            if turn:  # the first visit of a page loads its scripts
                times[name].append(spent)
    print(f"{'page':<10} {'p50 ms':>7} {'p95 ms':>7}")
    for name, spent in [*times.items(), ("all", [spent for row in times.values() for spent in row])]:
        centiles = statistics.quantiles(spent, n=20, method="inclusive")
        print(f"{name or 'overview':<10} {statistics.median(spent):>7.0f} {centiles[-1]:>7.0f}")
    for pupil, address in zip(pupils, addresses, strict=True):
        pupil.page.goto(address)
        pupil.page.wait_for_function(FIRST_STEP, timeout=LONG)
    print("steps of the runs meanwhile:", ", ".join(f"{step(p) - b:,}" for p, b in zip(pupils, before, strict=True)))
    for pupil in pupils:
        pupil.close()


def start(app: App, corpus: str, watch: str) -> float:
    """Start a long run on a corpus; the seconds from the press to its first step on screen."""
    app.open("training", corpus=corpus)
    box = app.page.locator("[class*=st-key-train_][class*=_steps] input").first
    box.fill("100000")
    box.press("Enter")
    app.settle()
    app.page.evaluate(watch)
    app.page.locator(".st-key-train_start button").first.click()
    shown = app.page.wait_for_function(FIRST_STEP, timeout=LONG).json_value()
    return (shown - app.page.evaluate("window.pressed")) / 1000


def step(app: App) -> int:
    """The step a run is at, as its page says."""
    return int(app.page.locator(".st-key-train_numbers td").first.inner_text().split()[0].replace(",", ""))


def change(app: App, name: str) -> float:
    """Milliseconds from the press on a page's link until that page stands."""
    links = app.page.locator('[data-testid="stTopNavLink"]')
    here = "/" if not name else f"/{name}"
    place = links.evaluate_all("(links, path) => links.findIndex((link) => new URL(link.href).pathname === path)", here)
    links.nth(place).click()
    app.settle()
    return app.page.evaluate("window.answered - window.pressed")
