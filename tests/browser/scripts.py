"""JavaScript the driver runs in the page. Each is a function whose value `page.evaluate` returns."""

# Whether the script is done and everything visible is drawn. Elements load lazily behind skeletons.
DRAWN = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app || app.dataset.testScriptState !== 'notRunning') return false;
  if (app.dataset.testConnectionState !== 'CONNECTED' || document.fonts.status !== 'loaded') return false;
  const seen = selector => [...document.querySelectorAll(selector)].filter(e => e.checkVisibility());
  if (seen('[data-testid="stSkeleton"], [data-stale="true"]').length) return false;
  if (seen('[data-testid="stPlotlyChart"]').some(e => !e.querySelector('.main-svg'))) return false;
  return seen('[data-testid="stEChartsChart"]').every(e => e.querySelector('canvas, svg'));
}"""

# How far down the window the main column's elements reach, 0 to 1.
FILLED = """() => {
  const elements = document.querySelectorAll('[data-testid="stMain"] [data-testid="stElementContainer"]');
  const boxes = [...elements].map(e => e.getBoundingClientRect()).filter(box => box.width && box.height);
  return Math.min(1, Math.max(0, ...boxes.map(box => box.bottom)) / window.innerHeight);
}"""

# The height that shows everything: Streamlit scrolls inner containers, not the document.
HEIGHT = """() => {
  const parts = document.querySelectorAll('[data-testid="stMain"], [data-testid="stSidebarContent"]');
  return Math.max(...[...parts].map(part => part.scrollHeight));
}"""

# What ends beyond the window's right edge, scrolls its column sideways, or is shortened with an ellipsis.
CUT = """() => {
  const out = [], width = document.documentElement.clientWidth;
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const name = e => `${e.tagName.toLowerCase()} ${e.dataset.testid || e.className} ` +
    JSON.stringify((e.textContent || '').trim().slice(0, 60));
  const hides = e => {  // the one-pixel box that keeps what only screen readers meet, as a slider's input
    const box = e.getBoundingClientRect();
    return getComputedStyle(e).overflowX !== 'visible' && (box.width <= 1 || box.height <= 1);
  };
  const look = e => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (box.right > width + 1 && box.left < width)
      return `${name(e)} ends at ${Math.round(box.right)} of ${width} px`;
    const speaks = [...e.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const shortens = style.overflowX === 'hidden' && style.textOverflow === 'ellipsis';
    if (speaks && shortens && e.scrollWidth > e.clientWidth)
      return `${name(e)} shows ${e.clientWidth} of ${e.scrollWidth} px`;
  };
  const walk = elements => {
    for (const e of elements) {
      if (!e.checkVisibility({checkVisibilityCSS: true, checkOpacity: true})) continue;
      if (hides(e)) continue;
      const cut = look(e);
      if (cut) out.push(cut);
      if (scrolls(e)) continue;
      walk(e.children);
      if (e.shadowRoot) walk(e.shadowRoot.children);
    }
  };
  const columns = ['stHeader', 'stMain', 'stSidebarContent'].map(id => `[data-testid="${id}"]`).join();
  for (const column of document.querySelectorAll(columns)) {
    if (column.scrollWidth > column.clientWidth)
      out.push(`${name(column)} scrolls sideways: ${column.clientWidth} of ${column.scrollWidth} px`);
    walk(column.children);
  }
  return out;
}"""

# Remembers when the reader last pressed a key or the pointer.
NOTE_PRESSES = """() => ['pointerdown', 'keydown'].forEach(kind =>
  document.addEventListener(kind, event => { window.lastPress = event.timeStamp; }, true))"""

SINCE_PRESS = "() => performance.now() - window.lastPress"

# The addresses in the navigation, at the top or in the sidebar, each once.
PAGES = """() => {
  const links = document.querySelectorAll('[data-testid="stTopNavLink"], [data-testid="stSidebarNavLink"]');
  return [...new Set([...links].map(link => new URL(link.href).pathname.slice(1)))];
}"""
