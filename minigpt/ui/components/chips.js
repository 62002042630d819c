// Chips: buttons with text nodes, one tab stop, reused at each update so that the focus stays.

class Chips {
  constructor(root, sender) {
    this.root = root; this.sender = sender; this.nodes = []; this.selected = null;
    this.row = make("div", "row", root);
    this.row.setAttribute("role", "group");
    this.tip = make("div", "tip", root);
    this.tip.hidden = true;
    this.row.addEventListener("click", (event) => this.click(event));
    this.row.addEventListener("keydown", (event) => this.press(event));
    this.row.addEventListener("pointerover", (event) => this.showHint(this.indexOf(event.target)));
    this.row.addEventListener("pointerleave", () => this.showHint(-1));
    this.row.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && this.showHint(this.indexOf(event.target)));
    this.row.addEventListener("focusout", () => this.showHint(-1));
    this.row.addEventListener("scroll", () => { this.tip.hidden = true; });
  }

  update(data) {
    const first = this.data === undefined;
    this.data = data;
    this.theme = readTheme(this.root);
    this.row.setAttribute("aria-label", data.label);
    this.row.className = `row${data.wrap ? "" : " line"}${data.active ? " active" : ""}`;
    data.items.forEach((item, at) => this.draw(item, at));
    this.nodes.splice(data.items.length).forEach((node) => node.remove());
    const keep = this.sender.owed(data.seen) && this.nodes[this.selected]?.tagName === "BUTTON";
    this.select(keep ? this.selected : data.selected, first);
    if (this.shown >= data.items.length) this.showHint(-1);
  }

  draw(item, at) {
    const tag = item.kind === "group" || item.kind === "divider" ? "SPAN" : "BUTTON";
    if (this.nodes[at]?.tagName !== tag) this.nodes[at] = this.replace(this.nodes[at], tag);
    const node = this.nodes[at];
    if (tag === "SPAN") {
      node.className = item.kind;
      node.textContent = item.kind === "group" ? item.text : "";
      if (item.kind === "divider") {
        node.setAttribute("role", "separator");
        node.setAttribute("aria-label", item.text);
      } else {
        node.removeAttribute("role");
        node.removeAttribute("aria-label");
      }
      return;
    }
    const [piece, below] = node.children;
    if (piece.textContent !== item.text) piece.textContent = item.text;
    if (below.textContent !== item.below) below.textContent = item.below;
    node.className = `chip ${item.kind}${item.tint === null ? "" : " tinted"}`;
    node.setAttribute("aria-description", item.hint);
    this.tint(node, item.tint);
  }

  replace(old, tag) {
    const node = make(tag.toLowerCase());
    if (tag === "BUTTON") {
      node.type = "button";
      make("span", "piece", node);
      make("span", "below", node);
    }
    if (old) old.replaceWith(node);
    else this.row.append(node);
    return node;
  }

  tint(node, tint) {
    if (tint === null) {
      node.style.background = node.style.color = "";
      return;
    }
    const colors = ramp("probability", this.theme);
    const at = rampIndex("probability", tint, 1);
    node.style.background = colors.css[at];
    node.style.color = colors.darkText[at] ? "#000000" : "#ffffff";
  }

  select(at, first) {
    const moved = at !== this.selected;
    this.selected = at;
    const stop = at ?? this.nodes.findIndex((node) => node.tagName === "BUTTON");
    this.nodes.forEach((node, i) => {
      if (node.tagName !== "BUTTON") return;
      node.tabIndex = i === stop ? 0 : -1;
      if (this.data.active || at !== null) node.setAttribute("aria-pressed", String(i === at));
      else node.removeAttribute("aria-pressed");
    });
    if (at === null || !(moved || first)) return;
    const focused = this.indexOf(this.root.getRootNode().activeElement);
    if (focused >= 0 && focused !== at) this.nodes[at].focus({ preventScroll: true });
    this.reveal(this.nodes[at], first);
    if (first) document.fonts.ready.then(() => this.reveal(this.nodes[this.selected], true));  // chips grow with the font
  }

  reveal(node, first) {
    if (this.data.wrap || !node) return;
    const row = this.row, left = node.offsetLeft - row.offsetLeft, margin = 48;
    let to = row.scrollLeft;
    if (left - margin < to) to = left - margin;
    if (left + node.offsetWidth + margin > to + row.clientWidth) to = left + node.offsetWidth + margin - row.clientWidth;
    const calm = first || matchMedia("(prefers-reduced-motion: reduce)").matches;
    row.scrollTo({ left: to, behavior: calm ? "instant" : "smooth" });
  }

  indexOf(target) { return target instanceof Element ? this.nodes.indexOf(target.closest("button")) : -1; }

  choose(at) {
    this.nodes[at].focus({ preventScroll: true });
    if (!this.data.active) {
      this.reveal(this.nodes[at], false);
      return;
    }
    this.select(at, false);
    this.sender.choose(at);
  }

  click(event) {
    const at = this.indexOf(event.target);
    if (at >= 0) this.choose(at);
  }

  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const order = this.nodes.flatMap((node, i) => (node.tagName === "BUTTON" ? [i] : []));
    const here = order.indexOf(this.indexOf(event.target));
    const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: order.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (order[to] !== undefined && to !== here) this.choose(order[to]);
  }

  showHint(at) {
    this.shown = at;
    const hint = at >= 0 ? this.data.items[at].hint : "";
    this.tip.hidden = !hint;
    if (!hint) return;
    this.tip.textContent = hint;
    const node = this.nodes[at], scroll = this.row.scrollLeft;
    placeTip(this.tip, this.root, { left: node.offsetLeft - scroll, top: node.offsetTop, width: node.offsetWidth, height: node.offsetHeight });
  }

  close() { clearTimeout(this.sender.timer); }
}

export default function ({ data, parentElement, setStateValue }) {
  const view = mount(parentElement, setStateValue, (root, sender) => new Chips(root, sender));
  view.update(data);
  return () => view.close();
}
