"""The browser's history: one entry a page, so that its Back button leads to the page before."""

import streamlit as st

# Streamlit makes an entry each time a value of the address changes. What changes within a page replaces its entry.
_ONE_ENTRY = st.components.v2.component(
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


def one_entry_a_page() -> None:
    """Change the history so; it lasts until the browser loads the app anew."""
    _ONE_ENTRY(key="address")
