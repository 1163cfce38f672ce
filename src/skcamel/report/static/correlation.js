"use strict";
skcamel.section("correlation", (root, _, { names, order, S, alpha, evidence }) => {
  const q = names.length;
  const sorted = order.map((label) => names[label]);
  const value = (r, c) => S.values[order[r] * q + order[c]];
  const shown = skcamel.evidence(evidence, names.length);
  const limit = S.values.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  skcamel.heatmap("matrix", {
    rows: sorted,
    columns: sorted,
    value,
    limit: limit || 1,
    describe: (r, c) => r === c
      ? `${sorted[r]}: its own evidence, weight 1 − α = ${skcamel.number(1 - alpha, 2)}`
      : `${sorted[r]} → ${sorted[c]}: s = ${skcamel.signed(value(r, c))}${shown.brackets(order[r], order[c])}`,
    csv: () => [["from \\ to", ...sorted], ...sorted.map((name, r) => [name, ...sorted.map((__, c) => value(r, c))])],
  });
});
