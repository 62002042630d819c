// Anatomy: one SVG, drawn anew at each change; the marks are buttons for mouse and keyboard.

const PLACES = {
  tokens: [96, 40, 156, 46], positions: [268, 40, 156, 46],
  norm1: [120, 174, 214, 34], attention: [120, 226, 214, 92],
  norm2: [120, 372, 214, 34], ffn: [120, 424, 214, 62],
  final: [76, 566, 196, 34], head: [76, 622, 196, 46],
};
const TRUNK = 60, CENTRE = 174, VIEW = [440, 714];

class Anatomy {
  constructor(root, sender) {
    this.root = root; this.sender = sender; this.selected = "";
    this.svg = this.node("svg", { class: "anatomy", viewBox: `0 0 ${VIEW.join(" ")}`, role: "group" }, root);
    this.svg.addEventListener("click", (event) => this.choose(event.target.closest(".mark")));
    this.svg.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.choose(event.target.closest(".mark"));
    });
  }

  update(data) {
    this.data = data;
    readTheme(this.root);
    if (!this.sender.owed(data.seen)) this.selected = data.selected;
    const focused = this.root.getRootNode().activeElement?.dataset?.mark;
    this.svg.setAttribute("aria-label", data.label);
    this.svg.replaceChildren();
    this.drawFlow();
    for (const [name, part] of Object.entries(data.parts)) this.drawPart(name, part);
    if (data.heads.length) this.drawHeads(...data.heads);
    this.drawMarks();
    if (focused) this.svg.querySelector(`[data-mark="${focused}"]`)?.focus();
  }

  node(tag, attributes, parent, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  arrow(shape, x, y, kind = "wire") {
    this.node("path", { class: kind, d: `${shape}M${x - 4} ${y - 5}L${x} ${y}L${x + 4} ${y - 5}` }, this.svg);
  }

  // Ids above, logits below; between them the trunk of the residual, which the branches leave and join.
  drawFlow() {
    const { residual, frame } = this.data, svg = this.svg;
    this.node("rect", { class: "frame", x: 20, y: 132, width: 400, height: 388, rx: 12 }, svg);
    this.node("text", { class: "frame-title", x: 404, y: 155, "text-anchor": "end" }, svg, frame);
    this.node("text", { class: "end", x: CENTRE, y: 18 }, svg, this.data.ends[0]);
    this.arrow(`M${CENTRE} 24V36`, CENTRE, 36);
    this.arrow(`M${CENTRE + 24} 16H346V36`, 346, 36);
    this.node("path", { class: "wire", d: `M${CENTRE} 86V98H${TRUNK}V108M346 86V98H${CENTRE}` }, svg);
    if (residual) this.arrow(`M${TRUNK} 120V552H${CENTRE}V562`, CENTRE, 562, "wire trunk");
    else this.arrow(`M${TRUNK} 120V158H227V170M227 486V552H${CENTRE}V562`, CENTRE, 562, "wire trunk");
    for (const [norm, part, join] of [["norm1", "attention", 340], ["norm2", "ffn", 508]]) {
      const top = PLACES[norm][1], middle = PLACES[part][1], bottom = middle + PLACES[part][3];
      if (residual) this.arrow(`M${TRUNK} ${top - 14}H227V${top - 4}`, 227, top - 4);
      this.arrow(`M227 ${top + 34}V${middle - 4}`, 227, middle - 4);
      if (residual) this.node("path", { class: "wire", d: `M227 ${bottom}V${join}H${TRUNK + 12}M${TRUNK + 17} ${join - 4}L${TRUNK + 12} ${join}L${TRUNK + 17} ${join + 4}` }, svg);
      else if (part === "attention") this.arrow(`M227 ${bottom}V${PLACES.norm2[1] - 4}`, 227, PLACES.norm2[1] - 4);
      if (residual) this.drawPlus(TRUNK, join);
    }
    this.drawPlus(TRUNK, 114);
    this.arrow(`M${CENTRE} 600V618`, CENTRE, 618);
    this.arrow(`M${CENTRE} 668V686`, CENTRE, 686);
    this.node("text", { class: "end", x: CENTRE, y: 704 }, svg, this.data.ends[1]);
  }

  drawPlus(x, y) {
    const group = this.node("g", { class: "plus" }, this.svg);
    this.node("circle", { cx: x, cy: y, r: 9 }, group);
    this.node("path", { d: `M${x - 5} ${y}H${x + 5}M${x} ${y - 5}V${y + 5}` }, group);
  }

  drawPart(name, { title, note, gone, changed, copies }) {
    const [x, y, width, height] = PLACES[name];
    const group = this.node("g", { class: `part${gone ? " gone" : ""}${changed ? " changed" : ""}` }, this.svg);
    for (let at = Math.min(copies, 4) - 1; at >= 0; at--) {
      this.node("rect", { x: x + 5 * at, y: y - 4 * at, width, height, rx: 8 }, group);
    }
    const line = y + (name === "attention" ? 21 : note ? height / 2 - 3 : height / 2 + 5);
    this.node("text", { class: "title", x: x + width / 2, y: line }, group, title);
    if (note) this.node("text", { class: "note", x: x + width / 2, y: line + 16 }, group, note);
  }

  // Each query head above the key-value head that serves it.
  drawHeads(queries, keys) {
    const [left, top, width] = PLACES.attention, step = Math.min(15, (width - 50) / queries);
    const start = left + width / 2 - (queries * step) / 2 + 8, size = Math.max(3, step - 3), wide = (queries / keys) * step;
    [["q", queries, step, 46], ["k", keys, wide, 60], ["v", keys, wide, 74]].forEach(([letter, count, each, below]) => {
      this.node("text", { class: "head-letter", x: start - 8, y: top + below + 9 }, this.svg, letter.toUpperCase());
      for (let at = 0; at < count; at++) {
        this.node("rect", { class: `head-${letter}`, x: start + at * each, y: top + below, width: Math.max(size, each - 3), height: 9, rx: 2 }, this.svg);
      }
    });
  }

  drawMarks() {
    const used = {};
    for (const mark of this.data.marks) {
      for (const name of mark.parts) {
        const [x, y, width, height] = PLACES[name], at = (used[name] = (used[name] ?? 0) + 1) - 1;
        const cx = name === "positions" ? x + width - 4 : x + width + 26, many = name === "attention" || name === "ffn";
        const cy = name === "positions" ? y - 4 : many ? y + height / 2 - 14 + 28 * at : y + height / 2;
        const on = mark.id === this.selected;
        const group = this.node("g", { class: `mark${on ? " on" : ""}`, role: "button", tabindex: 0, "aria-label": mark.title, "aria-pressed": on, "data-mark": `${mark.id}-${name}` }, this.svg);
        group.dataset.id = mark.id;
        this.node("circle", { cx, cy, r: 12 }, group);
        this.node("text", { x: cx, y: cy + 4.3 }, group, mark.number);
        this.node("title", {}, group, mark.title);
      }
    }
  }

  choose(mark) {
    if (!mark) return;
    this.selected = mark.dataset.id === this.selected ? "" : mark.dataset.id;
    this.sender.choose(this.selected);
    for (const node of this.svg.querySelectorAll(".mark")) {
      node.classList.toggle("on", node.dataset.id === this.selected);
      node.setAttribute("aria-pressed", node.dataset.id === this.selected);
    }
  }

  close() { clearTimeout(this.sender.timer); }
}

export default function ({ data, parentElement, setStateValue }) {
  const view = mount(parentElement, setStateValue, (root, sender) => new Anatomy(root, sender));
  view.update(data);
  return () => view.close();
}
