"use strict";
// Average ranks and the critical difference in Demšar's form: the best on the right, bars below the scale join what does not differ.
skcamel.diagram = (id, one) => {
  const { svg, text, round, short } = skcamel;
  const narrow = matchMedia("(max-width: 40rem)"); // in a downloaded drawing never
  const [scale, step, line, letter] = [62, 9, 20, 6.6];

  function draw(paint) {
    const { ranks, groups, difference, alt } = one();
    const k = ranks.length, half = Math.ceil(k / 2), small = paint === skcamel.SCREEN && narrow.matches;
    const words = ranks.map(([name, , mean]) => `${short(name, small ? 14 : 24)} ${mean}`);
    const side = Math.max(...words.map((word) => word.length)) * letter + 24;
    const inner = Math.max(small ? 120 : 260, 4 * letter * k);
    const depth = scale + step * (groups.length + 1) + 12;
    const x = (rank) => side + ((k - rank) / (k - 1)) * inner;
    const drawing = skcamel.blank(2 * side + inner, depth + line * (half - 1) + 14, paint, { role: "img", "aria-label": alt });
    drawing.append(svg("line", { x1: x(k), x2: x(1), y1: scale, y2: scale, stroke: paint.ink }));
    for (let rank = 1; rank <= k; rank++) {
      drawing.append(svg("line", { x1: round(x(rank)), x2: round(x(rank)), y1: scale - 5, y2: scale, stroke: paint.ink }));
      drawing.append(text(x(rank), scale - 9, String(rank), { "text-anchor": "middle", "font-size": 11, fill: paint.muted }));
    }
    // Its length, from the worst rank on; it may be longer than the scale.
    const end = Math.min(x(k - difference), 2 * side + inner - 2);
    drawing.append(text(x(k), 14, `critical difference ${difference.toFixed(2)}`, { fill: paint.up }));
    drawing.append(svg("path", { d: `M${round(x(k))} 20v8m0 -4H${round(end)}m0 -4v8`, fill: "none", stroke: paint.up, "stroke-width": 2 }));
    groups.forEach(([best, worst], g) => {
      const y = scale + step * (g + 1);
      drawing.append(svg("line", { class: "group", x1: round(x(worst) - 4), x2: round(x(best) + 4), y1: y, y2: y, stroke: paint.up, "stroke-width": 4 }));
    });
    // The better half on the right, best on top; the worse half on the left, worst on top: so lines never cross.
    ranks.forEach(([, rank], i) => {
      const right = i < half, y = depth + line * (right ? i : k - 1 - i), edge = right ? side + inner + 10 : side - 10;
      drawing.append(svg("polyline", { points: skcamel.points([[x(rank), scale], [x(rank), y], [edge, y]]), fill: "none", stroke: paint.own }));
      drawing.append(text(edge + (right ? 5 : -5), y + 4, words[i], { "text-anchor": right ? "start" : "end" }));
    });
    return drawing;
  }

  const csv = () => [["method", "average_rank", "critical_difference_nemenyi", "datasets"],
    ...one().ranks.map(([name, rank]) => [name, rank, one().difference, one().datasets])];
  const redraw = skcamel.figure(id, { draw, csv });
  narrow.addEventListener("change", redraw);
  return redraw;
};
