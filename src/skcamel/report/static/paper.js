"use strict";
// Differences from the paper's figures: a heat map, counts, and the cells that miss a criterion.
skcamel.section("paper", (root, { diagram, limit, datasets: shown, criteria, printed, methods: compared }, { datasets, metrics: all, methods, figures }) => {
  const { html } = skcamel;
  const metrics = all.slice(0, printed[0].length); // those of the paper come first
  const [methodSelect, choiceSelect] = ["method", "choice"].map((name) => document.getElementById(`paper-${name}`));
  const names = shown.map((d) => datasets[d]);
  let one, choice, found;

  function choose() {
    one = compared[Number(methodSelect.value)];
    choice = Number(choiceSelect?.value ?? 0);
    found = one.choices[choice];
  }

  const cell = (k, d) => found.cells[d][k];
  const ours = (k, d) => found.replaced[`${d} ${k}`] ?? (figures[choice][one.index] ?? figures[0][one.index])[shown[d]][k];
  const oursText = (k, d) => ours(k, d).slice(0, 2).filter(Boolean).join("±");
  const misses = (k, d) => cell(k, d).slice(2);
  const std = (k, d) => `${cell(k, d)[1]} std`; // the text of the tables: a second rounding could differ

  function describe(k, d) {
    const start = `${names[d]}, ${metrics[k].title}: `;
    if (!cell(k, d)) return `${start}not run; the paper prints ${one.paper[d][k]}`;
    return `${start}${std(k, d)}; ours ${oursText(k, d)}, the paper’s ${one.paper[d][k]}, its best ${printed[d][k].join(" by ")}`;
  }

  function cells() {
    return names.flatMap((_, d) => metrics.map((__, k) => [k, d])).filter(([k, d]) => cell(k, d));
  }

  const COLUMNS = [{ title: "data set" }, { title: "metric" }, { title: "Δ in std", number: true }, { title: "ours", number: true },
    { title: "paper", number: true }, { title: "best printed", number: true }, { title: "by" }, { title: "within 2 std" }, { title: "as best" }, { title: "near best" }];

  const row = ([k, d]) => [
    { text: names[d] }, { text: metrics[k].title }, { text: cell(k, d)[1], key: cell(k, d)[0] }, { text: oursText(k, d), key: ours(k, d)[2] },
    { text: one.paper[d][k], key: parseFloat(one.paper[d][k]) }, { text: printed[d][k][0], key: parseFloat(printed[d][k][0]) }, { text: printed[d][k][1] },
    ...[0, 1, 2].map((i) => ({ text: misses(k, d).includes(i) ? "no" : "yes", best: misses(k, d).includes(i) }))];

  function csv(list) {
    const head = ["dataset", "metric", "method", "difference_in_std", "mean", "std", "paper", "best_printed", "best_methods", "no_worse", "as_good_as_best", "near_best"];
    return [head, ...list.map(([k, d]) => [names[d], metrics[k].name, methods[one.index].title, cell(k, d)[0], ours(k, d)[2], ours(k, d)[3],
      one.paper[d][k], ...printed[d][k], ...[0, 1, 2].map((i) => !misses(k, d).includes(i))])];
  }

  function list(id, title, chosen) {
    return skcamel.makeTable(id, title, { columns: COLUMNS, blocks: [{ title: "", rows: chosen.map(row) }], csv: () => csv(chosen), fold: true });
  }

  function tell() {
    const counts = document.getElementById("paper-counts");
    counts.replaceChildren(...criteria.map((text, i) => html("div", {}, html("dt", {}, text), html("dd", {}, `${found.counts[i]} of ${found.n}`))));
    document.getElementById("paper-note").textContent = `${methods[one.index].title}: ${found.note}`;
    const missed = cells().filter(([k, d]) => misses(k, d).length).sort((a, b) => cell(...a)[0] - cell(...b)[0]);
    const nothing = html("p", { class: "note" }, "No cell misses any of the three.");
    document.getElementById("paper-missed").replaceChildren(missed.length ? list("missed", `The ${missed.length} cells that miss one of the three`, missed) : nothing);
    document.getElementById("paper-all").replaceChildren(list("cells", `All ${found.n} cells`, cells()));
  }

  choose();
  const redraw = skcamel.heatmap("differences", {
    rows: metrics.map(({ title }) => title),
    columns: names,
    value: (k, d) => cell(k, d)?.[0] ?? NaN,
    marked: (k, d) => Boolean(cell(k, d)) && misses(k, d).includes(0),
    limit,
    unit: " std",
    write: (k, d) => cell(k, d)?.[1] ?? "",
    describe,
    csv: () => csv(cells()),
  });
  tell();
  skcamel.diagram("diagram-paper", () => diagram);
  document.getElementById("diagram-paper-sentence").textContent = diagram.sentence;
  for (const select of [methodSelect, choiceSelect].filter(Boolean)) {
    select.addEventListener("change", () => {
      choose();
      redraw();
      tell();
    });
  }
});
