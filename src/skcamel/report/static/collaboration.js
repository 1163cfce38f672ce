"use strict";
// The graph of collaboration: labels on a circle in an order computed beforehand, pushes as tapered curves.
skcamel.section("collaboration", (root, _, { names, order, S, alpha, evidence }) => {
  const { svg, html, text, round, short, signed } = skcamel;
  const q = names.length;
  const s = (i, j) => S.values[i * q + j];
  const seen = skcamel.evidence(evidence, q);
  const edges = [];
  for (let i = 0; i < q; i++) for (let j = 0; j < q; j++) if (i !== j && s(i, j) !== 0) edges.push({ i, j, s: s(i, j), against: seen.against(i, j) });
  edges.sort((a, b) => a.against - b.against || Math.abs(b.s) - Math.abs(a.s) || a.i - b.i || a.j - b.j);

  const slider = document.getElementById("graph-share");
  const readout = document.getElementById("graph-readout");
  const side = document.getElementById("graph-side");
  const clear = document.getElementById("graph-clear");
  const find = document.getElementById("graph-find");
  const MOST_LABELS = 30; // on the circle; the field finds every label
  let focus = -1;

  // The labels of the strongest pushes, or the one that is chosen and those of its strongest, in the order of the circle.
  function labels() {
    if (q <= MOST_LABELS) return order;
    const found = new Set(focus < 0 ? [] : [focus]);
    for (const { i, j } of edges) {
      if (focus >= 0 && i !== focus && j !== focus) continue;
      if (found.size + !found.has(i) + !found.has(j) <= MOST_LABELS) found.add(i).add(j);
      if (found.size === MOST_LABELS) break;
    }
    return order.filter((label) => found.has(label));
  }

  // The slider is steeper where pushes are many: its middle shows a quarter of them. At first about two for each label.
  const shareOf = (value) => (value / 100) ** 2;
  function candidates() {
    const onCircle = edges.filter((edge) => spot[edge.i] && spot[edge.j]);
    return focus < 0 ? onCircle : onCircle.filter((edge) => edge.i === focus || edge.j === focus);
  }

  function shown() {
    const among = candidates();
    const wanted = Math.round(among.length * shareOf(Number(slider.value)));
    // Of one label so many can be told apart anyway.
    return among.slice(0, focus < 0 ? Math.max(1, wanted) : Math.max(24, wanted));
  }

  // ---- geometry: few labels have horizontal names, more have names along the radius, and so has a phone --------------

  let [few, size, font, wide, cx, cy, radius, spot, placed] = [true, 0, 0, 0, 0, 0, 0, [], []];

  function place() {
    placed = labels();
    const n = placed.length, phone = skcamel.narrow.matches;
    few = n <= 16 && !phone;
    size = phone ? 360 : few ? 720 : 820;
    font = phone ? 10.5 : few ? 17 : 13;
    wide = few ? size + 260 : size;
    [cx, cy, radius] = [wide / 2, size / 2, size / 2 - (few ? 50 : phone ? 92 : 190)];
    spot = [];
    placed.forEach((label, position) => {
      const angle = (2 * Math.PI * position) / n - Math.PI / 2;
      spot[label] = { angle, x: cx + radius * Math.cos(angle), y: cy + radius * Math.sin(angle), position };
    });
  }

  place();
  slider.value = String(Math.round(100 * Math.sqrt(Math.min(1, (2 * placed.length + 6) / Math.max(1, candidates().length)))));

  function curve({ i, j, s: strength, against }, paint, strongest) {
    const [a, b] = [spot[i], spot[j]];
    // Towards the middle of the circle, less so for neighbours; a little to the side, so that i → j and j → i are apart.
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const length = Math.hypot(dx, dy) || 1;
    const pull = 0.04 + 0.62 * Math.min(1, length / (2 * radius));
    const bow = 0.09 * length;
    const mx = (a.x + b.x) / 2 + (cx - (a.x + b.x) / 2) * pull - (dy / length) * bow;
    const my = (a.y + b.y) / 2 + (cy - (a.y + b.y) / 2) * pull + (dx / length) * bow;
    const width = ((few ? 1.5 : 0.8) + (few ? 11 : focus < 0 ? 5 : 9) * (Math.abs(strength) / strongest)) / 2;
    const [tx, ty] = [mx - a.x, my - a.y];
    const t = Math.hypot(tx, ty) || 1;
    const [nx, ny] = [(-ty / t) * width, (tx / t) * width];
    const p = (x, y) => `${round(x)} ${round(y)}`;
    const path = `M${p(a.x + nx, a.y + ny)}Q${p(mx + nx * 0.6, my + ny * 0.6)} ${p(b.x, b.y)}Q${p(mx - nx * 0.6, my - ny * 0.6)} ${p(a.x - nx, a.y - ny)}Z`;
    const colour = strength > 0 ? paint.up : paint.down;
    const style = against ? { fill: colour, "fill-opacity": 0.06, stroke: colour, "stroke-opacity": 0.8 } : { fill: colour, "fill-opacity": focus < 0 ? 0.62 : 0.85 };
    return svg("path", { d: path, ...style, "data-push": `${i},${j}` });
  }

  function node(label, paint, known) {
    const { angle, x, y, position } = spot[label];
    // The others stay readable, only quieter.
    const dim = focus >= 0 && !known.has(label);
    const chosen = label === focus;
    const group = svg("g", {
      class: "node", role: "button", tabindex: (focus < 0 ? position === 0 : chosen) ? 0 : -1, "data-label": label,
      "aria-label": names[label], "aria-pressed": String(chosen),
    });
    const r = few ? 7 : 3.2;
    group.append(svg("circle", { class: "ring", cx: round(x), cy: round(y), r: r + 3, fill: "transparent", stroke: "none" }));
    group.append(svg("circle", { cx: round(x), cy: round(y), r, fill: chosen ? paint.accent : dim ? paint.line : paint.ink, stroke: paint.page, "stroke-width": few ? 2 : 1 }));
    const out = radius + (few ? 18 : 9);
    const style = { "font-size": round(font), fill: chosen ? paint.accent : dim ? paint.muted : paint.ink, "font-weight": chosen || (focus >= 0 && !dim) ? 700 : null };
    if (few) {
      const [c, sn] = [Math.cos(angle), Math.sin(angle)];
      group.append(text(cx + out * c, cy + out * sn + font * (0.35 + 0.25 * sn), short(names[label], 26),
        { "text-anchor": Math.abs(c) < 0.2 ? "middle" : c > 0 ? "start" : "end", ...style }));
    } else {
      const flip = Math.cos(angle) < -1e-9;
      const degrees = round((angle * 180) / Math.PI + (flip ? 180 : 0));
      group.append(text(flip ? -out : out, font * 0.35, short(names[label], skcamel.narrow.matches ? 14 : 28),
        { "text-anchor": flip ? "end" : "start", transform: `translate(${round(cx)} ${round(cy)}) rotate(${degrees})`, ...style }));
    }
    group.append(svg("title", {}, names[label]));
    return group;
  }

  function draw(paint) {
    place();
    const drawing = skcamel.blank(wide, size, paint, { role: "group", "aria-label": "Graph of pushes between labels" });
    const visible = shown();
    const known = new Set(visible.flatMap((edge) => [edge.i, edge.j]));
    if (focus >= 0) known.add(focus);
    const lines = svg("g", {});
    // The first last, on top.
    const strongest = visible.reduce((most, edge) => Math.max(most, Math.abs(edge.s)), 0);
    for (const edge of [...visible].reverse()) lines.append(curve(edge, paint, strongest));
    drawing.append(svg("circle", { cx: round(cx), cy: round(cy), r: radius, fill: "none", stroke: paint.line }), lines);
    for (const label of placed) drawing.append(node(label, paint, known));
    return drawing;
  }

  // ---- what is said beside it -------------------------------------------------------------------------------------

  const list = (title, found, name) => [html("h4", {}, title),
    found.length ? skcamel.pushes(found.slice(0, 12).map((edge) => ({ name: name(edge), amount: edge.s, key: edge.i === focus ? edge.j : edge.i, note: seen.words(edge.i, edge.j) })), choose)
      : html("p", { class: "note" }, "none"),
    ...(found.length > 12 ? [html("p", { class: "note" }, `and ${found.length - 12} more`)] : [])];

  function tell() {
    const visible = shown();
    const among = candidates();
    const last = among.filter((edge) => edge.against).length;
    const weakest = visible.reduce((least, edge) => Math.min(least, edge.against ? Infinity : Math.abs(edge.s)), Infinity);
    readout.textContent = edges.length
      ? `${visible.length.toLocaleString("en")} of ${among.length.toLocaleString("en")} pushes${focus < 0 ? (placed.length < q ? ` among the ${placed.length} labels with the strongest` : "") : ` of ${names[focus]}`}`
        + (Number.isFinite(weakest) ? `, those with |s| ≥ ${weakest.toPrecision(2)}` : "")
        + (last === 0 ? "." : last === among.length ? `; all go ${evidence.phrase}.` : `; ${last.toLocaleString("en")} that go ${evidence.phrase} come last.`)
      : "There are no pushes.";
    clear.disabled = focus < 0;
    if (focus < 0) {
      side.replaceChildren(html("h3", {}, "Strongest pushes"),
        skcamel.pushes(edges.slice(0, 10).map((edge) => ({ name: `${names[edge.i]} → ${names[edge.j]}`, amount: edge.s, key: edge.i, note: seen.words(edge.i, edge.j) })), choose),
        html("p", { class: "note" }, "Numbers are s; choose one to see all pushes of the label that pushes."));
    } else {
      side.replaceChildren(html("h3", {}, names[focus]),
        html("p", { class: "note" }, `Its own evidence counts ${skcamel.number(1 - alpha, 2)}, each push α = ${skcamel.number(alpha, 2)} times s.`),
        ...list("is pushed by", edges.filter((edge) => edge.j === focus), (edge) => names[edge.i]),
        ...list("pushes", edges.filter((edge) => edge.i === focus), (edge) => names[edge.j]));
    }
  }

  function choose(label, keepFocus = false) {
    focus = label;
    redraw();
    tell();
    if (keepFocus) document.querySelector(`#graph-plot [data-label="${label}"]`).focus();
  }

  function listen(drawing) {
    const labelOf = (event) => {
      const found = event.target.closest("[data-label]");
      return found ? Number(found.dataset.label) : -1;
    };
    drawing.addEventListener("click", (event) => {
      const label = labelOf(event);
      if (label >= 0) choose(label === focus ? -1 : label);
    });
    drawing.addEventListener("pointerover", (event) => {
      const push = event.target.dataset ? event.target.dataset.push : undefined;
      if (!push) return;
      const [i, j] = push.split(",").map(Number);
      readout.textContent = `${names[i]} pushes ${names[j]} ${s(i, j) > 0 ? "up" : "down"}: s = ${signed(s(i, j))}, α s = ${signed(alpha * s(i, j))}${seen.brackets(i, j)}.`;
    });
    drawing.addEventListener("keydown", (event) => {
      const label = labelOf(event);
      if (label < 0) return;
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) {
        const next = drawing.querySelector(`[data-label="${placed[(spot[label].position + step + placed.length) % placed.length]}"]`);
        drawing.querySelectorAll('.node[tabindex="0"]').forEach((element) => element.setAttribute("tabindex", "-1"));
        next.setAttribute("tabindex", "0");
        next.focus();
      } else if (event.key === "Enter" || event.key === " ") choose(label, true);
      else if (event.key === "Escape" && focus >= 0) {
        choose(-1);
        (document.querySelector(`#graph-plot [data-label="${label}"]`) ?? document.querySelector('#graph-plot .node[tabindex="0"]')).focus();
      } else return;
      event.preventDefault();
    });
  }

  const redraw = skcamel.figure("graph", {
    draw,
    after: listen,
    csv: () => [["from", "to", "s", "push", ...seen.heads], ...edges.map((edge) => [names[edge.i], names[edge.j], edge.s, alpha * edge.s, ...seen.cells(edge.i, edge.j)])],
  });
  tell();
  slider.addEventListener("input", () => { redraw(); tell(); });
  clear.addEventListener("click", () => { find.value = ""; choose(-1); });
  skcamel.finder(find, document.getElementById("graph-names"), names, choose);
});
