"""From an own file to its first sample in a real browser; and browsers that stay apart."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driver import App

LONG = 120_000  # ms; the machine may be busy
LINES = "".join(
    f"The {colour} key opens the {thing}.\n" for colour in ("red", "blue", "old") for thing in ("box", "door")
)
CHINESE = "".join(f"{a}山{b}水月，{b}花{a}雨声。\n" for a in "春夏秋冬" for b in "东南西北")
HOSTILE = (
    "<img src=x onerror=alert(1)> **b** $x$\n![i](http://example.invalid/i.png) :red[c]\n\tTab and two  spaces\n" * 3
)


def bring(page: Page, app: App, name: str, text: str) -> None:
    """Upload a file and wait until it is the chosen corpus."""
    file = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    page.locator('.st-key-corpus_choice, [data-testid="stFileUploader"]').first.wait_for(timeout=LONG)
    page.locator('input[type="file"]').first.set_input_files(file)
    expect(page.get_by_text("is a record").first).to_be_visible(timeout=LONG)
    app.settle()


def chosen(page: Page) -> str:
    return page.evaluate("new URLSearchParams(location.search).get('corpus')")


def train(page: Page, app: App, preset: str, **fields: int) -> None:
    """Go on to the training page, set fields, press Start, wait for the end."""
    page.locator(".st-key-corpus_train button").click()
    expect(page.get_by_role("heading", name="How it learns")).to_be_visible(timeout=LONG)
    app.settle()
    for name, value in fields.items():
        box = page.locator(f".st-key-train_{preset}_{name} input")
        if not box.is_visible():
            page.get_by_text("More settings").click()
        box.fill(str(value))
        box.press("Enter")
        app.settle()
    page.locator(".st-key-train_start button").first.click()
    expect(page.get_by_text("Finished after")).to_be_visible(timeout=LONG)


def speak(page: Page, app: App) -> None:
    """From the run to the sampling page, which has drawn its texts then."""
    page.locator(".st-key-train_speak button").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("settings change its voice", timeout=LONG)
    app.settle()
    expect(page.locator('[data-testid="stAlertContentError"]')).to_have_count(0)


def test_from_an_own_file_to_its_first_sample(app, page):
    app.open("corpus")
    bring(page, app, "keys.txt", LINES * 4)
    app.screenshot("corpus-own")
    app.assert_no_overflow()
    train(page, app, "mg-1", steps=60)
    speak(page, app)
    app.screenshot("corpus-sample")
    expect(page).to_have_url(re.compile(r"model=run-"))
    expect(page).to_have_url(re.compile(r"The\+"))
    page.get_by_role("link", name="Overview").click()
    app.settle()
    expect(page.get_by_role("combobox", name="Model")).to_have_value(re.compile("keys: mg-1"))


@pytest.mark.parametrize("color_scheme", ["dark"])
def test_chinese_lines_speak_in_characters(app, page):
    app.open("corpus")
    bring(page, app, "诗.txt", CHINESE)
    app.screenshot("corpus-chinese")
    train(page, app, "poems", steps=21, batch_size=2)
    speak(page, app)
    app.screenshot("corpus-chinese-sample")


@pytest.mark.parametrize("viewport", [(820, 1180)])
def test_hostile_texts_and_names_do_nothing(app, page):
    app.open("corpus")
    bring(page, app, "<img src=x onerror=alert(1)>.txt", HOSTILE)
    app.screenshot("corpus-hostile-narrow")
    app.assert_no_overflow()
    for name in ("Split", "Batches", "Downloads"):
        page.get_by_role("tab", name=name).click()
        app.settle()
        app.assert_no_overflow()
    expect(page.get_by_text("Different texts")).to_have_count(0)
    page.get_by_role("tab", name="Split").click()
    expect(page.get_by_text("Different texts: 3; duplicates: 6, each grouped")).to_be_visible(timeout=LONG)
    app.settle()


def test_a_corpus_survives_a_refresh_and_no_other_browser_sees_it(browser, server, app, page):
    app.open("corpus")
    bring(page, app, "secret.txt", LINES)
    expect(page).to_have_url(re.compile("[?&]corpus="))
    address, id = page.url, chosen(page)
    page.goto(address)
    app.settle()
    expect(page).to_have_url(re.compile(rf"[?&]corpus={re.escape(id)}(&|$)"))
    expect(page.get_by_text("secret.txt: txt")).to_be_visible(timeout=LONG)
    page.get_by_role("link", name="Tokens").click()
    app.settle()
    page.get_by_role("link", name="Corpus").click()
    app.settle()
    expect(page.get_by_text("secret.txt: txt")).to_be_visible(timeout=LONG)
    other = App(browser, server, (1440, 900), "light")
    other.page.goto(address)
    other.settle()
    expect(other.page.get_by_text("this browser has no corpus")).to_be_visible(timeout=LONG)
    expect(other.page).not_to_have_url(re.compile("[?&]corpus="))
    assert "secret" not in other.page.content()
    other.close()
    assert not other.watch.faults()
