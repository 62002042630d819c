// Record: a text box that sends what is typed after a short pause, every character as it is.

const PAUSE = 250, MOST_HEIGHT = 132;

class RecordBox {
  constructor(root, sender) {
    this.root = root; this.sender = sender; this.pause = 0; this.composing = false;
    const head = make("div", "head", root);
    this.label = make("label", "label", head);
    this.note = make("span", "note", head);
    this.area = make("textarea", "area", root);
    this.area.rows = 1;
    this.area.spellcheck = false;
    this.area.id = "record";
    this.label.htmlFor = "record";
    this.area.addEventListener("input", () => this.typed());
    this.area.addEventListener("compositionstart", () => { this.composing = true; });
    this.area.addEventListener("compositionend", () => { this.composing = false; this.typed(); });
    this.area.addEventListener("keydown", (event) => this.press(event));
    this.area.addEventListener("blur", () => this.send());
    this.stopWatching = watchSize(root, () => this.grow());
  }

  update(data) {
    this.label.textContent = data.label;
    this.note.textContent = data.note;
    this.note.classList.toggle("wrong", data.wrong);
    this.area.placeholder = data.placeholder;
    const older = data.seen < this.sender.number && (this.sender.owed(data.seen) || this.root.getRootNode().activeElement === this.area);
    if (older || this.pause || this.composing || this.area.value === data.text) return;
    this.area.value = data.text;
    this.grow();
  }

  typed() {
    this.grow();
    if (this.composing) return;
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.send(), PAUSE);
  }

  send() {
    if (!this.pause) return;
    clearTimeout(this.pause);
    this.pause = 0;
    this.sender.choose(this.area.value);
  }

  // Enter applies at once, Shift+Enter is a newline of the record. No key of the box reaches the page's shortcuts.
  press(event) {
    event.stopPropagation();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send();
  }

  grow() {
    this.area.style.height = "auto";
    const height = this.area.scrollHeight + 2;
    this.area.style.height = `${Math.min(height, MOST_HEIGHT)}px`;
    this.area.style.overflowY = height > MOST_HEIGHT ? "auto" : "hidden";
  }

  close() { this.send(); this.stopWatching(); clearTimeout(this.sender.timer); }
}

export default function ({ data, parentElement, setStateValue }) {
  const view = mount(parentElement, setStateValue, (root, sender) => new RecordBox(root, sender));
  view.update(data);
  return () => view.close();
}
