"use strict";
// A line for each method, a dot for each data set.
skcamel.section("cost", (root, { quantities, methods, dots }) => {
  const { svg, text, round, short } = skcamel;
  const select = document.getElementById("cost-quantity");
  const readout = document.getElementById("costs-readout");
  const named = ({ title, device }) => `${short(title)} · ${device}`;
  const left = Math.max(...methods.map((method) => named(method).length)) * 6.8 + 20;
  const [width, row, top] = [960, 34, 20];
  const inner = width - left - 40;
  let places = [], cursor = -1;

  const figure = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const quantity = () => Number(select.value);
  const describe = ({ dataset, method, values }) => `${methods[method].title} on ${dataset}: ${figure(values[quantity()])} ${quantities[quantity()].unit}`;
  const known = () => dots.filter(({ values }) => values[quantity()] > 0);

  // At least one power of ten, or the axis would have no numbers.
  function range(values) {
    const [low, high] = [Math.min(...values) / 1.3, Math.max(...values) * 1.3];
    return high / low >= 20 ? { low, high } : { low: 10 ** Math.floor(Math.log10(low)), high: 10 ** Math.ceil(Math.log10(high)) };
  }

  function median(values) {
    const sorted = values.toSorted((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  function draw(paint) {
    const lively = paint === skcamel.SCREEN;
    const height = top + row * methods.length;
    const drawing = skcamel.blank(width, height + 46, paint, lively ? { role: "group", tabindex: 0, "aria-label": "Dots, one for each data set; move with the arrow keys" } : {});
    const all = known().map(({ values }) => values[quantity()]);
    const { sx } = skcamel.axes(drawing, paint, {
      left, top, width: inner, height: row * methods.length,
      x: { ...range(all), log: true, label: `${quantities[quantity()].unit}, logarithmic` },
      y: { low: 0, high: 1, format: () => "", count: 1 },
    });
    places = [];
    methods.forEach((method, m) => {
      const y = top + row * (m + 0.5);
      const mine = known().filter((dot) => dot.method === m);
      drawing.append(text(left - 12, y + 4, named(method), { "text-anchor": "end" }));
      drawing.append(svg("line", { x1: left, x2: left + inner, y1: y, y2: y, stroke: paint.line }));
      mine.forEach((dot) => {
        const x = sx(dot.values[quantity()]);
        places.push({ x, y, dot });
        drawing.append(svg("circle", { class: "dot", cx: round(x), cy: y, r: 5, fill: paint.up, "fill-opacity": 0.55 }));
      });
      if (mine.length) {
        const x = round(sx(median(mine.map((dot) => dot.values[quantity()]))));
        drawing.append(svg("line", { x1: x, x2: x, y1: y - 11, y2: y + 11, stroke: paint.ink, "stroke-width": 2.5 }));
      }
    });
    drawing.append(svg("circle", { class: "cursor", r: 8, fill: "none", stroke: paint.ink, "stroke-width": 1.5, visibility: "hidden" }));
    return drawing;
  }

  function show(drawing, k) {
    cursor = k;
    const ring = drawing.querySelector(".cursor");
    ring.setAttribute("cx", round(places[k].x));
    ring.setAttribute("cy", places[k].y);
    ring.setAttribute("visibility", "visible");
    readout.textContent = describe(places[k].dot);
  }

  function listen(drawing) {
    cursor = -1;
    readout.textContent = "";
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const scale = width / box.width;
      const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      const distances = places.map((place) => (place.x - x) ** 2 + (2 * (place.y - y)) ** 2);
      const nearest = distances.indexOf(Math.min(...distances));
      if (distances[nearest] < 900) show(drawing, nearest);
    });
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      show(drawing, Math.max(0, Math.min(places.length - 1, cursor + step)));
      event.preventDefault();
    });
  }

  const redraw = skcamel.figure("costs", {
    draw,
    after: listen,
    csv: () => [["dataset", "method", "device", ...quantities.map(({ title, unit }) => `${title} (${unit})`)],
      ...dots.map(({ dataset, method, values }) => [dataset, methods[method].title, methods[method].device, ...values])],
  });
  select.addEventListener("change", redraw);
});
