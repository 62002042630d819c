"""The sampling page in a browser: tokens arrive, a click shows a draw, hostile output stays text."""

import re

from playwright.sync_api import expect


def test_long_texts_arrive_little_by_little_and_a_click_shows_the_draw(app, page):
    page.goto("/sampling?model=chapter-7&prompt=The+&columns=0,0,1,1,120;1,20,1,7,400,slide")
    expect(page.get_by_text("tokens so far …").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Stopped at the requested length, 400 tokens.")).to_be_visible(timeout=120_000)
    app.settle()
    chip = page.locator(".st-key-tokens_1 button.chip").nth(30)
    chip.click()
    app.settle()
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Column B, token 31:")).to_be_visible()
    chip.press("ArrowRight")
    app.settle()
    expect(page.get_by_text("Column B, token 32:")).to_be_visible()
    app.assert_no_overflow()


def test_a_typed_prompt_and_the_next_button(app, page):
    app.open("sampling")
    box = page.get_by_label("Prompt")
    box.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("<b>$x$</b> **y**\n")
    app.settle()
    expect(page).to_have_url(re.compile("prompt=%3Cb%3E"))
    page.get_by_text("Token by token").click()
    app.settle()
    for count in (1, 2):
        page.get_by_role("button", name="Next token").click()
        expect(page.locator(".st-key-tokens_0 button.chip")).to_have_count(count)
        app.settle()
    expect(page.get_by_text("2 tokens so far …").first).to_be_visible()


def test_the_same_link_gives_the_same_texts_in_another_window(app, page):
    app.open("sampling", prompt="法", columns="1.5,0,1,3,30;2,50,0.95,4,30", step=50)
    codes = page.locator('[data-testid="stCode"] code')
    expect(codes).to_have_count(2)
    expect(page.get_by_text("tokens so far …")).to_have_count(0)
    first = codes.all_inner_texts()
    app.open("sampling", prompt="法", columns="1.5,0,1,3,30;2,50,0.95,4,30", step=50)
    expect(codes).to_have_count(2)
    expect(page.get_by_text("tokens so far …")).to_have_count(0)
    assert codes.all_inner_texts() == first


def test_settings_open_when_asked_and_stay_open_while_they_change(app, page):
    app.open("sampling")
    fields = page.get_by_test_id("stNumberInput")
    expect(fields).to_have_count(0)
    page.locator(".st-key-settings_1 button").first.click()
    temperature = page.get_by_role("spinbutton", name="Temperature")
    temperature.fill("0.5")
    temperature.press("Enter")
    app.settle()
    expect(page.get_by_text("T 0.5 · seed 31415")).to_be_visible()
    expect(fields).to_have_count(5)
    page.get_by_role("spinbutton", name="Top-k").fill("7")  # not confirmed: going elsewhere does
    page.locator(".st-key-settings_2 button").first.click()
    app.settle()
    expect(page.get_by_text("T 0.5 · top-k 7 · seed 31415")).to_be_visible()
    expect(page.get_by_role("spinbutton", name="Top-k")).to_have_value("20")
    page.keyboard.press("Escape")
    app.settle()
    expect(fields).to_have_count(0)
    page.locator(".st-key-settings_1 button").first.click()
    expect(page.get_by_role("spinbutton", name="Top-k")).to_have_value("7")


def test_the_bars_of_a_draw_have_one_scale_and_mark_what_was_drawn(app, page):
    app.open("sampling", columns="1.5,12,0.9,1,30;0,0,1,1,9", step=50)
    page.locator(".st-key-tokens_0 button.chip").first.click()
    app.settle()
    region = page.get_by_role("region", name="The distribution after every filter")
    rows = region.locator("tbody tr")
    drawn = region.locator("tr[aria-current]")
    expect(drawn).to_have_count(1)
    expect(rows.last).to_contain_text("2 blocked")
    expect(rows.last.locator("td.gone")).to_have_text(["removed"] * 3)
    scales = rows.evaluate_all("""(rows) => rows.flatMap((row) => [...row.querySelectorAll("td.bar:not(.gone)")]
        .map((cell) => parseFloat(getComputedStyle(cell, "::before").width) / parseFloat(cell.title))
        .filter((scale, at) => parseFloat(row.querySelectorAll("td.bar:not(.gone)")[at].title) > 0.1))""")
    assert len(scales) > 4 and max(scales) / min(scales) < 1.02
    app.assert_no_overflow()
