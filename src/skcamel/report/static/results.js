"use strict";
// Tables 2 and 3 in the paper's form: for each metric methods by data sets; of one data set alone, methods by metrics.
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

  // A block of the table. columns: pairs (data set, metric).
  function block(title, columns, shown, choice) {
    const cells = columns.map(([d, k]) => shown.map((m) => of(choice, m, d, k)));
    const isBest = columns.map(([, k], c) => best(cells[c], metrics[k].loss));
    const rows = shown.map((m, r) => [{ text: methods[m].title }, ...cells.map((column, c) => {
      const cell = column[r];
      return cell ? { text: cell[1] ? `${cell[0]}±${cell[1]}` : cell[0], key: cell[2], best: isBest[c](cell) } : { text: "–", key: "" };
    })]);
    return { title, rows: rows.filter((_, r) => cells.some((column) => column[r])) };
  }

  function csv(columns, shown, choice) {
    const rows = columns.flatMap(([d, k]) => shown.map((m) => [d, k, m, of(choice, m, d, k)]).filter(([, , , cell]) => cell));
    return [["dataset", "metric", "method", "preset", "selected_by", "mean", "std"], ...rows.map(([d, k, m, cell]) => [
      datasets[d], metrics[k].name, methods[m].title, methods[m].preset, choices[choice].name || "as recorded", cell[2], cell[3]])];
  }

  function tables() {
    const choice = Number(value("choice") || 0);
    const shown = methods.map((_, m) => m).filter((m) => !value("preset") || methods[m].preset === value("preset"));
    const wanted = value("metric") === "all" ? metrics.map((_, k) => k) : [Number(value("metric"))];
    const sets = value("sets");
    if (/^\d+$/.test(sets)) {
      const columns = wanted.map((k) => [Number(sets), k]);
      return [skcamel.makeTable("results-0", datasets[sets], {
        columns: [{ title: "method" }, ...wanted.map((k) => ({ title: metrics[k].title, number: true }))],
        blocks: [block("", columns, shown, choice)],
        csv: () => csv(columns, shown, choice),
      })];
    }
    const chosen = sets.startsWith("group") ? [groups[Number(sets.slice(6))]] : groups;
    return chosen.map((group, g) => {
      const blocks = wanted.map((k) => block(wanted.length > 1 ? metrics[k].title : "", group.datasets.map((d) => [d, k]), shown, choice));
      const title = wanted.length > 1 ? group.title : `${metrics[wanted[0]].title} · ${group.title}`;
      return skcamel.makeTable(`results-${g}`, title, {
        columns: [{ title: "method" }, ...group.datasets.map((d) => ({ title: datasets[d], number: true }))],
        blocks: blocks.filter(({ rows }) => rows.length),
        csv: () => csv(wanted.flatMap((k) => group.datasets.map((d) => [d, k])), shown, choice),
      });
    });
  }

  function show() {
    document.getElementById("results-tables").replaceChildren(...tables());
    document.getElementById("results-notes").replaceChildren(...choices[Number(value("choice") || 0)].notes.map((note) => html("li", {}, note)));
  }

  controls.forEach((each) => each.addEventListener("change", show));
  show();
});
