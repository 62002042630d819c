"""The harness itself: a small app with one fault a page, and each fault must be found."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.driver import App, Profile
from tests.browser.server import ROOT, Server, serve

SAMPLE = """
import time
import streamlit as st

st.set_page_config(page_icon="📈", layout="wide")

def good():
    st.title("Good")
    if st.button("Count", key="count"):
        time.sleep(0.6)
        st.session_state.n = st.session_state.get("n", 0) + 1
    st.text(f"n={st.session_state.get('n', 0)}")

def slow():
    st.title("Slow")
    time.sleep(0.7)
    if st.session_state.setdefault("again", True):
        st.session_state.again = False
        st.rerun()
    st.text("second run")

def broken():
    raise ValueError("a broken page")

def external():
    st.markdown("![picture](http://127.0.0.2:9/picture.png)")

def wide():
    st.html("<div style='width: 3000px; height: 20px; background: red'>wide</div>")
    style = "width: 60px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap"
    st.html(f"<div style='{style}'>shortened text</div>")
    st.code("scrolls by itself " * 100)

views = [good, slow, broken, external, wide]
home = st.Page(good, url_path="", default=True)
st.navigation([home, *(st.Page(view, url_path=view.__name__) for view in views[1:])]).run()
"""


@pytest.fixture(scope="module")
def sample(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root: Path = tmp_path_factory.mktemp("sample")
    (root / "app.py").write_text(SAMPLE, encoding="utf-8")
    shutil.copytree(ROOT / ".streamlit", root / ".streamlit")
    with serve(home=root, root=root) as server:
        yield server


@pytest.fixture(scope="module")
def profile(browser: Browser, sample: Server) -> Iterator[Profile]:
    profile = Profile(browser, sample)
    yield profile
    profile.close()


@pytest.fixture
def window(browser: Browser, sample: Server, profile: Profile) -> Iterator[Callable[..., App]]:
    opened: list[App] = []

    def new(size: tuple[int, int] = (1000, 700), scheme: str = "light") -> App:
        opened.append(App(browser, sample, size, scheme, profile))
        return opened[-1]

    yield new
    for app in opened:
        app.close()


def test_good_page_has_no_fault_and_follows_the_color_scheme(window):
    backgrounds = []
    for scheme in ("light", "dark"):
        app = window(scheme=scheme)
        page = app.open("")
        assert app.watch.faults() == [] and app.cut_off() == []
        assert app.pages() == ["", "slow", "broken", "external", "wide"]
        backgrounds.append(page.get_by_test_id("stApp").evaluate("e => getComputedStyle(e).backgroundColor"))
    assert backgrounds[0] == "rgb(255, 255, 255)" and backgrounds[1] != backgrounds[0]


def test_settle_waits_for_a_slow_click_and_for_a_rerun_the_script_asks_for(window):
    app = window()
    page = app.open("slow")
    assert page.get_by_text("second run").is_visible()
    page = app.open("")
    page.get_by_role("button", name="Count").click()
    app.settle()
    assert page.get_by_text("n=1").is_visible()


def test_a_profile_forgets_its_last_reader(window):
    app = window()
    page = app.open("")
    page.evaluate("localStorage.mine = 1; document.cookie = 'mine=1'")
    other = app.context.new_page()
    page.reload()
    assert page.evaluate("[localStorage.mine, document.cookie.includes('mine')]") == ["1", True]
    app.close()
    assert page.is_closed() and other.is_closed()
    page = window().open("")
    assert page.evaluate("[localStorage.mine ?? null, document.cookie.includes('mine')]") == [None, False]


def test_settle_says_what_it_waits_for(window):
    app = window()
    app.open("")
    app.page.get_by_role("button", name="Count").click()
    with pytest.raises(TimeoutError, match="not settled after 0 s .*asked"):
        app.settle(seconds=0.1)


def test_milliseconds_spans_the_server_s_work_and_refuses_what_is_already_there(window):
    app = window()
    page = app.open("")
    start = time.perf_counter()
    taken = app.milliseconds(page.get_by_role("button", name="Count").click, page.get_by_text("n=1"))
    assert 600 <= taken <= 1000 * (time.perf_counter() - start)
    with pytest.raises(ValueError, match="visible before the action"):
        app.milliseconds(lambda: None, page.get_by_text("n=1"))


def test_an_exception_is_a_fault_with_the_server_s_traceback(window):
    app = window()
    app.open("broken")
    faults = "\n".join(app.watch.faults())
    assert "exception on the page: ValueError" in faults
    assert "Traceback" in faults and "a broken page" in faults


def test_external_and_failed_requests_are_faults(window):
    app = window()
    with app.page.expect_event("requestfailed", lambda request: "127.0.0.2" in request.url):
        app.open("external")
    faults = "\n".join(app.watch.faults())
    assert "external: http://127.0.0.2:9/picture.png" in faults and "failed request" in faults


def test_console_and_javascript_errors_are_faults(window):
    app = window()
    page = app.open("")
    with page.expect_event("pageerror"), page.expect_console_message():
        page.evaluate("console.error('mistake one'); setTimeout(() => { throw new Error('mistake two'); })")
    faults = "\n".join(app.watch.faults())
    assert "console error: mistake one" in faults and "JavaScript error: mistake two" in faults


def test_cut_and_shortened_elements_are_found_but_not_scrolling_code(window):
    app = window()
    app.open("wide")
    cut = "\n".join(app.cut_off())
    assert "ends at" in cut and "shortened text" in cut and "pre " not in cut and "code " not in cut
    with pytest.raises(AssertionError, match="cut off"):
        app.assert_no_overflow()


def test_filled_and_show_all_measure_the_page(window):
    app = window(size=(1000, 200))
    app.open("")
    assert app.filled() > 0.5
    app.show_all()
    assert app.page.viewport_size["height"] > 200
    app.page.set_viewport_size({"width": 1000, "height": 2000})
    assert app.filled() < 0.5
