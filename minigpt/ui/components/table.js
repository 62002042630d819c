// Table: text nodes in cells that are reused at each update; one row is marked.

class Table {
  constructor(root, sender) {
    this.root = root; this.sender = sender; this.selected = null; this.rows = []; this.heads = [];
    this.copy = make("button", "copy", root);
    this.copy.type = "button";
    this.plate = make("div", "plate", root);
    this.plate.tabIndex = 0;
    this.plate.setAttribute("role", "region");
    const grid = make("table", "grid", this.plate);
    this.head = make("tr", "", make("thead", "", grid));
    this.body = make("tbody", "", grid);
    this.copy.addEventListener("click", () => this.copyAll());
    this.body.addEventListener("click", (event) => this.click(event));
    this.plate.addEventListener("keydown", (event) => this.press(event));
  }

  update(data) {
    const first = this.data === undefined;
    this.data = data;
    readTheme(this.root);
    this.plate.setAttribute("aria-label", data.label);
    this.plate.style.maxHeight = `${data.height}px`;
    this.plate.classList.toggle("active", data.active);
    this.copy.textContent = data.words.copy;
    this.fit(this.heads, this.head, "th", data.columns.length);
    data.columns.forEach((column, at) => {
      write(this.heads[at], column.name);
      this.heads[at].className = column.kind;
    });
    this.plate.style.setProperty("--room", `${this.longest("bar")}ch`);
    this.fit(this.rows, this.body, "tr", data.columns[0].cells.length);
    this.rows.forEach((row, at) => this.draw(row, at));
    this.select(this.sender.owed(data.seen) ? this.selected : data.selected, first);
  }

  // As many children as wanted; `nodes` lists them.
  fit(nodes, parent, tag, wanted) {
    while (nodes.length < wanted) nodes.push(make(tag, "", parent));
    nodes.splice(wanted).forEach((node) => node.remove());
  }

  // Characters of the longest cell of one kind: what bars leave free beside them, the same in each column.
  longest(kind) {
    const cells = this.data.columns.filter((column) => column.kind === kind).flatMap((column) => column.cells);
    return Math.max(0, ...cells.map((cell) => cell.length));
  }

  draw(row, at) {
    const { columns, faint } = this.data;
    row.className = faint.includes(at) ? "faint" : "";
    while (row.children.length < columns.length) make("td", "", row);
    while (row.children.length > columns.length) row.lastChild.remove();
    columns.forEach((column, place) => {
      const cell = row.children[place];
      const share = String(column.shares?.[at] ?? "");
      cell.className = column.kind === "bar" && !share ? "bar gone" : column.kind;
      write(cell, column.cells[at]);
      const hint = column.exact && column.exact[at] !== column.cells[at] ? column.exact[at] : "";
      if (cell.title !== hint) cell.title = hint;
      if (cell.dataset.share !== share) {
        cell.dataset.share = share;
        cell.style.setProperty("--share", share);
      }
    });
  }

  select(at, first) {
    const moved = at !== this.selected;
    this.selected = at;
    this.rows.forEach((row, place) => {
      if (place === at) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    });
    if (at !== null && this.rows[at] && (moved || first)) this.reveal(this.rows[at]);
  }

  reveal(row) {
    const { plate, head } = this, top = row.offsetTop - head.offsetHeight, low = row.offsetTop + row.offsetHeight - plate.clientHeight;
    if (plate.scrollTop > top) plate.scrollTop = top;
    else if (plate.scrollTop < low) plate.scrollTop = low;
  }

  choose(at) {
    this.select(at, false);
    this.sender.choose(at);
  }

  click(event) {
    const at = this.rows.indexOf(event.target.closest("tr"));
    const marking = String(this.root.getRootNode().getSelection?.() ?? document.getSelection());
    if (this.data.active && at >= 0 && !marking) this.choose(at);
  }

  press(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || !this.data.active || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const at = (this.selected ?? -1) + step;
    if (this.rows[at]) this.choose(at);
  }

  // Tabs between cells, for any spreadsheet; works without the permission that a page on plain HTTP never gets.
  copyAll() {
    const { columns, words } = this.data;
    const lines = [columns.map((column) => column.name), ...this.rows.map((row, at) => columns.map((column) => (column.exact ?? column.cells)[at]))];
    const text = lines.map((line) => line.join("\t")).join("\n");
    document.addEventListener("copy", (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      event.clipboardData.setData("text/plain", text);
    }, { once: true, capture: true });
    if (document.execCommand("copy")) this.copy.textContent = words.copied;
  }

  close() { clearTimeout(this.sender.timer); }
}

const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };

export default function ({ data, parentElement, setStateValue }) {
  const view = mount(parentElement, setStateValue, (root, sender) => new Table(root, sender));
  view.update(data);
  return () => view.close();
}
