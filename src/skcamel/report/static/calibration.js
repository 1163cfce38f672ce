"use strict";
skcamel.section("calibration", (root, { counts, predicted, observed }) => {
  const { svg, text, round, number } = skcamel;
  const readout = document.getElementById("reliability-readout");
  const [left, top, side] = [56, 40, 280];
  // Two panels side by side, on a phone one above the other.
  const layout = () => (skcamel.narrow.matches
    ? { width: 360, height: 760, panel: 290, second: left, down: 380 }
    : { width: 900, height: 380, panel: 400, second: 480, down: 0 });
  const filled = counts.map((_, b) => b).filter((b) => counts[b] > 0);
  const edge = (b) => b / counts.length;
  let cursor = -1;

  function draw(paint) {
    const lively = paint === skcamel.SCREEN;
    const { width, height, panel, second, down } = layout();
    const drawing = skcamel.blank(width, height, paint, lively ? { role: "group", tabindex: 0, "aria-label": "Tenths of the probabilities; move with the arrow keys" } : {});
    const share = { low: 0, high: 1, count: 5 };
    const { sx, sy } = skcamel.axes(drawing, paint, {
      left, top, width: side, height: side, x: { ...share, label: "mean probability" }, y: { ...share, label: "share that was there" },
    });
    drawing.append(svg("line", { x1: sx(0), y1: sy(0), x2: sx(1), y2: sy(1), stroke: paint.ink, "stroke-dasharray": "5 4" }));
    drawing.append(svg("polyline", {
      points: skcamel.points(filled.map((b) => [sx(predicted[b]), sy(observed[b])])), fill: "none", stroke: paint.up, "stroke-width": 1.5, "stroke-opacity": 0.6,
    }));
    filled.forEach((b) => drawing.append(svg("circle", { cx: round(sx(predicted[b])), cy: round(sy(observed[b])), r: 5, fill: paint.up, "data-bin": b })));
    const most = Math.max(...counts, 1);
    const bars = skcamel.axes(drawing, paint, {
      left: second, top: top + down, width: panel, height: side, gridX: false,
      x: { ...share, label: "probability" }, y: { low: 0, high: most * 1.08, label: "labels of rows", format: (value) => value.toLocaleString("en") },
    });
    counts.forEach((count, b) => {
      const x = bars.sx(edge(b)), wide = bars.sx(edge(b + 1)) - x;
      drawing.append(svg("rect", { x: round(x + 2), y: round(bars.sy(count)), width: round(wide - 4), height: round(bars.sy(0) - bars.sy(count)), fill: paint.own, "data-bin": b }));
      drawing.append(text(x + wide / 2, bars.sy(count) - 4, count.toLocaleString("en"), { "text-anchor": "middle", "font-size": down ? 8 : 10, fill: paint.muted }));
    });
    return drawing;
  }

  function show(drawing, k) {
    cursor = k;
    const b = filled[k];
    drawing.querySelectorAll("circle").forEach((dot) => dot.setAttribute("r", Number(dot.dataset.bin) === b ? 8 : 5));
    drawing.querySelectorAll("rect").forEach((bar) => bar.setAttribute("fill", Number(bar.dataset.bin) === b ? skcamel.SCREEN.up : skcamel.SCREEN.own));
    readout.textContent = `Probabilities from ${number(edge(b), 1)} to ${number(edge(b + 1), 1)}: ${counts[b].toLocaleString("en")}, on average ${number(predicted[b])}; a share of ${number(observed[b])} was there.`;
  }

  function listen(drawing) {
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const { width, panel, second, down } = layout();
      const [x, y] = [((event.clientX - box.left) * width) / box.width, ((event.clientY - box.top) * width) / box.width];
      const isFirst = down ? y < down : x < left + side + 20;
      const place = isFirst ? (x - left) / side : (x - second) / panel;
      const distances = filled.map((b) => Math.abs((isFirst ? predicted[b] : (b + 0.5) / counts.length) - place));
      if (filled.length) show(drawing, distances.indexOf(Math.min(...distances)));
    });
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step || !filled.length) return;
      show(drawing, Math.max(0, Math.min(filled.length - 1, cursor + step)));
      event.preventDefault();
    });
  }

  skcamel.figure("reliability", {
    draw,
    after: listen,
    csv: () => [["from", "to", "count", "mean_probability", "share_there"], ...counts.map((count, b) => [edge(b), edge(b + 1), count, predicted[b], observed[b]])],
  });
});
