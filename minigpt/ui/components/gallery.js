// Gallery: every head is one small image, scaled into one canvas; frames and titles are drawn over a painted copy.

const THUMB = 132, LINE = 15;

class Gallery {
  constructor(root, sender) {
    this.root = root; this.sender = sender; this.hover = null; this.selected = null; this.painted = "";
    this.canvas = make("canvas", "", root);
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.base = document.createElement("canvas");
    this.speech = make("div", "quiet", root);
    this.speech.setAttribute("aria-live", "polite");
    this.tip = make("div", "tip", root);
    this.tip.hidden = true;
    this.canvas.addEventListener("pointermove", (event) => this.show(this.headAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.show(null));
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.stopWatching = watchSize(root, () => this.paint());
  }

  update(bytes) {
    const { header, arrays } = unpack(bytes);
    if (this.header?.version !== header.version) {
      this.weights = arrays().weights;
      [this.blocks, this.heads, this.length] = header.shape;
      this.show(null);
    }
    this.header = header;
    this.canvas.setAttribute("aria-label", header.label);
    if (!this.sender.owed(header.seen) || !this.exists(this.selected)) this.selected = header.selected;
    this.theme = readTheme(this.root);
    if (this.look() !== this.painted) this.paint();
    else this.draw();
  }

  look() { return [this.header.version, this.theme.key, this.root.clientWidth, window.devicePixelRatio].join(); }

  exists(head) { return head !== null && head[0] >= 0 && head[1] >= 0 && head[0] < this.blocks && head[1] < this.heads; }

  title(head) { return fill(this.header.words.title, { b: head[0], h: head[1] }); }

  paint() {
    if (!this.header || !this.root.clientWidth) return;
    this.painted = this.look();
    this.layout();
    const { total, tall } = this.place;
    this.ctx = sizeCanvas(this.canvas, total, tall);
    const ctx = sizeCanvas(this.base, total, tall);
    this.paintHeads(ctx);
    this.draw();
  }

  // Thumbnails as large as the width allows; whole screen pixels per cell when that costs little size.
  layout() {
    const { blocks, heads, length } = this, room = this.root.clientWidth - 8;
    probe.font = this.font();
    const widest = probe.measureText(this.title([blocks - 1, heads - 1])).width;
    const roomy = Math.min(THUMB, room / heads - 16);
    const titled = blocks * heads <= 16 && roomy >= Math.max(64, widest + 4);
    const left = titled ? 4 : Math.ceil(probe.measureText(fill(this.header.words.block, { b: blocks - 1 })).width) + 12;
    const gap = titled ? 18 : Math.max(3, Math.min(10, Math.floor((room - left) / heads / 8)));
    const most = Math.max(8, Math.floor(Math.min(THUMB, (room - left + gap) / heads - gap)));
    const scale = window.devicePixelRatio || 1;
    const whole = (Math.floor((most * scale) / length) * length) / scale;
    const sharp = whole >= Math.max(0.7 * most, titled ? widest : 0);
    const size = sharp ? whole : most;
    const step = size + gap, head = titled ? LINE + 4 : 0, top = titled ? 4 : LINE + 6;
    const stepDown = size + head + (titled ? 14 : gap);
    this.place = { left, top, gap, size, step, stepDown, head, titled, sharp, total: left + step * heads - gap + 4, tall: top + stepDown * blocks - (titled ? 14 : gap) + 4 };
  }

  font(weight = 400) { return `${weight} 11.5px ${this.theme.font}`; }

  box([b, h]) {
    const { left, top, step, stepDown, head, size } = this.place;
    return { left: left + h * step, top: top + b * stepDown + head, width: size, height: size };
  }

  paintHeads(ctx) {
    const { length, theme, place } = this, area = length * length;
    const tile = document.createElement("canvas");
    tile.width = tile.height = length;
    const pen = tile.getContext("2d"), image = pen.createImageData(length, length);
    const pixels = new Uint32Array(image.data.buffer);
    const colors = this.levels();
    const hidden = pack32(readColor(theme.mix(0.09), probe));
    ctx.imageSmoothingEnabled = !place.sharp;
    ctx.imageSmoothingQuality = "high";
    for (let at = 0; at < this.blocks * this.heads; at++) {
      const from = at * area;
      for (let i = 0; i < area; i++) pixels[i] = colors[this.weights[from + i]];
      if (this.header.causal) {
        for (let r = 0; r < length; r++) pixels.fill(hidden, r * length + r + 1, (r + 1) * length);
      }
      pen.putImageData(image, 0, 0);
      const box = this.box([Math.floor(at / this.heads), at % this.heads]);
      ctx.drawImage(tile, box.left, box.top, box.width, box.height);
      ctx.strokeStyle = theme.line;
      ctx.lineWidth = 1;
      ctx.strokeRect(box.left - 0.5, box.top - 0.5, box.width + 1, box.height + 1);
    }
  }

  levels() {
    const { rgb } = ramp("attention", this.theme);
    return Uint32Array.from({ length: 256 }, (_, level) => pack32(rgb[rampIndex("attention", level / 255, 1)]));
  }

  draw() {
    if (!this.ctx) return;
    const { ctx, place, theme } = this;
    ctx.clearRect(0, 0, place.total, place.tall);
    ctx.drawImage(this.base, 0, 0, place.total, place.tall);
    if (place.titled) this.drawTitles(ctx);
    else this.drawHeadings(ctx);
    if (this.header.markRow !== null) this.drawMarks(ctx);
    if (this.hover) this.frame(ctx, this.hover, theme.mix(0.5), 1.5);
    if (this.exists(this.selected)) this.frame(ctx, this.selected, theme.accent, 2.5);
  }

  write(ctx, text, x, y, strong) {
    ctx.font = this.font(strong ? 700 : 400);
    ctx.fillStyle = strong ? this.theme.ink : this.theme.gray;
    ctx.fillText(text, x, y);
  }

  drawTitles(ctx) {
    ctx.textBaseline = "alphabetic";
    ctx.textAlign = "left";
    for (let b = 0; b < this.blocks; b++) {
      for (let h = 0; h < this.heads; h++) {
        const box = this.box([b, h]);
        this.write(ctx, this.title([b, h]), box.left, box.top - 6, String(this.selected) === `${b},${h}`);
      }
    }
  }

  drawHeadings(ctx) {
    const { words } = this.header, { size, step, left } = this.place;
    const [block, head] = this.selected ?? [-1, -1];
    probe.font = this.font(700);
    const whole = probe.measureText(fill(words.head, { h: this.heads - 1 })).width <= step - 2;
    ctx.textBaseline = "middle";
    ctx.textAlign = "center";
    for (let h = 0; h < this.heads; h++) {
      this.write(ctx, whole ? fill(words.head, { h }) : String(h), left + h * step + size / 2, LINE / 2, h === head);
    }
    ctx.textAlign = "right";
    for (let b = 0; b < this.blocks; b++) {
      const box = this.box([b, 0]);
      this.write(ctx, fill(words.block, { b }), left - 7, box.top + size / 2, b === block);
    }
  }

  // A small wedge at the left edge of each head: the query the page is about.
  drawMarks(ctx) {
    const { size, gap } = this.place, wedge = Math.min(6, gap - 1);
    const down = ((this.header.markRow + 0.5) / this.length) * size;
    ctx.fillStyle = this.theme.accent;
    for (let b = 0; b < this.blocks; b++) {
      for (let h = 0; h < this.heads; h++) {
        const box = this.box([b, h]);
        ctx.beginPath();
        ctx.moveTo(box.left + 1.5, box.top + down);
        ctx.lineTo(box.left - wedge + 1.5, box.top + down - wedge * 0.7);
        ctx.lineTo(box.left - wedge + 1.5, box.top + down + wedge * 0.7);
        ctx.fill();
      }
    }
  }

  frame(ctx, head, color, weight) {
    const { left, top, width, height } = this.box(head), out = weight / 2 + 0.5;
    ctx.strokeStyle = color;
    ctx.lineWidth = weight;
    ctx.beginPath();
    ctx.roundRect(left - out, top - out, width + 2 * out, height + 2 * out, 2.5);
    ctx.stroke();
  }

  headAt(event) {
    const bounds = this.canvas.getBoundingClientRect(), { left, top, step, stepDown } = this.place;
    const head = [Math.floor((event.clientY - bounds.top - top) / stepDown), Math.floor((event.clientX - bounds.left - left) / step)];
    return this.exists(head) ? head : null;
  }

  show(head) {
    if (String(head) === String(this.hover)) return;
    this.hover = head;
    this.canvas.classList.toggle("over-cell", head !== null);
    this.tip.hidden = true;
    if (!this.place) return;
    this.draw();
    if (head === null || this.place.titled) return;
    this.tip.textContent = this.title(head);
    placeTip(this.tip, this.root, this.box(head));
  }

  click(event) {
    const head = this.headAt(event);
    if (head) this.choose(head);
  }

  choose(head) {
    this.selected = head;
    this.speech.textContent = this.title(head);
    this.draw();
    this.sender.choose(head);
  }

  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const [b, h] = this.selected;
    const to = { ArrowUp: [b - 1, h], ArrowDown: [b + 1, h], ArrowLeft: [b, h - 1], ArrowRight: [b, h + 1], Home: [b, 0], End: [b, this.heads - 1] }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.exists(to) && String(to) !== String(this.selected)) this.choose(to);
  }

  close() { this.stopWatching(); clearTimeout(this.sender.timer); }
}

// An opaque color as the little-endian word of an ImageData pixel.
const pack32 = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

export default function ({ data, parentElement, setStateValue }) {
  const view = mount(parentElement, setStateValue, (root, sender) => new Gallery(root, sender));
  view.update(data);
  return () => view.close();
}
