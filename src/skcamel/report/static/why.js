"use strict";
// Why this label. Sent are f(x) − f̄ of each row; the pushes on label j are f_i − f̄_i times G_ij and are computed here,
// since all of them would be rows × labels × labels numbers. A combined model sends two: what counts for a label itself and what it pushes with.
skcamel.section("why", (root, data, { names, S, alpha, evidence }) => {
  const { svg, html, text, round, number, signed, short } = skcamel;
  const { rows, own, base, cuts, flags } = data;
  const q = names.length;
  const seen = skcamel.evidence(evidence, q);
  const [TRUE, PREDICTED, UNKNOWN] = [1, 2, 4];
  const FEW = 20;

  const byId = (id) => document.getElementById(id);
  const [select, all, filter, side, summary, readout] = ["why-row", "why-all", "why-filter", "why-side", "why-summary", "parts-readout"].map(byId);
  let row = 0, label = -1;

  const has = (r, j, bit) => (flags.values[r * q + j] & bit) !== 0;
  const pushing = (data.pushing ?? own).values;
  const ownPart = (r, j) => (1 - alpha) * own.values[r * q + j];
  const scale = (j) => data.scales?.values[j] ?? 1; // of the label that is pushed; that of its own part is in `own`
  const pushOf = (r, i, j) => scale(j) * alpha * S.values[i * q + j] * pushing[r * q + i];

  function partsOf(r) {
    const pushed = new Float64Array(q);
    for (let i = 0; i < q; i++) {
      const weight = alpha * pushing[r * q + i];
      if (weight !== 0) for (let j = 0; j < q; j++) if (i !== j) pushed[j] += scale(j) * weight * S.values[i * q + j];
    }
    return names.map((name, j) => ({
      j, name, base: base.values[j], own: ownPart(r, j), push: pushed[j], score: base.values[j] + ownPart(r, j) + pushed[j],
      cut: cuts.values[j], isTrue: has(r, j, TRUE), isKnown: !has(r, j, UNKNOWN), predicted: has(r, j, PREDICTED),
    }));
  }

  // The labels worth seeing first: true or predicted, then those nearest to their threshold from below.
  function visible(parts) {
    const wanted = filter.value.trim().toLowerCase();
    const rank = (p) => (p.predicted || p.isTrue ? 1 : 0);
    const sorted = [...parts].sort((a, b) => rank(b) - rank(a) || (b.score - b.cut) - (a.score - a.cut) || a.j - b.j);
    if (wanted) return sorted.filter((p) => p.name.toLowerCase().includes(wanted));
    return all.checked ? sorted : sorted.slice(0, Math.max(FEW, sorted.filter(rank).length));
  }

  // ---- drawing ----------------------------------------------------------------------------------------------------

  const [line, top] = [26, 26];
  // Names beside the bars, on a phone above them; the verdict stands at the end of either.
  const layout = () => (skcamel.narrow.matches ? { nameWidth: 12, plotWidth: 336, markWidth: 12, step: 44 } : { nameWidth: 216, plotWidth: 388, markWidth: 132, step: line });

  const verdict = (p) => (!p.isKnown ? "unknown" : p.predicted ? (p.isTrue ? "right" : "false alarm") : p.isTrue ? "missed" : "");

  function bar(p, y, sx, paint) {
    const { nameWidth, plotWidth, markWidth, step } = layout();
    const isNarrow = step > line;
    const middle = y + step - line / 2;
    const group = svg("g", { class: "bar-row", role: "button", tabindex: -1, "data-label": p.j, "aria-pressed": String(p.j === label),
      "aria-label": `${p.name}: score ${number(p.score, 2)}, threshold ${number(p.cut, 2)}, ${p.predicted ? "predicted" : "not predicted"}${!p.isKnown ? ", unknown" : p.isTrue ? ", true" : ""}` });
    group.append(svg("rect", { class: "ring", x: 1, y: round(y + 1), width: nameWidth + plotWidth + markWidth - 2, height: step - 2, rx: 4, fill: p.j === label ? paint.soft : "transparent" }));
    const [x, anchor] = isNarrow ? [nameWidth, "start"] : [nameWidth - 12, "end"];
    group.append(text(x, isNarrow ? y + 15 : middle + 4, short(p.name, isNarrow ? 34 : 24), { "text-anchor": anchor, "font-weight": p.predicted ? 700 : null, fill: p.predicted ? paint.ink : paint.muted }));
    const piece = (from, to, height, fill) => svg("rect", { x: round(Math.min(sx(from), sx(to))), y: round(middle - height / 2), width: round(Math.max(0.5, Math.abs(sx(to) - sx(from)))), height, fill });
    const after = p.base + p.own;
    group.append(
      svg("line", { x1: round(sx(p.base)), x2: round(sx(p.base)), y1: round(middle - 9), y2: round(middle + 9), stroke: paint.muted }),
      piece(p.base, after, 9, paint.own),
      piece(after, p.score, 5, p.push >= 0 ? paint.up : paint.down),
      svg("line", { x1: round(sx(p.cut)), x2: round(sx(p.cut)), y1: round(middle - 11), y2: round(middle + 11), stroke: paint.ink, "stroke-width": 2.5 }),
      svg("circle", { cx: round(sx(p.score)), cy: round(middle), r: 4.5, fill: p.predicted ? paint.ink : paint.page, stroke: paint.ink, "stroke-width": 1.5 }));
    const end = isNarrow ? [nameWidth + plotWidth, y + 15, "end"] : [nameWidth + plotWidth + 10, middle + 4, "start"];
    group.append(text(end[0], end[1], verdict(p), { "font-size": 11, "text-anchor": end[2], fill: p.predicted && p.isTrue ? paint.muted : paint.ink }));
    return group;
  }

  function draw(paint) {
    const parts = partsOf(row);
    const list = visible(parts);
    const values = list.flatMap((p) => [p.base, p.base + p.own, p.score, p.cut]);
    const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [-1, 1];
    const pad = (high - low || 1) * 0.04;
    const { nameWidth, plotWidth, markWidth, step } = layout();
    const height = Math.max(1, list.length) * step;
    const drawing = skcamel.blank(nameWidth + plotWidth + markWidth, top + height + 44, paint, { role: "group", "aria-label": `Scores of row ${rows[row]}` });
    const { sx } = skcamel.axes(drawing, paint, {
      left: nameWidth, top, width: plotWidth, height, x: { low: low - pad, high: high + pad, label: "score", count: skcamel.narrow.matches ? 4 : 6 }, y: { low: 0, high: 1, count: 1, format: () => "" },
    });
    list.forEach((p, k) => drawing.append(bar(p, top + k * step, sx, paint)));
    const firstStop = drawing.querySelector(`.bar-row[data-label="${label}"]`) ?? drawing.querySelector(".bar-row");
    if (firstStop) firstStop.setAttribute("tabindex", "0");
    return drawing;
  }

  // ---- words ------------------------------------------------------------------------------------------------------

  const listed = (found) => found.length > 8 ? `${found.slice(0, 8).map((p) => p.name).join(", ")} and ${found.length - 8} more` : found.map((p) => p.name).join(", ") || "none";

  function tell() {
    const parts = partsOf(row);
    const unknown = parts.filter((p) => !p.isKnown);
    const facts = [["Predicted", listed(parts.filter((p) => p.predicted))], ["True", listed(parts.filter((p) => p.isTrue))],
      ...(unknown.length ? [["Unknown", listed(unknown)]] : [])];
    summary.replaceChildren(...facts.flatMap(([name, words]) => [html("dt", {}, name), html("dd", {}, words)]));
    const shownCount = visible(parts).length;
    readout.textContent = shownCount < q ? `${shownCount} of ${q} labels.` : "";
    const p = parts[label < 0 ? visible(parts)[0]?.j ?? 0 : label];
    const pushes = names.map((name, i) => ({ name, key: i, amount: pushOf(row, i, p.j), against: seen.against(i, p.j), note: seen.words(i, p.j) })).filter((push) => push.key !== p.j && push.amount !== 0);
    pushes.sort((a, b) => a.against - b.against || Math.abs(b.amount) - Math.abs(a.amount) || a.key - b.key);
    const sum = html("ul", { class: "pushes sum" });
    for (const [name, amount] of [["average row", p.base], ["own evidence", p.own], ["push of the others", p.push], ["score", p.score], ["threshold", p.cut]]) {
      sum.append(html("li", {}, html("span", { class: "name" }, name), html("span", { class: "amount" }, signed(amount))));
    }
    side.replaceChildren(
      html("h3", {}, p.name),
      html("p", {}, `${p.predicted ? "Predicted" : "Not predicted"}; ${!p.isKnown ? "unknown" : p.isTrue ? "true" : "not true"} in the data.`),
      sum,
      ...(alpha > 0 ? [html("h4", {}, "Strongest pushes on it"), pushes.length ? skcamel.pushes(pushes.slice(0, 10), chooseLabel) : html("p", { class: "note" }, "none")] : []),
      ...(pushes.length > 10 ? [html("p", { class: "note" }, `and ${pushes.length - 10} more`)] : []),
      ...(pushes.length ? [html("p", { class: "note" }, evidence.legend)] : []));
  }

  function chooseLabel(which, keepFocus = false) {
    label = which;
    redraw();
    tell();
    const found = document.querySelector(`#parts-plot [data-label="${which}"]`);
    if (keepFocus && found) found.focus();
  }

  function chooseRow(which) {
    row = (which + rows.length) % rows.length;
    select.value = String(row);
    redraw();
    tell();
  }

  function listen(drawing) {
    drawing.addEventListener("click", (event) => {
      const found = event.target.closest("[data-label]");
      if (found) chooseLabel(Number(found.dataset.label));
    });
    drawing.addEventListener("keydown", (event) => {
      const here = event.target.closest("[data-label]");
      if (!here) return;
      const next = { ArrowDown: here.nextElementSibling, ArrowUp: here.previousElementSibling }[event.key];
      if (next && next.dataset.label !== undefined) {
        here.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      } else if (event.key === "Enter" || event.key === " ") chooseLabel(Number(here.dataset.label), true);
      else if (next === undefined) return;
      event.preventDefault();
    });
  }

  function counts(r) {
    let [right, missed, wrong, unknown] = [0, 0, 0, 0];
    for (let j = 0; j < q; j++) {
      const [t, p] = [has(r, j, TRUE), has(r, j, PREDICTED)];
      if (has(r, j, UNKNOWN)) unknown += 1;
      else { right += t && p; missed += t && !p; wrong += p && !t; }
    }
    return `${right} right, ${missed} missed, ${wrong} false${unknown ? `, ${unknown} unknown` : ""}`;
  }

  select.append(...rows.map((id, r) => html("option", { value: r }, `${id}: ${counts(r)}`)));
  all.closest("label").hidden = q <= FEW;
  const redraw = skcamel.figure("parts", {
    draw,
    after: listen,
    csv: () => [["row", "label", "base", "own", "push", "score", "threshold", "predicted", "true"],
      ...partsOf(row).map((p) => [rows[row], p.name, p.base, p.own, p.push, p.score, p.cut, Number(p.predicted), p.isKnown ? Number(p.isTrue) : ""])],
  });
  tell();
  select.addEventListener("change", () => chooseRow(Number(select.value)));
  byId("why-previous").addEventListener("click", () => chooseRow(row - 1));
  byId("why-next").addEventListener("click", () => chooseRow(row + 1));
  for (const [element, kind] of [[all, "change"], [filter, "input"]]) element.addEventListener(kind, () => { redraw(); tell(); });
});
