"use strict";
// A small panel for each data set: shares of rows by label, commonest first.
skcamel.section("cards", (root, { sets }) => {
  const { svg, text, round, short } = skcamel;
  const readout = document.getElementById("frequencies-readout");
  const narrow = matchMedia("(max-width: 40rem)");
  const across = (paint) => Math.min(sets.length, paint === skcamel.SCREEN && narrow.matches ? 2 : 4);
  const [panel, tall, gapX, gapY, left, top] = [218, 70, 22, 50, 8, 24];
  const at = (k, columns) => [left + (k % columns) * (panel + gapX), top + Math.floor(k / columns) * (tall + gapY)];

  function draw(paint) {
    const columns = across(paint);
    const rows = Math.ceil(sets.length / columns);
    const drawing = skcamel.blank(left * 2 + columns * (panel + gapX) - gapX, top + rows * (tall + gapY) - 20, paint, paint === skcamel.SCREEN
      ? { role: "group", tabindex: 0, "aria-label": "Shares of rows that have each label; left and right choose a label, up and down a data set" } : {});
    sets.forEach(({ name, shares, of }, k) => {
      const [x0, y0] = at(k, columns);
      const step = panel / shares.length;
      drawing.append(text(x0, y0 - 8, short(name, 30), { "font-weight": 600 }));
      drawing.append(svg("rect", { x: x0, y: y0, width: panel, height: tall, fill: paint.soft }));
      drawing.append(svg("line", { x1: x0, x2: x0 + panel, y1: y0 + tall / 2, y2: y0 + tall / 2, stroke: paint.muted, "stroke-width": 0.7, "stroke-dasharray": "3 4" }));
      // One outline: a set may have hundreds of labels.
      const outline = [[x0, y0 + tall], ...shares.flatMap((share, j) => [[x0 + j * step, y0 + tall * (1 - share)], [x0 + (j + 1) * step, y0 + tall * (1 - share)]]), [x0 + panel, y0 + tall]];
      drawing.append(svg("polygon", { points: skcamel.points(outline), fill: paint.up, "fill-opacity": 0.75 }));
      const percent = (share) => `${(100 * share).toPrecision(2).replace(/\.0+$/, "")} %`;
      drawing.append(text(x0, y0 + tall + 15, `${shares.length} labels, ${percent(shares[0])} to ${percent(shares[shares.length - 1])} of ${of}`, { fill: paint.muted, "font-size": 11 }));
    });
    return drawing;
  }

  let cursor = [0, -1];

  function show(k, j) {
    cursor = [k, j];
    const { name, labels, shares, of } = sets[k];
    readout.textContent = `${name}: ${labels[j]}, ${skcamel.number(100 * shares[j], 1)} % of ${of}`;
  }

  function listen(drawing) {
    drawing.addEventListener("keydown", (event) => {
      const [down, right] = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key] ?? [0, 0];
      if (!down && !right) return;
      const k = Math.max(0, Math.min(sets.length - 1, cursor[0] + down));
      show(k, Math.max(0, Math.min(sets[k].shares.length - 1, down ? 0 : cursor[1] + right)));
      event.preventDefault();
    });
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const scale = drawing.viewBox.baseVal.width / box.width;
      const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      const places = sets.map((_, i) => at(i, across(skcamel.SCREEN)));
      const k = places.findIndex(([x0, y0]) => x >= x0 && x < x0 + panel && y >= y0 && y < y0 + tall);
      if (k < 0) return;
      show(k, Math.floor(((x - places[k][0]) / panel) * sets[k].shares.length));
    });
  }

  const redraw = skcamel.figure("frequencies", {
    draw,
    after: listen,
    csv: () => [["dataset", "label", "share_of_rows"], ...sets.flatMap(({ name, labels, shares }) => labels.map((label, j) => [name, label, shares[j]]))],
  });
  narrow.addEventListener("change", redraw);
});
