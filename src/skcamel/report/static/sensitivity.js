"use strict";
// Figure 1: three parameters, and the convergence of Algorithm 1.
skcamel.section("sensitivity", (root, { metrics, parameters, sets, first }) => {
  const { svg, round, text } = skcamel;
  const [setSelect, metricSelect] = ["set", "metric"].map((name) => document.getElementById(`sensitivity-${name}`));
  const [panel, tall, gapX, gapY, left, top] = [370, 190, 90, 90, 64, 44];
  const narrow = matchMedia("(max-width: 40rem)"); // there panels stand below each other; in a downloaded drawing never
  const at = (k, across) => [left + (k % across) * (panel + gapX), top + Math.floor(k / across) * (tall + gapY)];
  metricSelect.value = String(first);
  const one = () => sets[Number(setSelect?.value ?? 0)];
  const metric = () => Number(metricSelect.value);
  const letter = (k) => `(${"abcd"[k]})`;

  function range(values) {
    const known = values.filter(Number.isFinite);
    if (!known.length) return { low: 0, high: 1 };
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const room = (high - low) * 0.08 || Math.abs(high) * 0.05 || 0.05;
    return { low: low - room, high: high + room };
  }

  function line(drawing, pairs, colour) {
    drawing.append(svg("polyline", { points: skcamel.points(pairs), fill: "none", stroke: colour, "stroke-width": 1.8 }));
    if (pairs.length <= 30) pairs.forEach(([x, y]) => drawing.append(svg("circle", { cx: round(x), cy: round(y), r: 3, fill: colour })));
  }

  function sensitivity(drawing, paint, p, place) {
    const { values, means, stds, settings } = one();
    const [mean, std] = [means[p][metric()], stds[p][metric()].map((v) => v ?? 0)];
    const known = values[p].map((_, i) => i).filter((i) => Number.isFinite(mean[i]));
    const [x0, y0] = place;
    const { symbol, log } = parameters[p];
    const { sx, sy } = skcamel.axes(drawing, paint, {
      left: x0, top: y0, width: panel, height: tall,
      x: { low: Math.min(...values[p], settings[p]), high: Math.max(...values[p], settings[p]), log, label: `${letter(p)} ${symbol}` },
      y: { ...range(known.flatMap((i) => [mean[i] - std[i], mean[i] + std[i]])), label: metrics[metric()].title },
    });
    const x = (i) => sx(values[p][i]);
    const band = [...known.map((i) => [x(i), sy(mean[i] + std[i])]), ...known.toReversed().map((i) => [x(i), sy(mean[i] - std[i])])];
    drawing.append(svg("polygon", { points: skcamel.points(band), fill: paint.up, "fill-opacity": 0.18 }));
    drawing.append(svg("line", { x1: round(sx(settings[p])), x2: round(sx(settings[p])), y1: y0, y2: y0 + tall, stroke: paint.ink, "stroke-dasharray": "2 4" }));
    line(drawing, known.map((i) => [x(i), sy(mean[i])]), paint.up);
  }

  function convergence(drawing, paint, place) {
    const steps = one().delta.map((value, t) => [t + 1, value]).filter(([, value]) => value > 0);
    if (!steps.length) return;
    const [x0, y0] = place;
    const values = steps.map(([, value]) => value);
    const { sx, sy } = skcamel.axes(drawing, paint, {
      left: x0, top: y0, width: panel, height: tall,
      x: { low: 1, high: Math.max(2, one().delta.length), label: "(d) alternation t", format: (v) => (Number.isInteger(v) ? String(v) : "") },
      y: { low: Math.min(...values) / 1.5, high: Math.max(...values) * 1.5, log: true, label: "change of Z, ‖Z(t) − Z(t−1)‖", format: (v) => (v >= 0.01 && v < 1e4 ? String(v) : v.toExponential(0)) },
    });
    line(drawing, steps.map(([t, value]) => [sx(t), sy(value)]), paint.up);
  }

  function draw(paint) {
    const description = `Sensitivity of ${metrics[metric()].title} on ${one().name} to ${parameters.map(({ symbol }) => symbol).join(", ")}, and convergence`;
    const across = paint === skcamel.SCREEN && narrow.matches ? 1 : 2;
    const down = 4 / across;
    const drawing = skcamel.blank(left + across * (panel + gapX) - gapX + 30, top + down * (tall + gapY) - gapY + 48, paint, { role: "img", "aria-label": description });
    parameters.forEach((_, p) => sensitivity(drawing, paint, p, at(p, across)));
    convergence(drawing, paint, at(3, across));
    drawing.append(text(left, 14, one().name, { "font-weight": 600 }));
    return drawing;
  }

  function csv() {
    const { name, values, means, stds, delta } = one();
    const curves = parameters.flatMap((parameter, p) => values[p].flatMap((value, i) => metrics.map((m, k) => [name, parameter.name, value, m.name, means[p][k][i], stds[p][k][i]])));
    return [["dataset", "parameter", "value", "metric", "mean", "std"], ...curves, ...delta.map((value, t) => [name, "alternation", t + 1, "change_of_Z", value, ""])];
  }

  const redraw = skcamel.figure("curves", { draw, csv });
  const tell = () => { document.getElementById("sensitivity-note").textContent = one().note; };
  tell();
  narrow.addEventListener("change", redraw);
  for (const select of [setSelect, metricSelect].filter(Boolean)) select.addEventListener("change", () => { redraw(); tell(); });
});
