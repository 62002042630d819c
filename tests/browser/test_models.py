"""The models page in a browser: a mark is chosen, a changed shape goes to the explorer and to training."""

import re
from urllib.parse import unquote

from playwright.sync_api import Locator, Page, expect

from tests.browser.driver import App


def metric(page: Page, label: str) -> Locator:
    tile = page.get_by_test_id("stMetric").filter(has_text=label).first
    return tile.get_by_test_id("stMetricValue")


def test_a_mark_chooses_its_change_and_the_keyboard_takes_it_back(app: App, page: Page):
    app.open("models", shape="gpt2-small")
    mark = page.get_by_role("button", name="4 Grouped queries").last
    mark.click()
    app.settle()
    expect(page.get_by_test_id("stMain")).to_contain_text("pairs instead of 12")
    expect(page.get_by_role("button", name="4 Grouped queries").last).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="4 Grouped queries").last.press("Enter")
    app.settle()
    expect(page.get_by_test_id("stMain")).to_contain_text("Choose a change.")


def test_a_changed_shape_is_looked_at(app: App, page: Page):
    app.open("models", shape="mg-1")
    page.locator(".st-key-models_mg-1_layers input").fill("2")
    page.keyboard.press("Enter")
    app.settle()
    page.get_by_text("Residual connections").click()
    app.settle()
    page.wait_for_url(lambda url: "shape=mg-1~layers=2~residual=false" in unquote(url))
    page.get_by_role("button", name="Explore it untrained").click()
    page.get_by_role("heading", name="Inside a GPT, from text to loss").wait_for()
    app.settle()
    expect(metric(page, "Parameters")).to_have_text("17,091")


def test_a_changed_shape_is_trained(app: App, page: Page):
    app.open("models", shape="mg-1~layers=2~residual=false")
    page.get_by_role("button", name="Train this").click()
    page.get_by_role("heading", name="How it learns").wait_for()
    app.settle()
    expect(page.get_by_text("From the Models page: residual=false.")).to_be_visible()
    page.locator(".st-key-train_start button").click()
    page.wait_for_url(re.compile("[?&]run="))


def test_wrong_values_are_named_and_the_page_stays(app: App, page: Page):
    app.open("models", shape="mg-1")
    page.locator(".st-key-models_mg-1_heads input").fill("3")
    page.keyboard.press("Enter")
    app.settle()
    expect(page.get_by_text("the nearest widths that work are 15 and 18")).to_be_visible()
    expect(page.get_by_role("heading", name="Open a GPT-2 model")).to_be_visible()
    page.get_by_role("button", name="Back to mg-1").click()
    app.settle()
    expect(metric(page, "Parameters")).to_have_text("13,875")
