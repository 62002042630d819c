"""The reader's browser: which one it is, by a secret in a cookie, and what its history holds."""

import re
import secrets
from typing import TypeGuard

import streamlit as st

COOKIE = "minigpt_browser"
_COOKIE = st.components.v2.component(
    "minigpt.browser",
    html="<span></span>",
    js="""
export default function ({ data, setStateValue }) {
  const start = data.name + "=";
  const part = document.cookie.split("; ").find((part) => part.startsWith(start));
  const kept = part && part.slice(start.length);
  if (!/^[0-9a-f]{32}$/.test(kept)) document.cookie = `${start}${data.secret}; path=/; max-age=31536000; SameSite=Lax`;
  else if (kept !== data.secret) setStateValue("kept", kept);
}
""",
)
# Streamlit makes an entry each time a value of the address changes. What changes within a page replaces its entry.
_HISTORY = st.components.v2.component(
    "minigpt.address",
    html="<span></span>",
    js="""
export default function () {
  if (history.minigpt) return;
  const push = history.pushState.bind(history);
  history.pushState = (state, title, url) => {
    const same = new URL(url ?? location.href, location.href).pathname === location.pathname;
    if (same) history.replaceState(state, title, url);
    else push(state, title, url);
  };
  history.minigpt = true;
}
""",
)


def secret() -> str:
    """The secret of this browser: the one of its cookie, or a new one for this session until it has a cookie.

    A reader finds the runs made in this browser by it, and no one else's.
    """
    kept = st.context.cookies.get(COOKIE)
    if _usable(kept) and COOKIE not in st.session_state:
        return kept
    return st.session_state.setdefault(COOKIE, secrets.token_hex(16))


def keep() -> None:
    """Leave the cookie in the browser. Where another tab left one first, this session takes that one."""
    if COOKIE in st.session_state:
        data = {"name": COOKIE, "secret": st.session_state[COOKIE]}
        _COOKIE(key="browser_cookie", data=data, on_kept_change=_take_kept)


def one_entry_a_page() -> None:
    """Make the Back button lead to the page before; it lasts until the browser reloads the app."""
    _HISTORY(key="address")


def _take_kept() -> None:
    kept = st.session_state["browser_cookie"].get("kept")
    if _usable(kept):
        st.session_state[COOKIE] = kept


def _usable(cookie: str | None) -> TypeGuard[str]:
    return isinstance(cookie, str) and re.fullmatch("[0-9a-f]{32}", cookie) is not None
