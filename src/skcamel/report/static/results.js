"use strict";
// One table: data sets by methods, in groups and for each metric; of one data set alone, metrics by methods.
skcamel.section("results", (root, { groups }, { datasets, metrics, methods, choices, figures }) => {
  const { html } = skcamel;
  const control = (name) => document.getElementById(`results-${name}`);
  const controls = ["metric", "sets", "preset", "choice"].map(control).filter(Boolean);
  const value = (name) => control(name)?.value ?? "";
  const of = (choice, m, d, k) => (figures[choice][m] ?? figures[0][m])[d]?.[k] ?? null;

  // The best means at three decimals; none where there is nothing to compare with.
  function best(cells, loss) {
    const means = cells.filter(Boolean).map(([text]) => Number(text));
    const top = loss ? Math.min(...means) : Math.max(...means);
    return (cell) => means.length > 1 && cell !== null && Number(cell[0]) === top;
  }

  // A row of the table: one metric of one data set under all methods shown.
  function row(name, d, k, shown, choice) {
    const cells = shown.map((m) => of(choice, m, d, k));
    const isBest = best(cells, metrics[k].loss);
    return [{ text: name }, ...cells.map((cell) => (cell
      ? { text: cell[1] ? `${cell[0]}±${cell[1]}` : cell[0], key: cell[2], best: isBest(cell) } : { text: "–", key: "" }))];
  }

  function csv(places, shown, choice) {
    const rows = places.flatMap(([d, k]) => shown.map((m) => [d, k, m, of(choice, m, d, k)]).filter(([, , , cell]) => cell));
    return [["dataset", "metric", "method", "preset", "selected_by", "mean", "std"], ...rows.map(([d, k, m, cell]) => [
      datasets[d], metrics[k].name, methods[m].title, methods[m].preset, choices[choice].name || "as recorded", cell[2], cell[3]])];
  }

  function table() {
    const choice = Number(value("choice") || 0);
    const wanted = value("metric") === "all" ? metrics.map((_, k) => k) : [Number(value("metric"))];
    const sets = value("sets"), alone = /^\d+$/.test(sets);
    const parts = alone ? [{ title: "", datasets: [Number(sets)] }] : sets.startsWith("group") ? [groups[Number(sets.slice(6))]] : groups;
    const places = wanted.flatMap((k) => parts.flatMap((part) => part.datasets.map((d) => [d, k])));
    const shown = methods.map((_, m) => m).filter((m) => (!value("preset") || methods[m].preset === value("preset")) && places.some(([d, k]) => of(choice, m, d, k)));
    const name = (title, k) => [wanted.length > 1 && metrics[k].title, parts.length > 1 && title].filter(Boolean).join(" · ");
    const blocks = alone
      ? [{ title: "", rows: wanted.map((k) => row(metrics[k].title, Number(sets), k, shown, choice)) }]
      : wanted.flatMap((k) => parts.map((part) => ({ title: name(part.title, k), rows: part.datasets.map((d) => row(datasets[d], d, k, shown, choice)) })));
    const title = [alone && datasets[sets], wanted.length === 1 && metrics[wanted[0]].title].filter(Boolean).join(" · ") || "All metrics";
    return skcamel.makeTable("results-table", title, {
      columns: [{ title: alone ? "metric" : "data set" }, ...shown.map((m) => ({ title: methods[m].title, number: true }))],
      blocks,
      csv: () => csv(places, shown, choice),
    });
  }

  function show() {
    document.getElementById("results-tables").replaceChildren(table());
    document.getElementById("results-notes").replaceChildren(...choices[Number(value("choice") || 0)].notes.map((note) => html("li", {}, note)));
  }

  controls.forEach((each) => each.addEventListener("change", show));
  show();
});
