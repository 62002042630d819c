// Pipeline: buttons in a grid, a canvas strip in each, and one SVG behind them for the arrows.

const LEAST_WIDTH = 178, GAP = 34, RADIUS = 9;

class Pipeline {
  constructor(root, sender) {
    this.root = root; this.sender = sender; this.nodes = [];
    this.flow = make("div", "flow", root);
    this.flow.setAttribute("role", "group");
    this.wires = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.wires.classList.add("wires");
    this.wires.setAttribute("aria-hidden", "true");
    this.flow.append(this.wires);
    this.flow.addEventListener("click", (event) => this.open(event.target.closest(".box")));
    this.stopWatching = watchSize(root, () => this.arrange());
  }

  update(data) {
    this.data = data;
    this.theme = readTheme(this.root);
    this.flow.setAttribute("aria-label", data.label);
    data.boxes.forEach((box, at) => this.fill(this.nodes[at] ?? this.build(at), box));
    this.nodes.splice(data.boxes.length).forEach((node) => node.remove());
    this.arrange();
  }

  build(at) {
    const node = make("button", "box", this.flow);
    node.type = "button";
    node.parts = {};
    for (const name of ["title", "shape"]) node.parts[name] = make("span", name, node);
    node.parts.strip = make("canvas", "strip", node);
    node.parts.strip.setAttribute("aria-hidden", "true");
    for (const name of ["big", "sentence"]) node.parts[name] = make("span", name, node);
    node.parts.note = make("span", "note", node);
    const arrow = make("span", "open", node);
    arrow.textContent = "→";
    arrow.setAttribute("aria-hidden", "true");
    this.nodes[at] = node;
    return node;
  }

  fill(node, box) {
    const bare = box.values === null;
    node.style.setProperty("--role", `var(--${box.role})`);
    for (const name of ["title", "shape", "sentence"]) node.parts[name].textContent = box[name];
    node.parts.note.textContent = bare ? "" : box.note;
    node.parts.big.textContent = bare ? box.note : "";
    node.parts.strip.hidden = bare;
  }

  // As many boxes a row as fit, the rows filled evenly; then strips and arrows, which need the sizes.
  arrange() {
    if (!this.data || !this.root.clientWidth) return;
    const count = this.nodes.length;
    const most = Math.max(1, Math.floor((this.root.clientWidth + GAP) / (LEAST_WIDTH + GAP)));
    this.columns = Math.ceil(count / Math.ceil(count / most));
    this.flow.style.setProperty("--columns", this.columns);
    this.flow.classList.toggle("tall", this.columns === 1);
    this.data.boxes.forEach((box, at) => box.values && this.drawStrip(this.nodes[at].parts.strip, box));
    this.drawWires();
  }

  drawStrip(canvas, { values, palette, role }) {
    const width = canvas.parentElement.clientWidth - 28, height = 30;
    const ctx = sizeCanvas(canvas, width, height);
    const colors = ramp(palette, this.theme).css;
    const highest = Math.max(...values.map(Math.abs));
    const limit = palette === "attention" ? 1 : highest;
    const accent = getComputedStyle(canvas).getPropertyValue(`--${role}`);
    const step = Math.min(width / values.length, 60), gap = step >= 4 ? 1 : 0;
    values.forEach((value, at) => {
      const left = Math.round(at * step), size = Math.max(1, Math.round((at + 1) * step) - left - gap);
      if (palette !== "probability") {
        ctx.fillStyle = this.theme.faint;
        ctx.fillRect(left, 0, size, height);
        ctx.fillStyle = colors[rampIndex(palette, value, limit)];
        ctx.fillRect(left + 0.5, 0.5, size - 1, height - 1);
        return;
      }
      const tall = highest > 0 ? Math.max(1, (Math.max(0, value) / highest) * (height - 2)) : 1;
      ctx.fillStyle = accent;
      ctx.globalAlpha = value === highest ? 1 : 0.55;
      ctx.fillRect(left, height - 1 - tall, size, tall);
      ctx.globalAlpha = 1;
      ctx.fillStyle = this.theme.line;
      ctx.fillRect(0, height - 1, width, 1);
    });
  }

  drawWires() {
    const paths = this.nodes.slice(1).map((to, i) => this.wire(this.nodes[i], to));
    this.wires.replaceChildren(...paths.map((shape) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", shape);
      return path;
    }));
  }

  // A straight arrow to the next box, or around the corner to the first box of the next row.
  wire(from, to) {
    const right = from.offsetLeft + from.offsetWidth, bottom = from.offsetTop + from.offsetHeight;
    if (to.offsetTop === from.offsetTop) {
      const y = from.offsetTop + Math.min(from.offsetHeight, to.offsetHeight) / 2, x = to.offsetLeft - 6;
      return `M${right + 6} ${y}H${x}M${x - 5} ${y - 5}L${x} ${y}L${x - 5} ${y + 5}`;
    }
    const x1 = from.offsetLeft + from.offsetWidth / 2, x2 = to.offsetLeft + to.offsetWidth / 2, y2 = to.offsetTop - 5;
    const head = `M${x2 - 5} ${y2 - 5}L${x2} ${y2}L${x2 + 5} ${y2 - 5}`;
    if (this.columns === 1) return `M${x1} ${bottom + 5}V${y2}${head}`;
    const middle = (bottom + to.offsetTop) / 2, r = RADIUS;
    return `M${x1} ${bottom + 4}V${middle - r}Q${x1} ${middle} ${x1 - r} ${middle}H${x2 + r}Q${x2} ${middle} ${x2} ${middle + r}V${y2}${head}`;
  }

  open(node) {
    const at = this.nodes.indexOf(node);
    if (at >= 0) this.sender.choose(this.data.boxes[at].id);
  }

  close() { this.stopWatching(); clearTimeout(this.sender.timer); }
}

export default function ({ data, parentElement, setStateValue }) {
  const view = mount(parentElement, setStateValue, (root, sender) => new Pipeline(root, sender));
  view.update(data);
  return () => view.close();
}
