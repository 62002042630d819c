"""Live training in a real browser: the chart stays, the run stays, browsers stay apart, time can be travelled."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from minigpt.corpus.library import bundled
from tests.browser.driver import App

LONG = 120_000  # ms; the machine may be busy, and a tokenizer may have to be learned first
CORPORA = ("mini-gpt", "chinese-lines", "riddles")


def start(page: Page, **fields) -> str:
    """Fill number fields, press Start; the id of the run once its first step is on screen."""
    for name, value in fields.items():
        box = page.locator(f"[class*=st-key-train_][class*=_{name}] input").first
        box.fill(str(value))
        box.press("Enter")
    before = run_id(page)
    button(page, "start").click()
    page.wait_for_function("(old) => new URLSearchParams(location.search).get('run') !== old", arg=before, timeout=LONG)
    wait_for_step(page, 1)
    return run_id(page)


def run_id(page: Page) -> str | None:
    return page.evaluate("new URLSearchParams(location.search).get('run')")


def wait_for_address(page: Page, name: str, id: str) -> None:
    """Wait until the address is that of a page that shows the run `id`."""
    expect(page).to_have_url(re.compile(rf"/{name}\?(.*&)?run={re.escape(id)}(&|$)"), timeout=LONG)


def button(page: Page, name: str):
    """A button of the page; Streamlit keeps an invisible copy of one that has a tooltip."""
    return page.locator(f".st-key-train_{name} button").first


def step(page: Page):
    return page.locator(".st-key-train_numbers td").first


def at_step(page: Page) -> int:
    return int(step(page).inner_text().split()[0].replace(",", ""))


def wait_for_step(page: Page, least: int) -> None:
    page.wait_for_function(
        "(n) => Number(document.querySelector('.st-key-train_numbers td')?.innerText.split(' ')[0]"
        ".replace(',', '')) >= n",
        arg=least,
        timeout=LONG,
    )


# The greatest whole number on the axes of the loss chart, drawn as SVG.
LAST_LABEL = """() => Math.max(...[...document.querySelectorAll('.st-key-loss_curves svg text')]
  .map(e => e.textContent.replace(',', '')).filter(label => /^[0-9]+$/.test(label)).map(Number))"""


def test_the_chart_stays_in_place_and_keeps_its_zoom_while_the_run_goes_on(app, page):
    app.open("training")
    start(page, steps=20_000)
    page.locator(".st-key-train_picture").get_by_text("SVG").click()
    axis = page.locator(".st-key-loss_curves svg text")
    expect(axis.first).to_be_visible(timeout=LONG)
    handle = page.locator(".st-key-train_span_20000 input[type=range]").last
    handle.focus()
    page.keyboard.press("Home")  # the upper end to the lower one, then up again
    for _ in range(5):
        page.keyboard.press("PageUp")
    page.wait_for_function(f"() => {{ const last = ({LAST_LABEL})(); return last > 0 && last < 20000; }}", timeout=LONG)
    wait_for_step(page, at_step(page) + 1)
    shown = page.locator(".st-key-train_span_20000").inner_text()
    page.evaluate("document.querySelector('.st-key-loss_curves svg').dataset.mark = 'same'")
    last = page.evaluate(LAST_LABEL)
    wait_for_step(page, at_step(page) + 30)
    assert page.locator(".st-key-train_span_20000").inner_text() == shown
    assert page.evaluate(LAST_LABEL) == last
    assert page.evaluate("document.querySelector('.st-key-loss_curves svg').dataset.mark") == "same"
    button(page, "stop").click()
    expect(page.get_by_text("it can be resumed there")).to_be_visible(timeout=LONG)


def test_a_refresh_another_page_and_a_closed_tab_keep_the_run(app, page):
    tab = app.context.new_page()
    tab.goto("/training")
    id = start(tab, steps=20000)
    before = at_step(tab)
    tab.close()
    page.goto(f"/training?run={id}")
    expect(step(page)).to_be_visible(timeout=LONG)
    wait_for_step(page, before + 1)
    before = at_step(page)
    page.reload()
    expect(step(page)).to_be_visible(timeout=LONG)
    wait_for_address(page, "training", id)
    assert at_step(page) >= before
    page.get_by_role("link", name="Tokens").click()
    wait_for_address(page, "tokens", id)
    page.get_by_role("link", name="Training").click()
    wait_for_address(page, "training", id)
    expect(step(page)).to_be_visible(timeout=LONG)
    wait_for_step(page, before + 1)
    before = at_step(page)
    button(page, "stop").click()
    expect(page.get_by_text("Stopped after step")).to_be_visible(timeout=LONG)
    app.settle()  # the number stands below the sentence and comes after it
    stopped = at_step(page)
    page.wait_for_timeout(1500)
    assert at_step(page) == stopped
    page.keyboard.press("p")
    expect(button(page, "pause")).to_be_visible(timeout=LONG)
    wait_for_step(page, stopped + 1)
    page.keyboard.press("x")
    expect(page.get_by_text("Stopped after step")).to_be_visible(timeout=LONG)


def test_three_browsers_train_at_once_and_see_only_their_own(browser, server):
    apps = [App(browser, server, (1200, 900), "light") for _ in range(3)]
    try:
        runs = []
        for place, app in enumerate(apps):
            app.open("training", corpus=CORPORA[place])
            runs.append(start(app.page, steps=50_000 + place))
            told = json.loads((server.log.parent / "runs" / runs[-1] / "run.json").read_text())
            records = bundled(CORPORA[place]).corpus()
            assert (told["corpus_hash"], told["training"]["steps"]) == (records.hash, 50_000 + place)
        before = at_step(apps[1].page)
        apps[1].page.reload()
        expect(step(apps[1].page)).to_be_visible(timeout=LONG)
        wait_for_address(apps[1].page, "training", runs[1])
        assert at_step(apps[1].page) >= before
        for place, app in enumerate(apps):
            expect(step(app.page)).to_contain_text(f"{50_000 + place:,}", timeout=LONG)
            app.page.locator(".st-key-run_choice").click()
            options = app.page.get_by_role("option")
            expect(options).to_have_count(1)
            expect(options.first).to_contain_text(runs[place][-4:])
            app.page.keyboard.press("Escape")
        guest = apps[0].page
        guest.goto(f"/training?run={runs[1]}")
        expect(guest.get_by_text("Another browser made this run")).to_be_visible(timeout=LONG)
        expect(button(guest, "stop")).to_be_disabled(timeout=LONG)
        for app, id in zip(apps[1:], runs[1:], strict=True):
            button(app.page, "stop").click()
            expect(app.page.get_by_text("Stopped after step")).to_be_visible(timeout=LONG)
            wait_for_address(app.page, "training", id)
        guest.goto(f"/training?run={runs[0]}")
        expect(button(guest, "stop")).to_be_enabled(timeout=LONG)
        button(guest, "stop").click()
        expect(guest.get_by_text("Stopped after step")).to_be_visible(timeout=LONG)
    finally:
        for app in apps:
            app.close()
    faults = [fault for app in apps for fault in app.watch.faults()]
    assert not faults, faults


def test_play_walks_to_the_last_step_and_other_controls_work_meanwhile(app, page):
    app.open("", step=300)
    page.locator(".st-key-play_steps button").first.click()
    page.wait_for_function("() => Number(new URLSearchParams(location.search).get('step')) > 300", timeout=LONG)
    page.get_by_role("link", name="Attention").click()  # goes on, on another page
    expect(page.get_by_role("heading", level=1)).to_have_text("Who reads whom?", timeout=LONG)
    page.get_by_role("button", name="red", exact=False).first.click()
    page.wait_for_function("() => new URLSearchParams(location.search).get('step') === '600'", timeout=LONG)
    page.wait_for_function("() => new URLSearchParams(location.search).get('position') !== '5'", timeout=LONG)
    app.settle()
    assert page.evaluate("new URLSearchParams(location.search).get('step')") == "600"
    expect(page.locator(".st-key-play_steps")).not_to_contain_text("pause")


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [(1440, 900), (820, 900)])
def test_nothing_is_cut_off(app, page):
    app.open("training")
    app.assert_no_overflow()
    start(page, steps=20)
    wait_for_step(page, 20)
    app.settle()
    app.assert_no_overflow()
    app.screenshot(f"training-{page.viewport_size['width']}")


def test_samples_come_while_the_run_goes_on(app, page):
    app.open("training")
    start(page, steps=20_000)
    expect(page.locator(".st-key-live_samples")).to_be_visible(timeout=LONG)
    button(page, "stop").click()
    expect(page.get_by_text("it can be resumed there")).to_be_visible(timeout=LONG)


def test_reset_asks_first_and_the_curve_is_in_view(app, page):
    app.open("training")
    start(page, steps=20)
    expect(page.get_by_text("Finished after 20 steps")).to_be_visible(timeout=LONG)
    app.settle()
    curve = page.locator(".st-key-loss_curves").bounding_box()
    assert curve["y"] + curve["height"] <= 900
    page.keyboard.press("0")
    app.settle()
    assert at_step(page) == 20
    page.locator(".st-key-train_reset_box_some button").first.click()
    button(page, "reset").click()
    expect(page.get_by_text("Ready at step 0.")).to_be_visible(timeout=LONG)
    expect(page.locator(".st-key-train_reset")).to_have_count(0)


def test_two_tabs_opened_before_the_first_cookie_are_one_browser(app, page):
    tab = app.context.new_page()
    for one in (page, tab):
        one.goto("/")
        expect(one.locator(".st-key-pipeline")).to_be_visible(timeout=LONG)
    for one in (page, tab):  # without loading anew: each keeps the session it had
        one.get_by_role("link", name="Training").click()
        expect(button(one, "start")).to_be_visible(timeout=LONG)
    id = start(page, steps=5)
    expect(page.get_by_text("Finished after 5 steps")).to_be_visible(timeout=LONG)
    tab.get_by_role("link", name="Tokens").click()
    expect(tab.locator(".st-key-train_start")).to_have_count(0, timeout=LONG)
    tab.get_by_role("link", name="Training").click()
    tab.locator(".st-key-run_choice").click()
    expect(tab.get_by_role("option").first).to_contain_text(id[-4:], timeout=LONG)
    tab.close()
