"""Every page opens, light and dark, with English, Chinese and hostile text, full and uncut at two widths."""

import pytest
from playwright.sync_api import expect

PAGES = ["", "tokens", "stages", "attention", "logits", "training", "sampling", "corpus", "models"]
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 22, 29)"}
CASES = [
    pytest.param("A cat sat by the door.", "light", id="english"),
    pytest.param("春眠不觉晓，处处闻啼鸟。", "dark", id="chinese"),
    pytest.param("<img src=x onerror=alert(1)>\t$x$ **b** ![i](//e.cc/i.png)", "dark", id="hostile"),
]


def test_the_navigation_shows_these_pages(app):
    app.open("")
    assert app.pages() == PAGES


@pytest.mark.parametrize(("text", "color_scheme"), CASES)
@pytest.mark.parametrize("name", PAGES)
def test_page_is_full_and_uncut(app, request, name, text, color_scheme):
    page = app.open(name, text=text)
    picture = f"{name or 'overview'}-{request.node.callspec.id.split('-')[-1]}"
    app.screenshot(picture)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    background = page.get_by_test_id("stApp").evaluate("e => getComputedStyle(e).backgroundColor")
    assert background == BACKGROUNDS[color_scheme]
    assert app.filled() > 0.8
    page.set_viewport_size({"width": 820, "height": 1180})
    app.settle()
    app.screenshot(f"{picture}-narrow")
    app.assert_no_overflow()
