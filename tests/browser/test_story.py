"""The whole story once, as a teacher clicks through it before class."""

import re
from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from minigpt.inspection.record import inspect_record
from minigpt.inspection.sources import load_source


def parameters(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(url).query).items()}


def wait_for_address(page: Page, **params: str) -> None:
    """Wait until the address has these URL parameters."""
    page.wait_for_url(lambda url: params.items() <= parameters(url).items())


def chip(page: Page, text: str, key: str = "position"):
    return page.locator(f".st-key-{key} button.chip").filter(has_text=text).first


def test_from_a_typed_record_to_its_loss(app, page):
    app.open("")
    box = page.get_by_label("Record")
    box.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("The key is blue. Answer: blue.")
    expect(chip(page, "blu")).to_be_visible()
    app.settle()
    wait_for_address(page, text="The key is blue. Answer: blue.")

    chip(page, "is·").click()
    page.keyboard.press("ArrowRight")
    app.settle()
    wait_for_address(page, position="6")
    expect(page.locator(".st-key-position [aria-pressed=true]")).to_contain_text("blu")

    page.locator(".st-key-pipeline button.box").filter(has_text="Attention").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Who reads whom?")
    app.settle()
    expect(page).to_have_url(re.compile(r"/attention\?"))
    expect(page.get_by_text("Block 0, head 0: position 6, blu")).to_be_visible()

    page.get_by_role("link", name="Logits").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What would it say next?")
    app.settle()
    wait_for_address(page, position="6")


def test_stages_by_arrow_keys_and_the_numbers_follow_the_step(app, page):
    app.open("stages", model="mg-1", text="The key is red. Answer: red.", position=5, stage="block_input")
    expect(page.get_by_text("= 0.04615491391521349")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    app.settle()
    wait_for_address(page, stage="norm1")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("ArrowLeft")
    app.settle()
    wait_for_address(page, stage="block_input")

    app.open("stages", step=100, text="The key is red. Answer: red.", position=5, stage="block_input")
    model, tokenizer = load_source("mini-gpt", 100)
    shown = inspect_record(model, tokenizer, "The key is red. Answer: red.", 5)["stages"][2]["values"][0]
    expect(page.get_by_text(f"= {shown!r}")).to_be_visible()
    page.locator(".st-key-step_choice input").focus()
    page.keyboard.press("Home")
    app.settle()
    wait_for_address(page, step="0")
    expect(page.get_by_text("= 0.04615491391521349")).to_be_visible()


def test_clicking_a_cell_opens_its_dot_product(app, page):
    app.open("attention", step=100, text="the cat the cat", position=3)
    expect(page.get_by_role("heading", name="Query 3 and key 0 in numbers")).to_be_visible()
    page.get_by_role("application", name="Weights of block 0, head 0").focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("heading", name="Query 2 and key 0 in numbers")).to_be_visible()
    app.settle()
    wait_for_address(page, position="2")


def test_a_record_that_does_not_fit_loses_nothing(app, page):
    app.open("tokens")
    box = page.get_by_label("Record")
    box.click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.get_by_text("is empty; type at least one character")).to_be_visible()
    page.keyboard.type("法" * 25)
    expect(page.get_by_text("the context length is 64")).to_be_visible()
    expect(box).to_have_value("法" * 25)
    page.keyboard.press("Control+a")
    page.keyboard.type("ok")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    app.settle()


def test_a_link_and_a_refresh_reproduce_the_view(app, page):
    app.open("logits", model="mg-1", text="The key is red. Answer: red.", position=5)
    before = page.url
    expect(page.get_by_text("5.574", exact=False).first).to_be_visible()
    page.reload()
    app.settle()
    expect(page).to_have_url(before)
    expect(page.get_by_text("5.574", exact=False).first).to_be_visible()


def test_the_experiments_pass(app, page):
    app.open("", text="the cat the cat")
    page.get_by_role("button", name="Run the experiments").click()
    expect(page.get_by_text("12 of 12 checks passed. Their numbers are below.")).to_be_visible()
    app.settle()


def test_an_example_is_chosen_and_the_box_closes(app, page):
    app.open("tokens")
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("button", name="the·cat·the·cat").click()
    expect(page.get_by_role("button", name="the·cat·the·cat")).to_have_count(0)
    app.settle()
    wait_for_address(page, text="the cat the cat")


def test_back_leads_to_the_page_before_with_what_is_looked_at_now(app, page):
    app.open("")
    page.get_by_role("link", name="Tokens").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("How does text become ids and targets?")
    app.settle()
    chip(page, "red").click()
    page.wait_for_url(lambda url: parameters(url).get("position", "5") != "5")
    app.settle()
    position = parameters(page.url)["position"]
    page.get_by_role("link", name="Stages").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What each step computes")
    app.settle()
    for path in ("/tokens", "/"):
        page.go_back()
        app.settle()
        expect(page).to_have_url(re.compile(rf"{path}\?.*position={position}"))
