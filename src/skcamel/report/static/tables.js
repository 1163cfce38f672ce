"use strict";
// A compact table made by a script, in the form of the macro `table`. columns: {title, number}; blocks: {title, rows}, a row is a list of
// cells {text, key, best}, the first of which names it.
skcamel.makeTable = (id, title, { columns, blocks, csv, fold = false }) => {
  const { html } = skcamel;
  const head = columns.map(({ title: name, number }) => html("th", { scope: "col", class: number ? "number" : null }, html("button", { type: "button" }, name)));
  const row = (cells) => html("tr", {}, ...cells.map(({ text, key, best }, k) => (k
    ? html("td", { "data-key": key ?? text, class: [columns[k].number && "number", best && "best"].filter(Boolean).join(" ") || null }, text)
    : html("th", { scope: "row", "data-key": key ?? text }, text))));
  const bodies = blocks.flatMap(({ title: name, rows }) => [
    ...(name ? [html("tbody", { class: "heading" }, html("tr", {}, html("th", { scope: "rowgroup", colspan: columns.length }, name)))] : []),
    html("tbody", {}, ...rows.map(row)),
  ]);
  const root = html("div", { class: fold ? "table compact foldable" : "table compact", id },
    html("div", { class: "figure-head" },
      html("h3", { id: `${id}-title` }, title),
      html("div", { class: "downloads" }, html("button", { type: "button", class: "quiet", "data-download": "csv", "aria-label": `Download ${title} as CSV` }, "CSV"))),
    html("div", { class: "scroll", role: "region", "aria-labelledby": `${id}-title`, tabindex: 0 },
      html("table", { class: "sortable", "aria-labelledby": `${id}-title` }, html("thead", {}, html("tr", {}, ...head)), ...bodies)));
  skcamel.table(root, csv);
  return root;
};
