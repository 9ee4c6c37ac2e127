"use strict";

// Tables of class "sortable": a button in every head sorts by it, first up, then down, then as the
// page came.  Rows marked data-fixed stay on top.  Long tables get a field that narrows them.
// Without this script the tables are all there.
(() => {
  const LONG = 20; // rows; a longer table is narrowed by typing
  const NUMBER = /^[<>]?\s*([-−+]?)\s*(∞|(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(µs|ms|s|B|kB|MB|GB|TB|PB|%)?(?![\w.])/;
  const UNITS = {
    "µs": 1e-6, ms: 1e-3, s: 1, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15, "%": 0.01,
  };
  const NOTHING = new Set(["", "–", "—", "undefined"]);
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

  const textOf = (row, column) => row.cells[column].textContent.trim();

  // The number a text begins with, an interval behind it left alone; null where there is none.
  const numberOf = (text) => {
    const found = NUMBER.exec(text);
    if (found === null) return null;
    const size = found[2] === "∞" ? Infinity : Number(found[2].replaceAll(",", ""));
    const sign = found[1] === "-" || found[1] === "−" ? -1 : 1;
    return sign * size * (found[3] === undefined ? 1 : UNITS[found[3]]);
  };

  const byNumber = (a, b) => (a === b ? 0 : a < b ? -1 : 1);
  const byText = (a, b) => a.localeCompare(b, "en", { numeric: true });

  // Numbers only where every cell that says something begins with one.  What is undefined is last
  // whichever way the rest goes; equal rows keep the order in which the page came.
  const sorted = (rows, column, direction) => {
    if (direction === "none") return rows;
    const cells = rows.map((row) => ({ row, text: textOf(row, column) }));
    const known = cells.filter((cell) => !NOTHING.has(cell.text));
    const unknown = cells.filter((cell) => NOTHING.has(cell.text));
    const numbers = known.map((cell) => numberOf(cell.text));
    const isNumeric = numbers.every((number) => number !== null);
    known.forEach((cell, at) => { cell.key = isNumeric ? numbers[at] : cell.text; });
    const sign = direction === "ascending" ? 1 : -1;
    const compare = isNumeric ? byNumber : byText;
    known.sort((a, b) => sign * compare(a.key, b.key));
    return [...known, ...unknown].map((cell) => cell.row);
  };

  const makeSortable = (table, rows) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head) => {
      if (head.tagName !== "TH" || head.textContent.trim() === "") return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const direction = NEXT[head.getAttribute("aria-sort") ?? "none"];
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (direction !== "none") head.setAttribute("aria-sort", direction);
        // Rows that are appended anew move behind all others: what is fixed comes to stand on top.
        body.append(...sorted(rows, head.cellIndex, direction));
      });
    });
  };

  // Every word typed must occur in a row, in whichever cell.
  const narrow = (rows, typed, told) => {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row) => {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    });
    told.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  };

  const makeNarrowable = (table, rows) => {
    const line = document.createElement("p");
    const label = document.createElement("label");
    const field = document.createElement("input");
    const told = document.createElement("output");
    line.className = "narrow";
    field.type = "search";
    field.autocomplete = "off";
    label.append("Show only rows with ", field);
    line.append(label, " ", told);
    table.parentElement.before(line);
    field.addEventListener("input", () => narrow(rows, field.value, told));
  };

  document.querySelectorAll("table.sortable").forEach((table) => {
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hasAttribute("data-fixed"));
    if (rows.length > 1) makeSortable(table, rows);
    if (rows.length > LONG) makeNarrowable(table, rows);
  });
})();
