"use strict";
// A heat map of a matrix, blue for positive, orange for negative, with a cursor that mouse and arrow keys move.
// Colours are one hue with more or less of it, so that they suit a light and a dark page; many cells are one picture.
// What is farther from 0 than `limit` has the colour of the limit. `write` gives the text inside a cell.
skcamel.heatmap = (id, { rows, columns, value, limit, describe, csv, unit = "", marked = null, write = null, lowest = -limit }) => {
  const { svg, text, round, short } = skcamel;
  const UP = [33, 102, 172], DOWN = [179, 88, 6];
  const many = rows.length * columns.length > 2500;
  const named = Math.max(rows.length, columns.length) <= 60;
  const cell = Math.max(3.5, Math.min(46, (skcamel.narrow.matches ? 240 : 640) / Math.max(rows.length, columns.length)));
  const font = Math.min(13, Math.max(8, cell * 0.7));
  const space = (names, length) => (named ? Math.max(...names.map((name) => short(name, length).length), 4) * font * 0.58 + 12 : 30);
  const left = space(rows, 22), top = space(columns, 16);
  const [width, height] = [cell * columns.length, cell * rows.length];
  const share = (v) => Math.min(1, Math.abs(v) / (limit || 1)) ** 0.7; // weak values stay visible
  const length = Math.max(160, Math.min(220, width)); // of the legend: three numbers beside each other
  const readout = document.getElementById(`${id}-readout`);
  let cursor = null;

  // One pixel a cell, scaled up without smoothing.
  function picture() {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [columns.length, rows.length];
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns.length, rows.length);
    for (let r = 0, k = 0; r < rows.length; r++) for (let c = 0; c < columns.length; c++, k += 4) {
      const v = value(r, c);
      if (!Number.isFinite(v)) continue;
      image.data.set([...(v >= 0 ? UP : DOWN), Math.round(255 * share(v))], k);
    }
    context.putImageData(image, 0, 0);
    return canvas.toDataURL("image/png");
  }

  function cells(drawing, paint) {
    if (many) {
      drawing.append(svg("image", { href: picture(), x: left, y: top, width, height, preserveAspectRatio: "none", "image-rendering": "pixelated" }));
      return;
    }
    const gap = cell > 12 ? 1 : 0;
    for (let r = 0; r < rows.length; r++) for (let c = 0; c < columns.length; c++) {
      const v = value(r, c);
      if (v === 0) continue;
      const fill = Number.isFinite(v) ? { fill: `rgb(${(v >= 0 ? UP : DOWN).join(",")})`, "fill-opacity": round(share(v)) } : { fill: paint.page }; // a hole
      drawing.append(svg("rect", { x: round(left + c * cell), y: round(top + r * cell), width: round(cell - gap), height: round(cell - gap), ...fill }));
    }
  }

  function texts(drawing, paint) {
    for (let r = 0; r < rows.length; r++) for (let c = 0; c < columns.length; c++) {
      const strong = share(value(r, c)) > 0.85; // white is easier to read there
      drawing.append(text(left + (c + 0.5) * cell, top + (r + 0.5) * cell + 4, write(r, c), { "text-anchor": "middle", "font-size": round(cell * 0.3), fill: strong ? "#ffffff" : paint.ink }));
    }
  }

  // A frame around each cell that needs a second look.
  function marks(drawing, paint) {
    for (let r = 0; r < rows.length; r++) for (let c = 0; c < columns.length; c++) {
      if (marked(r, c)) drawing.append(svg("rect", {
        class: "mark", x: round(left + c * cell + 2), y: round(top + r * cell + 2), width: round(cell - 5), height: round(cell - 5), fill: "none", stroke: paint.ink, "stroke-width": 1.5,
      }));
    }
  }

  function legend(drawing, paint) {
    const y = top + height + 22, steps = 40;
    drawing.append(svg("rect", { x: round(left), y, width: round(length), height: 10, fill: paint.soft }));
    for (let k = 0; k < steps; k++) {
      const v = lowest + ((k + 0.5) / steps) * (limit - lowest);
      drawing.append(svg("rect", {
        x: round(left + (k * length) / steps), y, width: round(length / steps), height: 10, "shape-rendering": "crispEdges",
        fill: `rgb(${(v >= 0 ? UP : DOWN).join(",")})`, "fill-opacity": round(share(v)),
      }));
    }
    for (const [at, v] of [[0, lowest], [0.5, (lowest + limit) / 2], [1, limit]]) {
      drawing.append(text(left + at * length, y + 25, skcamel.number(v, 2) + (at === 1 ? unit : ""), { "text-anchor": "middle", fill: paint.muted, "font-size": 11 }));
    }
  }

  function draw(paint) {
    const drawing = skcamel.blank(left + Math.max(width, length) + 40, top + height + 60, paint, paint === skcamel.SCREEN ? { role: "group", tabindex: 0, "aria-label": "Heat map; move with the arrow keys" } : {});
    drawing.append(svg("rect", { x: round(left), y: round(top), width: round(width), height: round(height), fill: paint.soft }));
    cells(drawing, paint);
    if (write) texts(drawing, paint);
    if (marked) marks(drawing, paint);
    if (named) {
      rows.forEach((name, r) => drawing.append(text(left - 6, top + (r + 0.5) * cell + font * 0.35, short(name, 22), { "text-anchor": "end", "font-size": round(font) })));
      columns.forEach((name, c) => drawing.append(text(0, 0, short(name, 16), {
        "font-size": round(font), transform: `translate(${round(left + (c + 0.5) * cell + font * 0.35)} ${round(top - 6)}) rotate(-90)`,
      })));
    }
    drawing.append(svg("rect", { class: "cursor", width: round(cell), height: round(cell), fill: "none", stroke: paint.ink, "stroke-width": 1.5, visibility: "hidden" }));
    legend(drawing, paint);
    return drawing;
  }

  function move(drawing, r, c) {
    cursor = [r, c];
    const frame = drawing.querySelector(".cursor");
    frame.setAttribute("x", round(left + c * cell));
    frame.setAttribute("y", round(top + r * cell));
    frame.setAttribute("visibility", "visible");
    readout.textContent = describe(r, c);
  }

  function listen(drawing) {
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const scale = drawing.viewBox.baseVal.width / box.width;
      const c = Math.floor(((event.clientX - box.left) * scale - left) / cell);
      const r = Math.floor(((event.clientY - box.top) * scale - top) / cell);
      if (r >= 0 && r < rows.length && c >= 0 && c < columns.length) move(drawing, r, c);
    });
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (!step) return;
      const [r, c] = cursor ? [cursor[0] + step[0], cursor[1] + step[1]] : [0, 0];
      move(drawing, Math.max(0, Math.min(rows.length - 1, r)), Math.max(0, Math.min(columns.length - 1, c)));
      event.preventDefault();
    });
  }

  return skcamel.figure(id, { draw, after: listen, csv });
};
