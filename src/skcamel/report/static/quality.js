"use strict";
skcamel.section("quality", (root, { cuts, curves, f1 }, { names }) => {
  const { svg, html, round, number } = skcamel;
  const select = document.getElementById("curve-label");
  const readout = document.getElementById("curve-readout");
  const rows = [...document.querySelectorAll("#labels tbody tr")];
  select.append(...names.map((name, label) => html("option", { value: label }, name)));
  let label = 0;
  skcamel.searchable("labels");

  function curveOf(which) {
    const { shape, values } = curves[which];
    const k = shape[1];
    return Array.from({ length: k }, (_, p) => [values[p], values[k + p]]);
  }

  function draw(paint) {
    const [width, height, left, top] = [skcamel.narrow.matches ? 360 : 900, 340, skcamel.narrow.matches ? 36 : 56, 40];
    const drawing = skcamel.blank(width, height, paint, { role: "img", "aria-label": `F1 of ${names[label]} against its threshold` });
    const points = curveOf(label);
    const cut = cuts.values[label];
    const xs = points.map(([x]) => x).concat(cut);
    const { sx, sy } = skcamel.axes(drawing, paint, {
      left, top, width: width - left - 30, height: 240,
      x: { low: Math.min(...xs), high: Math.max(...xs), label: "threshold", count: skcamel.narrow.matches ? 4 : 8 }, y: { low: 0, high: 1, label: `F1 of ${skcamel.short(names[label], skcamel.narrow.matches ? 30 : 60)}` },
    });
    drawing.append(svg("polyline", { points: skcamel.points(points.map(([x, y]) => [sx(x), sy(y)])), fill: "none", stroke: paint.up, "stroke-width": 2, "stroke-linejoin": "round" }));
    const best = points.reduce((a, b) => (b[1] > a[1] ? b : a));
    drawing.append(svg("circle", { cx: round(sx(best[0])), cy: round(sy(best[1])), r: 6, fill: "none", stroke: paint.ink, "stroke-width": 1.5 }));
    const right = sx(cut) > width - 160 && sx(cut) > width / 2;
    drawing.append(
      svg("line", { x1: round(sx(cut)), x2: round(sx(cut)), y1: top, y2: top + 240, stroke: paint.accent, "stroke-width": 2 }),
      skcamel.text(sx(cut) + (right ? -6 : 6), top + 232, `threshold of the model ${number(cut)}`, { fill: paint.accent, "text-anchor": right ? "end" : "start" }));
    readout.textContent = f1[label] === null ? `${names[label]} is unknown in all of these rows.` : `${names[label]}: F1 ${number(f1[label])} at the threshold ${number(cut)} of the model; at best ${number(best[1])} at ${number(best[0])}.`;
    return drawing;
  }

  const redraw = skcamel.figure("curve", {
    draw,
    csv: () => [["label", "threshold", "f1"], ...names.flatMap((name, which) => curveOf(which).map(([x, y]) => [name, x, y]))],
  });

  function choose(which) {
    label = which;
    select.value = String(which);
    rows.forEach((row) => row.classList.toggle("chosen", Number(row.dataset.row) === which));
    redraw();
  }

  choose(0);
  select.addEventListener("change", () => choose(Number(select.value)));
  for (const row of rows) {
    row.querySelector("th button").addEventListener("click", () => {
      choose(Number(row.dataset.row));
      document.getElementById("curve").scrollIntoView({ block: "nearest" });
    });
  }
});
