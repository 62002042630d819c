"""Which browser this is: a secret in a cookie, so that a reader finds the runs made here, and nobody else's."""

import re
import secrets

import streamlit as st

COOKIE = "minigpt_browser"
_KEEP = st.components.v2.component(
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


def secret() -> str:
    """The secret of this browser: the one of its cookie, or a new one for this session until it has a cookie."""
    kept = st.context.cookies.get(COOKIE)
    if _usable(kept) and COOKIE not in st.session_state:
        return kept
    return st.session_state.setdefault(COOKIE, secrets.token_hex(16))


def keep() -> None:
    """Leave the cookie in the browser. Where another tab left one first, this session takes that one."""
    if COOKIE in st.session_state:
        data = {"name": COOKIE, "secret": st.session_state[COOKIE]}
        _KEEP(key="browser_cookie", data=data, on_kept_change=_take_kept)


def _take_kept() -> None:
    kept = st.session_state["browser_cookie"].get("kept")
    if _usable(kept):
        st.session_state[COOKIE] = kept


def _usable(secret) -> bool:
    return isinstance(secret, str) and re.fullmatch("[0-9a-f]{32}", secret) is not None
