"""In a language of longer words, every page: no sentence is left in English, nothing is cut, nothing overlaps."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from minigpt.inspection.stages import STAGES
from minigpt.presets import PRESETS, preset
from tests.browser import pseudo
from tests.browser.driver import App, Profile
from tests.browser.server import Server, serve
from tests.browser.test_smoke import PAGES
from tests.test_house import ROOT
from tests.test_house_sentences import extract

STREAMLITS_OWN = "— start"  # what its range slider adds to its label
TEXT = "春眠不觉晓，处处闻啼鸟。"
RUN = "0f9k-shipped"
# Names, formats, units of data and code: the same in every language.
NAMES = re.compile(
    r"""BOS|EOS|PAD|UNK|GPT|MG|BPE|AdamW|Hugging|Face|Streamlit|UTF|GB|Latin|JSON|Lines|csv|jsonl?|tsv|txt|safetensors|
    Mini|Explorer|[A-Za-z]+_[A-Za-z_0-9]+|\w+\.[\w.]+|float(?:32|64)|relu|gelu(?:_tanh)?|rms|ln|log|exp|sqrt|mean|var|max|
    sum|argmax|softmax|[kMG]?B|[A-Z]{1,3}|[0-9A-F]{2}|[KMG]iB|True|False|None|id|ids|norm[12]|residual[12]|
    scores|visible|weights|mixtures|joined|logits|mg|chapter|poems|numpy|demo|gpt|small|u?tf|U""",
    re.VERBOSE,
)
IGNORED = "pre, code, svg defs, style, script, [data-testid='stCode'], .katex, [aria-hidden='true']"
# Every visible text by the block it is in; placeholders, labels for screen readers, and words drawn on a canvas.
TEXTS = """([ignored]) => {
  const out = [];
  const inline = e => ['inline', 'inline-block', 'contents'].includes(getComputedStyle(e).display);
  const block = node => { let e = node.parentElement; while (e && e.parentElement && inline(e)) e = e.parentElement;
    return e || node.getRootNode().host; };
  const seen = new Set();
  const walk = root => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const e = node.parentElement;
      if (!node.textContent.trim() || (e && (e.closest(ignored) || !e.checkVisibility()))) continue;
      const b = block(node);
      if (seen.has(b)) continue;
      seen.add(b);
      out.push(['text', b.textContent.trim()]);
    }
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) walk(e.shadowRoot);
      if (!e.checkVisibility() || e.closest(ignored)) continue;
      for (const name of ['placeholder', 'aria-label', 'title', 'alt'])
        if (e.getAttribute(name)) out.push([name, e.getAttribute(name)]);
    }
  };
  walk(document.querySelector('[data-testid="stApp"]'));
  for (const text of window.drawnTexts || []) out.push(['canvas', text]);
  window.drawnTexts = new Set();
  return out;
}"""
NOTE_CANVAS = """window.drawnTexts = new Set();
for (const name of ['fillText', 'strokeText']) {
  for (const kind of [CanvasRenderingContext2D, self.OffscreenCanvasRenderingContext2D].filter(Boolean)) {
    const draw = kind.prototype[name];
    kind.prototype[name] = function (text, ...rest) {
      window.drawnTexts.add(String(text)); return draw.call(this, text, ...rest); };
  }
}"""
# Streamlit's own words, which a catalogue of ours does not reach.
FRAME = re.compile(
    r"""Skip\ to\ (?:main\ )?content|Link\ to\ heading|(?:Press|Click).*|Running.*|Upload|Browse\ files?|
    Drag\ and\ drop.*|.*per\ file.*|Fullscreen:?|Show\ data|Search|Download\ (?:as|plot).*|Copy.*|Help\ .*|Close.*|
    Clear.*|Choose.*|Select.*|Open|View\ \w+|Main\ menu|Deploy|Stop|Show.*visibility.*|Show/hide.*|Increment.*|
    Decrement.*|step\ (?:up|down)|\w+\ toolbar|No\ (?:results|options).*|Scroll\ (?:left|right)|more|Fork|
    (?:Expand|Collapse|Remove|Delete|Toggle).*|close|Produced\ with\ Plotly.*|Chart|file\ upload.*|\w+_\w+|\w+\ icon|
    Shortcut.*|Scroll\ tabs.*|Show\ data:|Zoom.*|Autoscale|Reset\ axes|Pan|Box\ Select|Lasso\ Select|/[\w/]+""",
    re.VERBOSE | re.IGNORECASE,
)
# Boxes side by side or below each other that lie on one another, and words that stick out of their box.
BOXES = """() => {
  const out = [], say = e => (e.getAttribute('aria-label') || e.textContent || '').trim().slice(0, 50);
  const seen = e => e.checkVisibility({checkVisibilityCSS: true, checkOpacity: true});
  const look = root => {
    for (const e of root.querySelectorAll(
        'button, label, a[data-testid="stTopNavLink"], [role="tab"], [role="option"], .chip, ' +
        '[data-testid^="stMetric"] *')) {
      if (!seen(e) || e.clientWidth < 4) continue;
      const style = getComputedStyle(e);
      if (e.scrollWidth > e.clientWidth + 1 && style.display !== 'inline' && style.overflowX !== 'auto')
        out.push(`cut: ${e.tagName} ${say(e)}: ${e.clientWidth} of ${e.scrollWidth} px`);
    }
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) look(e.shadowRoot);
  };
  look(document);
  const flows = '[data-testid="stHorizontalBlock"], [data-testid="stVerticalBlock"]';
  for (const block of document.querySelectorAll(flows)) {
    const parts = [...block.children].filter(seen).map(e => [e, e.getBoundingClientRect()])
      .filter(([, box]) => box.width > 2 && box.height > 2);
    for (let i = 1; i < parts.length; i++) {
      const [a, one] = parts[i - 1], [b, two] = parts[i];
      const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (wide > 2 && high > 2) out.push(`overlap of ${Math.round(wide)} x ${Math.round(high)}: ${say(a)} | ${say(b)}`);
    }
  }
  return out;
}"""
FAULTS = {  # an address of each page that says something wrong
    "": {"model": "nothing"},
    "tokens": {"text": ""},
    "stages": {"stage": "nothing", "step": 77},
    "attention": {"position": 5000, "head": 99},
    "logits": {"step": "abc"},
    "training": {"run": "nothing"},
    "sampling": {"text": "春" * 90},
    "corpus": {"corpus": "nothing"},
    "models": {},
}


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app in the language, with the shipped run among those that can be opened."""
    home = tmp_path_factory.mktemp("pseudo")
    pseudo.write_catalogue(extract(), home / "locale")
    shutil.copytree(ROOT / "data" / "mini-gpt" / "run", home / "runs" / RUN)
    settings = {"MINIGPT_LANGUAGE": pseudo.LANGUAGE, "MINIGPT_LOCALE": str(home / "locale")}
    with serve(home, settings=settings) as server:
        yield server


