"""What readers bring is text and nothing else: no page makes a link or a picture of it, and it shows as typed."""

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driver import App
from tests.browser.test_corpus import LONG, speak, train
from tests.browser.test_smoke import PAGES

HOSTILE = [
    "http://x.example",
    "https://x.example/a?b=c",
    "www.x.example",
    "a@b.co",
    "mailto:a@b.co",
    "xmpp:a@b.co",
    "<http://x.example>",
    "[a](http://x.example)",
    "![i](http://x.example/i.png)",
    "<img src=x onerror=alert(1)>",
    ":streamlit: :material_face: :smile: -> b",
]
RECORDS = [  # of at most 63 bytes, as long as a record may be
    "http://x.example https://x.example/a?b=c www.x.example a@b.co",
    "mailto:a@b.co xmpp:a@b.co <http://x.example>",
    "[a](http://x.example) ![i](http://x.example/i.png)",
    "<img src=x onerror=alert(1)> :streamlit: :smile: -> b",
]
# Every link and picture but the app's own, and all text that can be read, in components too.
LOOK = """() => {
  const own = ['stTopNavLink', 'stSidebarNavLink', 'stPageLink-NavLink', 'stSkipToContent'];
  const isOwn = e => (own.includes(e.dataset.testid) || e.getAttribute('aria-label') === 'Link to heading')
    && e.href.startsWith(location.origin + '/');
  const links = [], texts = [];
  const walk = root => {
    for (const e of root.querySelectorAll('a, img')) if (!isOwn(e)) links.push(e.outerHTML.slice(0, 200));
    for (const e of root.querySelectorAll('input, textarea')) texts.push(e.value);
    texts.push(root === document ? document.body.innerText : root.textContent);
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) walk(e.shadowRoot);
  };
  walk(document);
  return [links, texts.join('\\n')];
}"""


def look(page: Page, *shown: str) -> None:
    """Fail when there is a link or a picture that is not the app's own, or one of the texts cannot be read."""
    links, text = page.evaluate(LOOK)
    assert links == []
    assert [one for one in shown if one not in text] == []


def open_all(page: Page, app: App) -> None:
    """Look at all tabs and boxes that fold out."""
    for kind in ('[data-testid="stExpander"] summary', '[role="tab"]'):
        for part in page.locator(kind).all():
            part.click()
            app.settle()
            look(page)


@pytest.mark.parametrize("name", PAGES)
def test_a_record_is_text(app, page, name):
    for text in RECORDS:
        app.open(name, text=text)
        look(page, *([] if name in ("training", "corpus", "models", "sampling") else [text]))
    if name not in ("training", "corpus", "models"):
        open_all(page, app)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("", "position"), ("stages", "stage"), ("logits", "model"), ("corpus", "corpus"), ("training", "run")],
)
def test_what_a_link_says_is_text(app, page, name, parameter):
    for text in HOSTILE if name == "stages" else [" ".join(HOSTILE[:7])]:  # an id is quoted up to 120 characters
        app.open(name, **{parameter: text})
        look(page)
        expect(page.get_by_test_id("stAlert").filter(has_text=text)).not_to_have_count(0)


def test_the_path_of_a_folder_is_text(app, page):
    app.open("models")
    box = page.get_by_label("Path of a folder on this computer")
    for text in HOSTILE:
        box.fill(text)
        box.press("Enter")
        app.settle()
        look(page)
        text = str(Path(text))  # the sentence says it as the computer does, with one slash for two
        expect(page.get_by_test_id("stAlert").filter(has_text=text)).not_to_have_count(0)


def test_a_file_and_a_run_are_text(app, page):
    """Its name, the names of its columns, its records, what is left out of it; then the run and its samples."""
    app.open("corpus")
    table = io.StringIO()
    rows = [HOSTILE, *([f"{cell} {row}" for cell in HOSTILE] for row in range(40)), HOSTILE[:1]]
    csv.writer(table).writerows(rows)
    name = "www.x.example a@b.co <img src=x onerror=alert(1)> :smile:.csv"
    file = {"name": name, "mimeType": "text/csv", "buffer": table.getvalue().encode()}
    page.locator('input[type="file"]').first.set_input_files(file)
    expect(page.get_by_text("Column of the texts")).to_be_visible(timeout=LONG)
    app.settle()
    look(page, name, *HOSTILE)
    page.get_by_test_id("stButtonGroup").get_by_text(HOSTILE[0], exact=True).click()
    expect(page.get_by_text("Not read yet")).to_be_visible(timeout=LONG)
    app.settle()
    look(page, f"{name}, line 42")
    page.get_by_role("button", name="Go on without this record").click()
    expect(page.get_by_text("Records left out: 1")).to_be_visible(timeout=LONG)
    app.settle()
    look(page, name)
    open_all(page, app)
    train(page, app, "mg-1", steps=20)
    app.settle()
    look(page, "www.x.example a@b.co")
    open_all(page, app)
    speak(page, app)
    look(page)
    for other in PAGES:
        page.get_by_role("link", name="Overview" if not other else other.title(), exact=True).click()
        app.settle()
        look(page)
        if not other:  # the whole name of the run, which its box is too narrow for
            page.locator('.st-key-model_choice [data-testid="stTooltipHoverTarget"]').hover()
            expect(page.get_by_test_id("stTooltipContent")).to_contain_text("www.x.example a@b.co")
            look(page)
