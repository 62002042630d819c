// Shared by all components: theme, palettes, numbers, labels, tooltips, payloads, and the way a choice travels.

// "signed" and "attention" are the diverging and sequential chart colors of the Streamlit theme (config.toml), so that
// canvases and charts agree; these are used where a theme has no hex colors. Purple is ours: probability.
const PURPLE = {
  light: ["#ffffff", "#f0e4fe", "#e0c8fc", "#cba2fa", "#b477f7", "#9d4dec", "#8330d0", "#6419a3"],
  dark: ["#1c1a28", "#2f1f4a", "#46256f", "#63309c", "#8243cc", "#a65ff2", "#cd9ffa", "#f0e2ff"],
};
const FALLBACK = {
  signed: {
    light: ["#b93a06", "#f59a55", "#f3f4f6", "#6aa5f8", "#1d4fd7"], dark: ["#ffc184", "#c2600f", "#232833", "#2d68cf", "#9ccbff"],
  },
  attention: {
    light: ["#ffffff", "#c2dafc", "#84b4f9", "#3f7fee", "#1c3fae"], dark: ["#1b202a", "#21467f", "#357ad9", "#7db4fb", "#dceaff"],
  },
};

const rgbOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const luminance = ([r, g, b]) => {
  const lin = (c) => (c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * lin(r) + 0.7152 * lin(g) + 0.0722 * lin(b);
};

// A CSS color of any form as [r, g, b].
function readColor(css, ctx) {
  ctx.clearRect(0, 0, 1, 1);
  ctx.fillStyle = css;
  ctx.fillRect(0, 0, 1, 1);
  return [...ctx.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// Colors and fonts of the Streamlit theme as it is now; marks the root so that CSS knows it too.
function readTheme(root) {
  const style = getComputedStyle(root);
  const css = (name) => style.getPropertyValue(name).trim();
  const ground = readColor(css("--st-background-color"), probe);
  const ink = readColor(css("--st-text-color"), probe);
  const dark = luminance(ground) < 0.2;
  root.classList.toggle("dark", dark);
  const listed = (name) => css(name).split(",").map((color) => color.trim());
  const chosen = (colors, name) => (colors.length > 4 && colors.every((c) => /^#[0-9a-f]{6}$/i.test(c)) ? colors : FALLBACK[name][dark ? "dark" : "light"]);
  const scales = {
    signed: chosen(listed("--st-chart-diverging-colors"), "signed"),
    attention: chosen(listed("--st-chart-sequential-colors"), "attention"),
    probability: PURPLE[dark ? "dark" : "light"],
  };
  const mix = (share) => `rgb(${ground.map((c, i) => Math.round(c + (ink[i] - c) * share)).join(",")})`;
  return {
    dark, mix, scales, ground: mix(0), ink: mix(1), gray: mix(0.66), line: mix(0.18), faint: mix(0.08),
    accent: css("--accent"), font: css("--st-font"), key: [ground, ink, css("--st-font"), scales.signed, scales.attention].join("|"),
  };
}

// 257 colors from the lowest to the highest value: rgb triples, CSS strings, and whether dark text reads better on each.
const ramps = new Map();
function ramp(name, theme) {
  const id = theme.scales[name].join();
  if (!ramps.has(id)) {
    const stops = theme.scales[name].map(rgbOf);
    const rgb = Array.from({ length: 257 }, (_, i) => {
      const at = (i / 256) * (stops.length - 1), left = Math.min(Math.floor(at), stops.length - 2);
      return stops[left].map((c, j) => Math.round(c + (stops[left + 1][j] - c) * (at - left)));
    });
    ramps.set(id, { rgb, css: rgb.map((c) => `rgb(${c.join(",")})`), darkText: rgb.map((c) => luminance(c) > 0.179) });
  }
  return ramps.get(id);
}

// Index into a ramp: signed runs from -limit to limit, the others from 0 to limit.
function rampIndex(name, value, limit) {
  const share = limit > 0 ? value / limit : 0;
  const at = name === "signed" ? (share + 1) / 2 : share;
  return Math.round(256 * Math.min(1, Math.max(0, at)));
}

const gradient = (name, theme) => `linear-gradient(to right, ${theme.scales[name].join(", ")})`;

// The number as Python's repr writes it: the fewest digits that give back the same float64.
function exactNumber(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  const sign = x < 0 || Object.is(x, -0) ? "-" : "";
  const [mantissa, power] = Math.abs(x).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

// A number for a narrow place: four significant digits.
function shortNumber(x, digits = 4) {
  if (!Number.isFinite(x)) return x > 0 ? "∞" : Number.isNaN(x) ? "" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e-3 && size < 10 ** digits ? size.toPrecision(digits) : size.toExponential(2).replace("e+", "e");
  return (x < 0 ? "−" : "") + text;
}

const legendNumber = (x) => shortNumber(x).replace(/(\.\d*?)0+(e|$)/, "$1$2").replace(/\.(e|$)/, "$1");

const graphemes = (text) => Array.from(new Intl.Segmenter().segment(text), (part) => part.segment);
const isolate = (text) => (/[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(text) ? `\u2068${text}\u2069` : text);

// The longest start of the text that fits the width, with an ellipsis when something is left out.
function shorten(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return isolate(text);
  const parts = graphemes(text.slice(0, 400));
  let low = 0, high = parts.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ctx.measureText(parts.slice(0, middle).join("") + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return isolate(parts.slice(0, low).join("")) + "…";
}

const fill = (template, values) => template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

function make(tag, className, parent) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (parent) parent.append(node);
  return node;
}

// A tooltip near a rectangle of the root, kept inside its width; above when there is room.
function placeTip(tip, root, box) {
  tip.hidden = false;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  const left = Math.max(0, Math.min(root.clientWidth - width, box.left + box.width / 2 - width / 2));
  const roomAbove = root.getBoundingClientRect().top + box.top - height - 8 > 64;
  tip.style.left = `${left}px`;
  tip.style.top = `${roomAbove ? box.top - height - 8 : box.top + box.height + 8}px`;
}

// A canvas of the given CSS size, sharp on any screen.
function sizeCanvas(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext("2d");
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  return ctx;
}

// The header and typed arrays of minigpt.ui.components.packing.
function unpack(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const start = Math.ceil((4 + length) / 8) * 8;
  const types = { f8: Float64Array, f4: Float32Array, u1: Uint8Array };
  const arrays = () => Object.fromEntries(Object.entries(header.arrays).map(([name, [kind, offset, count]]) => {
    const from = bytes.byteOffset + start + offset;
    return [name, new types[kind](bytes.buffer.slice(from, from + count * types[kind].BYTES_PER_ELEMENT))];
  }));
  return { header, arrays };
}

// Sends choices, at most one each 80 ms and never losing the last; says whether Python still owes an answer.
class Sender {
  number = 0; sentAt = -1e9; timer = 0; waiting = null; set = null;
  choose(at) {
    this.number = Math.max(Date.now(), this.number + 1);
    this.waiting = { at, n: this.number };
    const pause = this.sentAt + 80 - performance.now();
    if (pause <= 0) this.flush();
    else if (!this.timer) this.timer = setTimeout(() => this.flush(), pause);
  }
  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (!this.waiting) return;
    const message = this.waiting;
    this.waiting = null;
    this.sentAt = performance.now();
    this.set("choice", message);
  }
  // After four silent seconds Python's word holds again (a new session knows nothing of our number).
  owed(seen) { return this.waiting !== null || (seen < this.number && performance.now() - this.sentAt < 4000); }
}

// One living object per mounted component; the default function of a component runs again at each change.
const living = new WeakMap();
function mount(parentElement, setStateValue, create) {
  const root = parentElement.querySelector(".root");
  if (!living.has(root)) living.set(root, create(root, new Sender()));
  const view = living.get(root);
  view.sender.set = setStateValue;
  return view;
}

// Calls back when the width of the root, or the sharpness of the screen, changes.
function watchSize(root, changed) {
  let width = root.clientWidth, scale = window.devicePixelRatio;
  const check = () => {
    if (root.clientWidth === width && window.devicePixelRatio === scale) return;
    width = root.clientWidth; scale = window.devicePixelRatio;
    if (width > 0) changed();
  };
  const observer = new ResizeObserver(check);
  observer.observe(root);
  window.addEventListener("resize", check);
  return () => { observer.disconnect(); window.removeEventListener("resize", check); };
}