@pytest.fixture(scope="module")
def profile(browser: Browser, server: Server) -> Iterator[Profile]:
    profile = Profile(browser, server)
    yield profile
    profile.close()


@pytest.fixture(scope="module")
def known() -> str:
    """The texts, names and formulas that pages show as they are."""
    model = preset("mg-1").model
    formulas = [spec.formula(model, block) for spec in STAGES for block in (0, 1)]
    return "\n".join([*formulas, *PRESETS, STREAMLITS_OWN]) + "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in (ROOT / "data").rglob("*")
        if path.suffix in (".txt", ".json", ".jsonl", ".csv") and path.stat().st_size < 1_000_000
    )


class Look:
    """What is wrong in everything that was shown, each once, with where it was first seen."""

    def __init__(self, app: App, known: str) -> None:
        self.app, self.known, self.found = app, known, dict[str, str]()

    def __call__(self, where: str) -> None:
        for kind, text in self.app.page.evaluate(TEXTS, [IGNORED]):
            if rest := self._english(text):
                self.found.setdefault(f"{kind}: {rest[:110]}", where)
        for fault in [*self.app.page.evaluate(BOXES), *self.app.cut_off()]:
            self.found.setdefault(fault, where)

    def _english(self, text: str) -> str:
        """What of a text is English and should not be."""
        rest = pseudo.outside(text).strip()
        if FRAME.fullmatch(rest) or rest in self.known:
            return ""
        words = [word for word in re.findall(r"[A-Za-z][A-Za-z_.0-9]*[A-Za-z0-9]", rest) if not NAMES.fullmatch(word)]
        return rest if any(word not in self.known for word in words) or len(words) > 4 else ""

    def everything(self, where: str) -> None:
        """Look at the page, then at each of its tabs, boxes that fold out, and popovers."""
        self(where)
        page = self.app.page
        for kind in ('[data-testid="stExpander"] summary', '[role="tab"]', '[data-testid="stPopoverButton"]'):
            for number in range(page.locator(kind).count()):
                part = page.locator(kind).nth(number)
                if not part.is_visible() or not part.is_enabled():
                    continue
                part.click()
                self.app.settle()
                self(f"{where}, {kind.split('=')[-1][:12]} {number}")
                if "Popover" in kind:
                    page.keyboard.press("Escape")
                    self.app.settle()

    def report(self) -> None:
        lines = [f"{where}: {what}" for what, where in self.found.items()]
        assert not lines, f"{len(lines)} findings\n" + "\n".join(lines)


@pytest.fixture
def look(app: App, known: str) -> Look:
    app.page.add_init_script(NOTE_CANVAS)
    return Look(app, known)


@pytest.mark.parametrize("viewport", [(1440, 900), (820, 1180)], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", PAGES)
def test_page(app, look, viewport, name):
    app.open(name, text=TEXT)
    assert len(app.pages()) == len(PAGES)
    look.everything(name or "overview")
    app.open(name, **FAULTS[name])
    look(f"{name or 'overview'} with a wrong link")
    look.report()


def test_a_run(app, look):
    app.open("training", run=RUN)
    look.everything("a run")
    look.report()


def test_a_file(app, page, look):
    app.open("corpus")
    for name, text in {
        "诗.txt": "".join(f"{a}山{b}水月，{b}花{a}雨声。\n" for a in "春夏秋冬" for b in "东南西北"),
        "表.csv": '一,二\n春,夏\n秋\n"冬\n',
        "坏.json": "{",
        "空.txt": "",
    }.items():
        file = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        page.locator('input[type="file"]').first.set_input_files(file)
        page.wait_for_timeout(500)
        app.settle()
        look.everything(Path(name).suffix)
    look.report()
