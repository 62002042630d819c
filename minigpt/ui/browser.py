"""Which browser this is: a secret in a cookie, so that a reader finds the runs made here, and nobody else's."""

import re
import secrets

import streamlit as st

COOKIE = "minigpt_browser"
_KEEP = st.components.v2.component(
    "minigpt.browser",
    html="<span></span>",
    js="""
export default function ({ data }) {
  const kept = document.cookie.split("; ").some((part) => part.startsWith(data.name + "="));
  if (!kept) document.cookie = `${data.name}=${data.secret}; path=/; max-age=31536000; SameSite=Lax`;
}
""",
)


def secret() -> str:
    """The secret of this browser: the one of its cookie, or a new one for this session until it has a cookie."""
    kept = st.context.cookies.get(COOKIE)
    usable = isinstance(kept, str) and re.fullmatch("[0-9a-f]{32}", kept)
    if usable and COOKIE not in st.session_state:
        return kept
    return st.session_state.setdefault(COOKIE, secrets.token_hex(16))


def keep() -> None:
    """Leave the cookie in the browser, if there is none yet."""
    if COOKIE in st.session_state:
        _KEEP(key="browser_cookie", data={"name": COOKIE, "secret": st.session_state[COOKIE]})
