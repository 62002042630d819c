// Matrix: cells, labels and titles are painted once into a hidden canvas; hover and selection are drawn over a copy of it.

const LABEL = 11.5, LINE = 15, NUMBER_WIDTH = 56, NUMBER_HEIGHT = 28;

class Matrix {
  constructor(root, sender) {
    this.root = root; this.sender = sender; this.hover = null; this.selected = null; this.painted = "";
    this.plate = make("div", "plate", root);
    this.canvas = make("canvas", "", this.plate);
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.base = document.createElement("canvas");
    this.buildLegend();
    this.speech = make("div", "quiet", root);
    this.speech.setAttribute("aria-live", "polite");
    this.tip = make("div", "tip", root);
    this.tip.hidden = true;
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.show(null));
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("focus", () => this.canvas.matches(":focus-visible") && this.show(this.selected));
    this.canvas.addEventListener("blur", () => this.show(null));
    this.stopWatching = watchSize(root, () => this.paint());
  }

  buildLegend() {
    this.legend = make("div", "legend", this.root);
    const ends = make("div", "ends", this.legend);
    this.low = make("span", "", ends);
    this.bar = make("span", "bar", ends);
    this.middle = make("span", "middle", this.bar);
    this.high = make("span", "", ends);
    this.maskKey = make("span", "masked", this.legend);
    make("span", "swatch", this.maskKey);
    this.maskWord = make("span", "", this.maskKey);
  }

  update(bytes) {
    const { header, arrays } = unpack(bytes);
    if (this.header?.version !== header.version) {
      this.arrays = arrays();
      this.height = header.rows.length;
      this.width = header.columns.length;
      this.hover = null;
      this.tip.hidden = true;
    }
    this.header = header;
    this.root.classList.toggle("active", header.active);
    this.canvas.setAttribute("aria-label", header.label);
    if (!this.sender.owed(header.seen) || !this.exists(this.selected)) this.selected = header.selected;
    this.theme = readTheme(this.root);
    if (this.look() !== this.painted) this.paint();
    else this.draw();
  }

  look() { return [this.header.version, this.theme.key, this.root.clientWidth, window.devicePixelRatio].join(); }

  exists(cell) {
    if (!cell) return false;
    const [r, c] = cell;
    return r >= 0 && c >= 0 && r < this.height && c < this.width && !Number.isNaN(this.arrays.values[r * this.width + c]);
  }

  // Everything that stays while the reader moves about.
  paint() {
    if (!this.header || !this.root.clientWidth) return;
    this.painted = this.look();
    this.layout();
    const { total, tall } = this.place;
    this.ctx = sizeCanvas(this.canvas, total, tall);
    const ctx = sizeCanvas(this.base, total, tall);
    ctx.textBaseline = "middle";
    this.paintCells(ctx);
    if (this.place.numbers) this.paintNumbers(ctx);
    this.paintTitles(ctx);
    this.paintLegend();
    this.draw();
    if (this.hover) this.fillTip(this.hover);
  }

  // Cell size, gaps, and the room for labels, from the width at hand.
  layout() {
    const { header, width, height } = this, ctx = probe, room = this.root.clientWidth;
    ctx.font = this.font();
    const widest = (labels, most) => Math.min(most, Math.ceil(Math.max(...labels.map((text) => Math.min(ctx.measureText(text.slice(0, 60)).width, most)))));
    const left = widest(header.rows, Math.min(132, room * 0.24)) + 12 + (header.rowTitle ? LINE + 3 : 0);
    const free = room - left - 6;
    const fit = Math.floor(free / width);
    // Whole CSS pixels, or whole screen pixels where cells are tiny.
    const scale = window.devicePixelRatio || 1, fine = Math.max(1, Math.floor((free / width) * scale)) / scale;
    const numbers = this.wantsNumbers(fit);
    const w = numbers ? Math.min(72, fit) : Math.min(header.maxCell, fit >= 3 ? fit : fine);
    const h = numbers ? NUMBER_HEIGHT : w;
    const longest = widest(header.columns, 104);
    const flat = longest <= w - 6 || w >= 52;
    this.upright = new Set(w < 14 ? [] : header.columns.flatMap((text, c) => (graphemes(text.slice(0, 24)).length === 1 ? [c] : [])));
    const top = (flat ? LINE + 4 : longest + 8) + (header.columnTitle ? LINE + 5 : 0);
    const total = Math.max(left + w * width + 3, Math.min(room, left + 120));
    this.place = { left, top, w, h, gap: Math.min(w, h) >= 5 ? 1 : 0, flat, longest, numbers, total, tall: top + h * height + 3 };
  }

  wantsNumbers(fit) {
    const { header, width, height } = this;
    if (header.numbers === false || fit < NUMBER_WIDTH) return false;
    return header.numbers || (height <= 24 && (height !== width || height <= 8));
  }

  font(weight = 400) { return `${weight} ${LABEL}px ${this.theme.font}`; }

  box(r, c) {
    const { left, top, w, h, gap } = this.place;
    return { left: left + c * w, top: top + r * h, width: w - gap, height: h - gap };
  }

  colorAt(at) { return rampIndex(this.header.palette, this.arrays.values[at], this.header.limit); }

  paintCells(ctx) {
    const { width, height, theme, header } = this, { values, masked } = this.arrays;
    const { left, top, w, h, gap } = this.place;
    const colors = ramp(header.palette, theme).css;
    const hatch = masked ? this.hatch(ctx) : null;
    const whole = !values.some(Number.isNaN);
    ctx.fillStyle = theme.faint;
    if (gap && whole) ctx.fillRect(left - 1, top - 1, w * width + 1, h * height + 1);
    for (let at = 0; at < values.length; at++) {
      if (Number.isNaN(values[at])) continue;
      const x = left + (at % width) * w, y = top + Math.floor(at / width) * h;
      if (gap && !whole) {
        ctx.fillStyle = theme.faint;
        ctx.fillRect(x - 1, y - 1, w + 1, h + 1);
      }
      ctx.fillStyle = masked?.[at] ? hatch : colors[this.colorAt(at)];
      ctx.fillRect(x, y, w - gap, h - gap);
    }
  }

  // Thin diagonal lines on gray: a cell the model is not allowed to see, which is not a zero.
  hatch(ctx) {
    const tile = document.createElement("canvas"), scale = window.devicePixelRatio || 1, size = Math.round(5 * scale);
    tile.width = tile.height = size;
    const pen = tile.getContext("2d");
    pen.fillStyle = this.theme.mix(0.07);
    pen.fillRect(0, 0, size, size);
    pen.strokeStyle = this.theme.mix(0.28);
    pen.lineWidth = scale * 0.9;
    pen.beginPath();
    for (const shift of [-size, 0, size]) { pen.moveTo(shift, size); pen.lineTo(shift + size, 0); }
    pen.stroke();
    const pattern = ctx.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / scale));
    return pattern;
  }

  paintNumbers(ctx) {
    const { width, theme, header } = this, { values, masked } = this.arrays;
    const { darkText } = ramp(header.palette, theme);
    ctx.font = `500 11.5px ${theme.font}`;
    ctx.textAlign = "center";
    values.forEach((value, at) => {
      if (Number.isNaN(value) || masked?.[at]) return;
      const box = this.box(Math.floor(at / width), at % width);
      ctx.fillStyle = darkText[this.colorAt(at)] ? "#000000" : "#ffffff";
      ctx.fillText(shortNumber(value), box.left + box.width / 2, box.top + box.height / 2 + 0.5, box.width - 4);
    });
  }

  paintTitles(ctx) {
    const { header, theme } = this, { left, top, w, h } = this.place;
    ctx.font = this.font(600);
    ctx.fillStyle = theme.gray;
    ctx.textAlign = "left";
    if (header.columnTitle) ctx.fillText(shorten(ctx, header.columnTitle, this.place.total - left), left, LINE / 2 + 1);
    if (!header.rowTitle) return;
    ctx.save();
    ctx.translate(LINE / 2 + 1, top);
    ctx.rotate(-Math.PI / 2);
    ctx.textAlign = "right";
    ctx.fillText(shorten(ctx, header.rowTitle, Math.max(h * this.height, 30)), 0, 0);
    ctx.restore();
  }

  paintLegend() {
    const { header, theme } = this, { values, masked } = this.arrays;
    const signed = header.palette === "signed", limit = header.limit;
    const beyond = (test) => values.some((value, at) => !masked?.[at] && test(value));
    const mark = (test, sign) => (beyond(test) ? sign : "");
    this.low.textContent = signed ? mark((v) => v < -limit, "≤ ") + legendNumber(-limit) : "0";
    this.high.textContent = mark((v) => v > limit, "≥ ") + legendNumber(limit);
    this.middle.textContent = signed ? "0" : "";
    this.bar.style.background = gradient(header.palette, theme);
    this.maskKey.hidden = !masked?.includes(1);
    this.maskWord.textContent = header.words.masked;
    this.legend.style.paddingLeft = `${Math.min(this.place.left, this.root.clientWidth - 240)}px`;
  }

  // The painted base, the labels (those of the pointed and the chosen cell stand out), and the frames.
  draw() {
    if (!this.ctx) return;
    const { ctx, place, theme, header } = this;
    ctx.clearRect(0, 0, place.total, place.tall);
    ctx.drawImage(this.base, 0, 0, place.total, place.tall);
    const strong = [this.hover, this.selected].filter((cell) => this.exists(cell));
    this.drawRowLabels(ctx, new Set([...strong.map(([r]) => r), ...(header.markRow === null ? [] : [header.markRow])]));
    this.drawColumnLabels(ctx, new Set(strong.map(([, c]) => c)));
    if (header.markRow !== null) this.markRow(ctx, header.markRow);
    if (this.exists(this.selected)) this.frame(ctx, this.box(...this.selected), theme.ink, 2);
    if (this.exists(this.hover) && String(this.hover) !== String(this.selected)) this.frame(ctx, this.box(...this.hover), theme.ink, 1.25);
  }

  frame(ctx, { left, top, width, height }, color, weight) {
    for (const [ink, size, out] of [[this.theme.ground, weight + 2, weight / 2], [color, weight, weight / 2]]) {
      ctx.strokeStyle = ink;
      ctx.lineWidth = size;
      ctx.strokeRect(left - out, top - out, width + 2 * out, height + 2 * out);
    }
  }

  markRow(ctx, r) {
    const first = this.box(r, 0), { w } = this.place;
    ctx.strokeStyle = this.theme.accent;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(first.left - 1.25, first.top - 1.25, w * this.width + 1.5, first.height + 2.5);
  }

  drawRowLabels(ctx, strong) {
    const { left, top, h, gap } = this.place, { header, theme } = this;
    const room = left - 8 - (header.rowTitle ? LINE + 3 : 0);
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const r of this.thinned(this.height, h, strong)) {
      const bold = strong.has(r);
      ctx.font = this.font(bold ? 700 : 400);
      ctx.fillStyle = bold ? theme.ink : theme.gray;
      ctx.fillText(shorten(ctx, header.rows[r], room), left - 6, top + r * h + (h - gap) / 2 + 0.5);
    }
  }

  drawColumnLabels(ctx, strong) {
    const { left, top, w, gap, flat, longest } = this.place, { header, theme } = this;
    ctx.textBaseline = "middle";
    for (const c of this.thinned(this.width, w, strong)) {
      const bold = strong.has(c), middle = left + c * w + (w - gap) / 2;
      ctx.font = this.font(bold ? 700 : 400);
      ctx.fillStyle = bold ? theme.ink : theme.gray;
      if (flat || this.upright.has(c)) {
        ctx.textAlign = "center";
        ctx.fillText(shorten(ctx, header.columns[c], w - 2), middle, top - LINE / 2 - 2);
        continue;
      }
      ctx.save();
      ctx.translate(middle, top - 6);
      ctx.rotate(-Math.PI / 2);
      ctx.textAlign = "left";
      ctx.fillText(shorten(ctx, header.columns[c], longest + 1), 0, 0.5);
      ctx.restore();
    }
  }

  // Positions whose labels fit beside each other; the strong ones push their neighbours away.
  thinned(count, step, strong) {
    const every = Math.max(1, Math.ceil(13 / step));
    const kept = [];
    for (let at = 0; at < count; at++) {
      const crowded = [...strong].some((other) => Math.abs(other - at) * step < 13);
      if (strong.has(at) || (at % every === 0 && !crowded)) kept.push(at);
    }
    return kept;
  }

  cellAt(event) {
    const bounds = this.canvas.getBoundingClientRect(), { left, top, w, h } = this.place;
    const cell = [Math.floor((event.clientY - bounds.top - top) / h), Math.floor((event.clientX - bounds.left - left) / w)];
    return this.exists(cell) ? cell : null;
  }

  point(event) { this.show(this.cellAt(event)); }

  show(cell) {
    if (String(cell) === String(this.hover) && this.tip.hidden === !cell) return;
    this.hover = this.exists(cell) ? cell : null;
    this.canvas.classList.toggle("over-cell", this.hover !== null);
    this.draw();
    this.tip.hidden = this.hover === null;
    if (this.hover) this.fillTip(this.hover);
  }

  words(cell) {
    const { header, arrays } = this, at = cell[0] * this.width + cell[1];
    const value = exactNumber((arrays.exact ?? arrays.values)[at]);
    return {
      row: header.rows[cell[0]], column: header.columns[cell[1]], value, r: cell[0], c: cell[1],
      rowTitle: header.rowTitle || header.words.row, columnTitle: header.columnTitle || header.words.column,
      masked: arrays.masked?.[at] === 1,
    };
  }

  speak(cell) {
    const { words } = this.header, said = this.words(cell);
    this.speech.textContent = fill(said.masked ? words.speakMasked : words.speak, said);
  }

  fillTip(cell) {
    const said = this.words(cell);
    this.tip.replaceChildren();
    for (const [name, place, what] of [[said.rowTitle, said.r, said.row], [said.columnTitle, said.c, said.column]]) {
      make("span", "name", this.tip).textContent = name;
      const line = make("span", "what", this.tip);
      if (what !== `${place}` && !what.startsWith(`${place} `)) make("i", "", line).textContent = `${place}  `;
      line.append(what);
    }
    make("span", "exact", this.tip).textContent = said.masked ? `${said.value}  (${this.header.words.masked})` : said.value;
    placeTip(this.tip, this.root, this.box(...cell));
  }

  click(event) {
    const cell = this.cellAt(event);
    if (cell && this.header.active) this.choose(cell);
  }

  choose(cell) {
    this.selected = cell;
    this.speak(cell);
    this.draw();
    this.sender.choose(cell);
  }

  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") { this.show(null); return; }
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -this.width], End: [0, this.width] }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const cell = this.next(step);
    if (!cell) return;
    this.show(cell);
    if (this.header.active) this.choose(cell);
    else this.speak(cell);
  }

  // The nearest existing cell in the direction of the step; Home and End are the farthest in the row.
  next([down, across]) {
    const from = this.header.active ? this.selected : this.hover;
    if (!this.exists(from)) return this.firstCell();
    const far = Math.abs(across) > 1, dc = Math.sign(across);
    let found = null;
    for (let r = from[0] + down, c = from[1] + dc; r >= 0 && c >= 0 && r < this.height && c < this.width; r += down, c += dc) {
      if (!this.exists([r, c])) continue;
      found = [r, c];
      if (!far) break;
    }
    return found;
  }

  firstCell() {
    const at = this.arrays.values.findIndex((value) => !Number.isNaN(value));
    return at < 0 ? null : [Math.floor(at / this.width), at % this.width];
  }

  close() { this.stopWatching(); clearTimeout(this.sender.timer); }
}

export default function ({ data, parentElement, setStateValue }) {
  const view = mount(parentElement, setStateValue, (root, sender) => new Matrix(root, sender));
  view.update(data);
  return () => view.close();
}
