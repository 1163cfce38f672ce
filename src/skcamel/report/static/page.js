"use strict";
// What every page needs: data, drawing, downloads, sortable tables, theme. Sections register with skcamel.section.
// Names of labels are text from files: they only ever become text nodes or attribute values, never markup.
const skcamel = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const sections = new Map();
  const FOLDED = 16; // rows, as in the style sheet

  // In the page colours follow the theme by themselves; a downloaded drawing is for paper and has plain colours.
  const LIGHT = {
    page: "#ffffff", ink: "#1b2430", muted: "#556070", line: "#dbe1e8", soft: "#f3f3f1", own: "#8591a1",
    accent: "#0b6b62", up: "#2166ac", down: "#b35806",
  };
  const DARK = {
    page: "#12161c", ink: "#e6eaf0", muted: "#a7b1bf", line: "#303946", soft: "#1f2630", own: "#7c8898",
    accent: "#5fd3c4", up: "#6fb1ee", down: "#f0a355",
  };
  const SCREEN = Object.fromEntries(Object.keys(LIGHT).map((key) => [key, `light-dark(${LIGHT[key]}, ${DARK[key]})`]));
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

  // ---- data -------------------------------------------------------------------------------------------------------

  function unpack(key, value) {
    const packed = value && (value.f32 ?? value.i16 ?? value.u8);
    if (typeof packed !== "string" || !Array.isArray(value.shape)) return value;
    const text = atob(packed);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const columns = value.shape[value.shape.length - 1];
    const values = value.f32 !== undefined ? new Float32Array(bytes.buffer)
      : value.i16 !== undefined ? Float32Array.from(new Int16Array(bytes.buffer), (step, k) => step * value.scale[k % columns])
        : bytes;
    return { shape: value.shape, values };
  }

  function data(name) {
    const element = document.getElementById(`data-${name}`);
    return element ? JSON.parse(element.textContent, unpack) : null;
  }

  // ---- elements ---------------------------------------------------------------------------------------------------

  function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) element.setAttribute(key, legible(value));
    }
    element.append(...children.map(legible)); // strings become text nodes
    return element;
  }

  // What XML does not allow would make a downloaded drawing unreadable.
  const legible = (value) => (typeof value === "string" ? value.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd") : value);
  const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const text = (x, y, content, attributes = {}) => svg("text", { x: round(x), y: round(y), ...attributes }, content);

  // Two decimals of a pixel are enough, and keep drawings small.
  const round = (number) => Math.round(number * 100) / 100;

  function points(pairs) {
    return pairs.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
  }

  const number = (value, digits = 3) => (Number.isFinite(value) ? value.toFixed(digits).replace("-", "−") : "–");
  const signed = (value, digits = 3) => (value >= 0 ? "+" : "") + number(value, digits);
  const short = (name, length = 24) => (name.length > length ? `${name.slice(0, length - 1)}…` : name);

  // Round numbers that cover [low, high], about `count` of them.
  function ticks(low, high, count = 5) {
    const step0 = (high - low || 1) / count;
    const power = 10 ** Math.floor(Math.log10(step0));
    const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= step0 * 0.999);
    const result = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) result.push(Number((k * step).toPrecision(12)));
    return result;
  }

  // ---- figures ----------------------------------------------------------------------------------------------------

  // On a phone figures are drawn for its width, not shrunk or cut off; `narrow.matches` tells.
  const narrow = matchMedia("(max-width: 40rem)");

  function blank(width, height, paint, attributes = {}) {
    return svg("svg", {
      xmlns: SVG, viewBox: `0 0 ${round(width)} ${round(height)}`, width: round(width), height: round(height),
      "font-family": FONT, "font-size": 12, fill: paint.ink, ...attributes,
    });
  }

  // A figure draws itself with `draw(paint)`, which returns an svg element, and tells its data with `csv()`: rows of cells.
  // Returned is the function that draws it anew.
  function figure(id, { draw, csv, after }) {
    const root = document.getElementById(id);
    const plot = document.getElementById(`${id}-plot`);
    const show = () => {
      plot.replaceChildren(draw(SCREEN));
      if (after) after(plot.firstChild);
    };
    onDownload(root, "svg", () => {
      const drawing = draw(LIGHT);
      drawing.prepend(svg("rect", { width: "100%", height: "100%", fill: LIGHT.page }));
      drawing.querySelectorAll("[tabindex]").forEach((element) => element.removeAttribute("tabindex"));
      return [`${id}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(drawing)];
    });
    onDownload(root, "csv", () => [`${id}.csv`, "text/csv", csvText(csv())]);
    narrow.addEventListener("change", show);
    show();
    return show;
  }

  function onDownload(root, kind, make) {
    const button = root.querySelector(`[data-download="${kind}"]`);
    if (button) button.addEventListener("click", () => save(...make()));
  }

  function save(name, type, content) {
    const address = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
    const link = html("a", { href: address, download: name });
    link.click();
    // The browser reads the address after this function has ended.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  function csvText(rows) {
    const cell = (value) => {
      const content = value === null || value === undefined ? "" : String(value);
      // A spreadsheet would compute a name that starts like a formula; numbers are left alone. As skcamel.text has it.
      const formula = /^(?:'*[\s\x00-\x20\x7f-\xa0\u200b-\u200f\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n])/;
      const numeral = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
      const safe = typeof value === "string" && formula.test(content) && !numeral.test(content) ? `'${content}` : content;
      return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
  }

  // ---- axes -------------------------------------------------------------------------------------------------------

  // A frame with a scale for each axis. x and y: {low, high, log, label, format}.
  function axes(root, paint, { left, top, width, height, x, y, gridX = true }) {
    const scale = (axis, from, to) => {
      const map = axis.log ? Math.log10 : (value) => value;
      const low = map(axis.low), span = map(axis.high) - low || 1;
      return (value) => from + ((map(value) - low) / span) * (to - from);
    };
    const sx = scale(x, left, left + width), sy = scale(y, top + height, top);
    const at = (axis) => (axis.log ? powers(axis.low, axis.high) : ticks(axis.low, axis.high, axis.count ?? 5));
    const format = (axis) => axis.format ?? ((value) => String(value).replace("-", "−"));
    const grid = svg("g", { stroke: paint.line, "stroke-width": 1 });
    const words = svg("g", { fill: paint.muted, "font-size": 11 });
    for (const value of at(x)) {
      if (gridX) grid.append(svg("line", { x1: round(sx(value)), x2: round(sx(value)), y1: top, y2: top + height }));
      words.append(text(sx(value), top + height + 16, format(x)(value), { "text-anchor": "middle" }));
    }
    for (const value of at(y)) {
      grid.append(svg("line", { x1: left, x2: left + width, y1: round(sy(value)), y2: round(sy(value)) }));
      words.append(text(left - 8, sy(value) + 4, format(y)(value), { "text-anchor": "end" }));
    }
    if (x.label) words.append(text(left + width / 2, top + height + 34, x.label, { "text-anchor": "middle", "font-size": 12 }));
    if (y.label) words.append(text(left - 4, top - 10, y.label, { "text-anchor": "start", "font-size": 12 }));
    root.append(grid, words);
    return { sx, sy };
  }

  function powers(low, high) {
    const result = [];
    for (let k = Math.ceil(Math.log10(low) - 1e-9); k <= Math.log10(high) + 1e-9; k++) result.push(Number(`1e${k}`));
    // Less than two decades: 1, 2, 5 of each.
    if (result.length > 2) return result;
    const fine = [];
    for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k++) {
      for (const m of [1, 2, 5]) {
        const value = Number(`${m}e${k}`);
        if (value >= low * 0.999 && value <= high * 1.001) fine.push(value);
      }
    }
    return fine;
  }

  // ---- tables -----------------------------------------------------------------------------------------------------

  // A table may have several bodies, each sorted by itself; those with the class "heading" only name the next one.
  // `rows` tells what the CSV file holds; without it, what is shown.
  function table(root, rows = () => tableRows(root)) {
    const bodies = root.querySelectorAll("tbody:not(.heading)");
    const heads = [...root.querySelectorAll("thead th")];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      // Numbers are most often wanted from the largest, names from A.
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const direction = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
      bodies.forEach((body) => sortRows(body, column, head.classList.contains("number"), direction === "ascending" ? 1 : -1));
    }));
    onDownload(root, "csv", () => [`${root.id}.csv`, "text/csv", csvText(rows())]);
    if (root.classList.contains("foldable")) fold(root);
  }

  // Of many rows the first are shown, in whatever order; the style sheet hides the others, and shows all on paper.
  function fold(root) {
    const many = root.querySelectorAll("tbody:not(.heading) tr").length;
    if (many <= FOLDED + 4) return;
    const button = html("button", { type: "button", class: "quiet more", "aria-expanded": "false" });
    const set = (folded) => {
      root.classList.toggle("folded", folded);
      button.setAttribute("aria-expanded", String(!folded));
      button.textContent = folded ? `${FOLDED} of ${many} rows, show all` : `All ${many} rows, show ${FOLDED}`;
    };
    button.addEventListener("click", () => set(!root.classList.contains("folded")));
    set(true);
    root.append(button);
  }

  function sortRows(body, column, numeric, sign) {
    const key = (row) => row.cells[column].dataset.key;
    const rows = [...body.rows];
    rows.sort((a, b) => {
      const [p, q] = [key(a), key(b)];
      if (p === "" || q === "") return (p === "") - (q === ""); // what is undefined stays at the end
      return sign * (numeric ? Number(p) - Number(q) : p.localeCompare(q, "en", { numeric: true }));
    });
    body.append(...rows);
  }

  function tableRows(root) {
    const head = [...root.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
    return [head, ...[...root.querySelectorAll("tbody tr")].filter((row) => !row.hidden).map((row) => [...row.cells].map((cell) => cell.dataset.key))];
  }

  // ---- lists of pushes --------------------------------------------------------------------------------------------

  // What the training rows show about the labels i and j beside a push.
  function evidence(sent, q) {
    const at = (counts, i, j) => counts.values[i * q - (i * (i - 1)) / 2 + (j - i)]; // the triangle above the diagonal, row by row
    const seen = (i, j) => at(sent.seen, Math.min(i, j), Math.max(i, j));
    const expected = (i, j) => (sent.expected ? at(sent.expected, Math.min(i, j), Math.max(i, j)) : (seen(i, i) * seen(j, j)) / sent.total);
    const against = (i, j) => sent.against.values[i * q + j];
    const counted = (value) => (Number.isInteger(value) || value >= 1000 ? Math.round(value).toLocaleString("en") : value >= 1 ? value.toFixed(1) : String(Number(value.toPrecision(2))));
    const words = (i, j) => `seen ${counted(seen(i, j))}, expected ${counted(expected(i, j))}${against(i, j) ? `; ${sent.phrase}` : ""}`;
    return {
      against, words, brackets: (i, j) => ` (${words(i, j)})`,
      heads: ["seen", "expected", "against_the_data"], cells: (i, j) => [seen(i, j), expected(i, j), against(i, j)],
    };
  }

  // A list of {name, amount, note}: a bar to the left or right, and the number. `choose` makes names buttons.
  function pushes(items, choose) {
    const most = Math.max(...items.map((item) => Math.abs(item.amount)), 1e-12);
    const list = html("ul", { class: "pushes" });
    for (const { name, amount, key, note } of items) {
      const width = (Math.abs(amount) / most) * 21;
      const bar = svg("svg", { width: 44, height: 12, "aria-hidden": "true" },
        svg("line", { x1: 22, x2: 22, y1: 0, y2: 12, stroke: SCREEN.line }),
        svg("rect", { x: round(amount >= 0 ? 22 : 22 - width), y: 2, width: round(width), height: 8, fill: amount >= 0 ? SCREEN.up : SCREEN.down }));
      const label = choose ? html("button", { type: "button", class: "link name", title: name }, name) : html("span", { class: "name", title: name }, name);
      if (choose) label.addEventListener("click", () => choose(key));
      list.append(html("li", {}, label, bar, html("span", { class: "amount" }, signed(amount)), ...(note ? [html("span", { class: "seen" }, note)] : [])));
    }
    return list;
  }

  // ---- a field that finds a label by its name ---------------------------------------------------------------------

  function finder(input, list, names, choose) {
    list.append(...names.map((name) => html("option", { value: name })));
    const find = (exact) => {
      const wanted = input.value.trim().toLowerCase();
      if (!wanted) return -1;
      const lower = names.map((name) => name.toLowerCase());
      const whole = lower.indexOf(wanted);
      return whole >= 0 || exact ? whole : lower.findIndex((name) => name.includes(wanted));
    };
    const go = (exact) => {
      const found = find(exact);
      if (found >= 0) choose(found);
    };
    input.addEventListener("input", () => go(true));
    input.addEventListener("change", () => go(false));
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") go(false); });
  }

  // ---- theme ------------------------------------------------------------------------------------------------------

  // The system decides until the button does, for this visit: a page from disk has no place of its own to remember it.
  function theme() {
    const button = document.getElementById("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const chosen = document.documentElement.dataset;
    const tell = () => button.setAttribute("aria-pressed", String(chosen.theme ? chosen.theme === "dark" : system.matches));
    tell();
    system.addEventListener("change", tell);
    button.addEventListener("click", () => {
      chosen.theme = button.getAttribute("aria-pressed") === "true" ? "light" : "dark";
      tell();
    });
  }

  // ---- start ------------------------------------------------------------------------------------------------------

  const section = (name, build) => sections.set(name, build);

  function start() {
    // All at once, before the first picture after loading and before printing: a page that is captured or printed is whole.
    let begun = false;
    const draw = () => {
      if (begun) return;
      begun = true;
      const shared = data("page");
      theme();
      document.querySelectorAll(".table").forEach((root) => table(root));
      for (const [name, build] of sections) {
        const root = document.getElementById(name);
        if (root) build(root, data(name), shared);
      }
      document.documentElement.dataset.ready = "true";
    };
    addEventListener("load", () => requestAnimationFrame(draw));
    addEventListener("beforeprint", draw);
  }

  return { section, start, html, svg, text, blank, figure, axes, ticks, round, points, number, signed, short, evidence, pushes, finder, csvText, table, save, narrow, SCREEN };
})();
