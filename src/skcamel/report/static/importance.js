"use strict";
skcamel.section("importance", (root, { columns, labels, values }, { names }) => {
  const shown = labels.map((label) => names[label]);
  const value = (r, c) => values.values[r * shown.length + c];
  skcamel.heatmap("added", {
    rows: columns,
    columns: shown,
    value,
    limit: values.values.reduce((most, v) => Math.max(most, v), 0) || 1,
    lowest: 0,
    describe: (r, c) => `${columns[r]} moves ${shown[c]} by ${skcamel.number(value(r, c))} on average`,
    csv: () => [["column \\ label", ...shown], ...columns.map((name, r) => [name, ...shown.map((_, c) => value(r, c))])],
  });
});
