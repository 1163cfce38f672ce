"use strict";
skcamel.section("experts", (root, { d, ridges, alone, loadings }, { names }) => {
  const { svg, round } = skcamel;
  const readout = document.getElementById("ridges-readout");
  const [left, top, high] = [56, 40, 240];
  // Two panels side by side, on a phone one above the other.
  const layout = () => (skcamel.narrow.matches
    ? { width: 360, height: 680, panel: 290, across: 0, down: 340 }
    : { width: 900, height: 340, panel: 360, across: 450, down: 0 });
  const r = d.length > 60 ? 2.6 : 4;
  const panels = [
    { name: "singular value d", values: d, reference: 1, log: false },
    { name: "effective ridge ρ (logarithmic)", values: ridges, reference: alone, log: true },
  ];
  let cursor = -1;

  function range({ values, reference, log }) {
    const [low, high] = [Math.min(...values, reference), Math.max(...values, reference)];
    return log ? { low: low / 1.25, high: high * 1.25, log } : { low: 0, high: high * 1.06 };
  }

  function draw(paint) {
    const lively = paint === skcamel.SCREEN;
    const { width, height, panel, across, down } = layout();
    const drawing = skcamel.blank(width, height, paint, lively ? { role: "group", tabindex: 0, "aria-label": "Directions of the label space; move with the arrow keys" } : {});
    panels.forEach((each, k) => {
      const x0 = left + k * across;
      const { sx, sy } = skcamel.axes(drawing, paint, {
        left: x0, top: top + k * down, width: panel, height: high, gridX: false,
        x: { low: 1, high: Math.max(2, d.length), label: "direction c", count: Math.min(6, d.length), format: (v) => (Number.isInteger(v) ? String(v) : "") },
        y: { ...range(each), label: each.name },
      });
      drawing.append(svg("line", { x1: x0, x2: x0 + panel, y1: round(sy(each.reference)), y2: round(sy(each.reference)), stroke: paint.ink, "stroke-dasharray": "5 4" }));
      drawing.append(skcamel.text(x0 + panel - 4, sy(each.reference) - 6, "α = 0", { "text-anchor": "end", fill: paint.muted, "font-size": 11 }));
      // Less shrinkage than alone is blue, more is orange; the same direction has the same colour in both panels.
      each.values.forEach((value, c) => drawing.append(svg("circle", {
        cx: round(sx(c + 1)), cy: round(sy(value)), r, fill: ridges[c] <= alone * (1 + 1e-9) ? paint.up : paint.down, "data-direction": c,
      })));
    });
    return drawing;
  }

  function show(drawing, c) {
    cursor = c;
    drawing.querySelectorAll("circle").forEach((dot) => dot.setAttribute("r", Number(dot.dataset.direction) === c ? r + 3 : r));
    const parts = loadings[c].map(([label, weight]) => `${names[label]} ${skcamel.signed(weight, 2)}`).join(", ");
    readout.textContent = `Direction ${c + 1}: d = ${skcamel.number(d[c])}, ρ = ${ridges[c].toPrecision(3)}; heaviest labels: ${parts}.`;
  }

  function listen(drawing) {
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const { width, panel, across } = layout();
      const x = ((event.clientX - box.left) * width) / box.width;
      const inside = panels.findIndex((_, k) => x >= left + k * across - 8 && x <= left + k * across + panel + 8);
      if (inside < 0) return;
      const share = (x - left - inside * across) / panel;
      show(drawing, Math.max(0, Math.min(d.length - 1, Math.round(share * Math.max(1, d.length - 1)))));
    });
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      show(drawing, Math.max(0, Math.min(d.length - 1, cursor + step)));
      event.preventDefault();
    });
  }

  skcamel.figure("ridges", {
    draw,
    after: listen,
    csv: () => [["direction", "d", "ridge", "ridge_without_collaboration"], ...d.map((value, c) => [c + 1, value, ridges[c], alone])],
  });
});
