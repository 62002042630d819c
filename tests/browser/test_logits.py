"""The logits and tokens pages under a reader's hands: what a click and a key do."""

import re

from playwright.sync_api import Page, expect

from tests.browser.driver import App

RED = "The key is red. Answer: red."


def test_a_click_on_a_column_chooses_its_position(app: App, page: Page):
    app.open("logits", model="mg-1", text=RED, position=5)
    expect(page.get_by_text("at position 5 it expects")).to_be_visible()
    click_column(page, 9, of=15)
    expect(page.get_by_text("at position 9 it expects")).to_be_visible()
    app.settle()
    page.locator(".st-key-position button").nth(3).click()
    expect(page.get_by_text("at position 3 it expects")).to_be_visible()
    app.settle()
    click_column(page, 9, of=15)  # the chart still has column 9 selected: this click frees it
    expect(page.get_by_text("at position 9 it expects")).to_be_visible()


def click_column(page: Page, column: int, of: int) -> None:
    """Click high above the bar, where only the clear column is; 31 and 92 px are the chart's margins."""
    box = page.locator(".st-key-losses canvas").first.bounding_box()
    x = box["x"] + 31 + (box["width"] - 31 - 92) * (column + 0.5) / of
    page.mouse.move(x, box["y"] + 26)
    page.mouse.click(x, box["y"] + 28)


def test_the_keys_n_and_p_replay_the_merges(app: App, page: Page):
    app.open("tokens", text=RED)
    rule = page.locator(".st-key-rule")
    for rank in (0, 1):
        page.keyboard.press("n")
        expect(rule.get_by_text(re.compile(f"rank {rank}:"))).to_be_visible()
        app.settle()
    page.keyboard.press("p")
    expect(rule.get_by_text(re.compile("Step 1 of 12, rank 0:"))).to_be_visible()
