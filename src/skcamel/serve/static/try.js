"use strict";
// One row: a form made from the columns of the model, its labels as bars, and why. Every change asks the server again.
skcamel.section("try", () => {
  const { html, svg, text, blank, round, number, signed, short, server } = skcamel;
  const byId = (id) => document.getElementById(id);
  const [FEW, FIRST, MANY, SOON] = [16, 10, 80, 120]; // columns shown all, shown first, found at most; milliseconds before the server is asked
  const LABELS = 15;
  let model, row, answer = null, before = {}, chosen = null, all = false, waiting = 0, asking = null;

  // ---- the form ---------------------------------------------------------------------------------------------------

  const KINDS = { number: "number", flag: "yes or no", category: "category", date: "date", text: "text", tags: "several, with | between" };
  const isChanged = (column) => row[column.name] !== model.example[column.name];
  const hint = (column) => [column.kind === "date" ? `date, ${column.order}` : KINDS[column.kind], column.unit ? `in ${column.unit}` : "", column.low === undefined ? "" : `mostly ${column.low} to ${column.high}`].filter(Boolean).join(", ");

  function setValue(column, value, field) {
    row[column.name] = value;
    field.classList.toggle("changed", isChanged(column));
    soon();
  }

  function numberField(column, id, value, field) {
    const entry = html("input", { type: "number", step: "any", id, value: value ?? "", "aria-describedby": `${id}-kind`, placeholder: column.gaps ? "not known" : null });
    const read = () => (entry.value === "" ? null : Number(entry.value));
    if (column.low === undefined) {
      entry.addEventListener("input", () => setValue(column, read(), field));
      return html("div", { class: "numbers" }, entry);
    }
    const step = Number(((column.high - column.low) / 100).toPrecision(2));
    const slider = html("input", { type: "range", min: column.low, max: column.high, step, value: value ?? column.typical, "aria-label": `${column.name}, slider` });
    entry.addEventListener("input", () => { if (entry.value !== "") slider.value = entry.value; setValue(column, read(), field); });
    slider.addEventListener("input", () => { entry.value = slider.value; setValue(column, read(), field); });
    return html("div", { class: "numbers" }, slider, entry);
  }

  function choiceField(column, id, value, field) {
    const options = [...(column.gaps ? [html("option", { value: "" }, "not known")] : []), ...column.choices.map((choice) => html("option", { value: choice }, choice || "(empty)"))];
    const entry = html("select", { id, "aria-describedby": `${id}-kind` }, ...options);
    entry.value = value ?? "";
    entry.addEventListener("change", () => setValue(column, entry.value === "" && column.gaps ? null : entry.value, field));
    return entry;
  }

  function textField(column, id, value, field) {
    const entry = column.kind === "text" ? html("textarea", { id, "aria-describedby": `${id}-kind`, rows: 3 }) : html("input", { type: "text", id, "aria-describedby": `${id}-kind`, placeholder: "not known" });
    entry.value = value ?? "";
    entry.addEventListener("input", () => setValue(column, entry.value === "" ? null : entry.value, field));
    return entry;
  }

  function fieldOf(column) {
    const id = `column-${model.columns.indexOf(column)}`;
    const field = html("div", { class: "field" }, html("label", { for: id }, column.name));
    const make = column.kind === "number" ? numberField : column.choices && !column.several ? choiceField : textField;
    field.append(make(column, id, row[column.name], field), html("span", { class: "kind", id: `${id}-kind` }, hint(column)));
    field.classList.toggle("changed", isChanged(column));
    return field;
  }

  // Of many columns those that were changed, those that matter to the chosen label, and the first.
  function visible() {
    const wanted = byId("try-find").value.trim().toLowerCase();
    if (wanted) return model.columns.filter((column) => column.name.toLowerCase().includes(wanted)).slice(0, MANY);
    if (all || model.columns.length <= FEW) return model.columns;
    const matter = new Set((reason()?.columns ?? []).map((part) => part.column));
    const found = model.columns.filter((column) => isChanged(column) || matter.has(column.name));
    return [...found, ...model.columns.filter((column) => !found.includes(column))].slice(0, Math.max(FIRST, found.length));
  }

  function showFields() {
    const shown = visible();
    byId("try-fields").replaceChildren(...shown.map(fieldOf));
    byId("try-count").textContent = shown.length < model.columns.length ? `${shown.length} of ${model.columns.length} columns are shown; the others keep their values.` : "";
  }

  // ---- asking -----------------------------------------------------------------------------------------------------

  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(ask, SOON);
  }

  async function ask() {
    asking?.abort();
    const own = asking = new AbortController();
    const request = { rows: [row], ...(model.answers.sets ? { confidence: Number(byId("confidence").value) } : {}),
      reasons: true, top: 8, ...(chosen === null ? {} : { labels: [chosen] }) };
    try {
      const told = await server.predict(request, own.signal);
      before = answer ? Object.fromEntries(model.labels.map((name) => [name, valueOf(answer, name)])) : {};
      answer = told.predictions[0];
      server.problem("try-problem", null);
      server.notes("try-notes", told.notes);
      tell();
    } catch (error) {
      if (error.name === "AbortError") return;
      server.problem("try-problem", error);
    }
    byId("bench").dataset.answered = String(Number(byId("bench").dataset.answered ?? 0) + 1);
  }

  const valueOf = (told, name) => (told.probabilities ?? told.scores)[name];
  const reason = () => answer?.reasons?.[0];

  function tell() {
    byId("try-said").textContent = `Predicted: ${answer.labels.join(", ") || "no label"}.`;
    drawLabels();
    for (const [id, wanted] of [["columns", reason()?.columns], ["others", reason()]]) byId(id).hidden = !wanted;
    if (reason()?.columns) drawColumns();
    if (reason()) drawOthers();
  }

  function choose(name) {
    chosen = name;
    ask();
  }

  // ---- labels -----------------------------------------------------------------------------------------------------

  const widthOf = (id) => Math.max(280, Math.min(660, byId(`${id}-plot`).clientWidth || 600));

  function shownLabels() {
    const wanted = byId("label-find").value.trim().toLowerCase();
    const sorted = [...model.labels].sort((a, b) => answer.labels.includes(b) - answer.labels.includes(a) || valueOf(answer, b) - valueOf(answer, a));
    if (wanted) return sorted.filter((name) => name.toLowerCase().includes(wanted)).slice(0, MANY);
    return model.labels.length <= LABELS ? model.labels : sorted.slice(0, Math.max(LABELS, answer.labels.length));
  }

  function drawnLabels(paint) {
    const names = shownLabels(), width = widthOf("labels"), line = 28;
    const nameWidth = Math.min(190, width * 0.36), endWidth = answer.sets ? 96 : 56;
    const values = model.labels.flatMap((name) => [valueOf(answer, name), before[name] ?? 0]);
    const most = answer.probabilities ? 1 : Math.max(1e-9, ...values.map(Math.abs));
    const low = answer.probabilities ? 0 : -most;
    const sx = (value) => nameWidth + ((value - low) / (most - low)) * (width - nameWidth - endWidth);
    const drawing = blank(width, names.length * line + 6, paint, { role: "group", "aria-label": "Labels of this row; arrow keys move, Enter chooses" });
    names.forEach((name, k) => drawing.append(labelRow(name, k * line + 3, { line, nameWidth, width, sx }, paint)));
    const first = drawing.querySelector('[aria-pressed="true"]') ?? drawing.querySelector("[data-label]");
    first?.setAttribute("tabindex", "0");
    return drawing;
  }

  function labelRow(name, y, { line, nameWidth, width, sx }, paint) {
    const value = valueOf(answer, name), isPredicted = answer.labels.includes(name), middle = y + line / 2, isChosen = reason()?.label === name;
    const shown = answer.probabilities ? `${Math.round(100 * value)} %` : signed(value, 2);
    const word = answer.sets?.[name];
    const group = svg("g", { class: "bar-row", role: "button", tabindex: -1, "data-label": name, "aria-pressed": String(isChosen),
      "aria-label": `${name}: ${shown}, ${isPredicted ? "predicted" : "not predicted"}${word ? `, ${word}` : ""}` });
    const zero = Math.max(sx(0), nameWidth), [from, to] = [Math.min(zero, sx(value)), Math.max(zero, sx(value))];
    group.append(
      svg("rect", { class: "ring", x: 1, y: round(y + 1), width: round(width - 2), height: line - 2, rx: 4, fill: isChosen ? paint.soft : "transparent" }),
      text(nameWidth - 10, middle + 4, short(name, Math.floor(nameWidth / 7.2)), { "text-anchor": "end", "font-weight": isPredicted ? 700 : null, fill: isPredicted ? paint.ink : paint.muted }),
      svg("line", { x1: round(nameWidth), x2: round(sx(answer.probabilities ? 1 : Math.max(0, value))), y1: round(middle), y2: round(middle), stroke: paint.line }),
      svg("rect", { class: "move", x: round(from), y: round(middle - 5), width: round(Math.max(1, to - from)), height: 10, rx: 2, fill: isPredicted ? paint.accent : paint.own }));
    if (before[name] !== undefined && Math.abs(sx(before[name]) - sx(value)) > 2) {
      group.append(svg("circle", { class: "move", cx: round(sx(before[name])), cy: round(middle), r: 4, fill: "none", stroke: paint.ink, "stroke-width": 1.4 }));
    }
    group.append(text(width - (word ? 92 : 50), middle + 4, shown, { "font-weight": isPredicted ? 700 : null }));
    if (word) group.append(text(width - 8, middle + 4, word, { "text-anchor": "end", fill: word === "open" ? paint.muted : word === "yes" ? paint.up : paint.down, "font-weight": word === "open" ? null : 600 }));
    return group;
  }

  function listen(drawing) {
    drawing.addEventListener("click", (event) => { const found = event.target.closest("[data-label]"); if (found) choose(found.dataset.label); });
    drawing.addEventListener("keydown", (event) => {
      const here = event.target.closest("[data-label]");
      const next = { ArrowDown: here?.nextElementSibling, ArrowUp: here?.previousElementSibling }[event.key];
      if (next) {
        here.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      } else if (event.key === "Enter" || event.key === " ") choose(here.dataset.label);
      else if (next === undefined) return;
      event.preventDefault();
    });
  }

  // ---- why --------------------------------------------------------------------------------------------------------

  // Steps [{name, value, note}] from a start to the score, one under the other.
  function waterfall(id, title, start, steps, cut) {
    return (paint) => {
      const width = widthOf(id), line = 26, nameWidth = Math.min(230, width * 0.42);
      let at = start.value;
      const bars = steps.map((step) => { const from = at; at += step.value; return { ...step, from, to: at }; });
      const ends = [start.value, cut, at, ...bars.map((bar) => bar.to)];
      const [low, high] = [Math.min(...ends), Math.max(...ends)];
      const sx = (value) => nameWidth + 8 + ((value - low) / (high - low || 1)) * (width - nameWidth - 72);
      const height = (bars.length + 2) * line + 24;
      const said = [`${start.name} ${signed(start.value)}`, ...bars.map((bar) => `${bar.name} ${signed(bar.value)}`), `score ${signed(at)}`, `threshold ${signed(cut)}`].join(", ");
      const drawing = blank(width, height, paint, { role: "img", "aria-label": `${title}: ${said}` });
      const word = (y, name, shown, bold) => drawing.append(
        text(nameWidth - 4, y + 4, short(name, Math.floor(nameWidth / 7)), { "text-anchor": "end", "font-weight": bold ? 700 : null }),
        text(width - 4, y + 4, shown, { "text-anchor": "end", "font-size": 11, fill: paint.muted }));
      drawing.append(svg("line", { x1: round(sx(cut)), x2: round(sx(cut)), y1: 2, y2: height - 20, stroke: paint.ink, "stroke-width": 2.5 }),
        text(sx(cut), height - 6, `threshold ${number(cut, 2)}`, { "text-anchor": "middle", "font-size": 11, fill: paint.muted }));
      [{ ...start, to: start.value }, ...bars, { name: "score", value: at, to: at, isEnd: true }].forEach((bar, k) => {
        const y = k * line + line / 2 + 2;
        word(y, bar.name, signed(bar.value), bar.isEnd);
        if (bar.from === undefined) drawing.append(svg("circle", { cx: round(sx(bar.to)), cy: y, r: 4.5, fill: bar.isEnd ? paint.ink : paint.page, stroke: paint.ink, "stroke-width": 1.5 }));
        else drawing.append(
          svg("rect", { x: round(Math.min(sx(bar.from), sx(bar.to))), y: y - 6, width: round(Math.max(1, Math.abs(sx(bar.to) - sx(bar.from)))), height: 12, fill: bar.value >= 0 ? paint.up : paint.down }),
          svg("line", { x1: round(sx(bar.to)), x2: round(sx(bar.to)), y1: y - 6, y2: y + line - 6, stroke: paint.line }));
      });
      return drawing;
    };
  }

  const byColumn = () => {
    const { columns, other_columns: rest, number_of_other_columns: n } = reason();
    return [...columns.map((part) => ({ name: cell(part.column), value: part.value })), ...(n ? [{ name: `${n} more column${n > 1 ? "s" : ""}`, value: rest }] : [])];
  };
  const byLabel = () => {
    const { own, pushes, other_pushes: rest, number_of_other_pushes: n } = reason();
    return [{ name: "own evidence", value: own }, ...pushes.map((push) => ({ name: `push of ${push.label}`, value: push.push })), ...(n ? [{ name: `push of ${n} more`, value: rest }] : [])];
  };
  const cell = (name) => {
    const value = row[name];
    return value === undefined ? name : `${short(name, 18)} = ${value === null ? "not known" : short(String(value), 12)}`;
  };
  const csv = (start, steps) => () => [["part", "value"], start(), ...steps().map((step) => [step.name, step.value]), ["score", reason().score], ["threshold", reason().cut]];

  function retitle(id, words) {
    byId(`${id}-title`).textContent = words;
  }

  let drawLabels, drawColumns, drawOthers;
  function figures() {
    const make = (id, options) => {
      let show = null;
      return () => { if (show) show(); else show = skcamel.figure(id, options); };
    };
    drawLabels = make("labels", { draw: drawnLabels, after: listen, csv: () => [["label", "probability", "score", "predicted", "set"],
      ...model.labels.map((name) => [name, answer.probabilities?.[name], answer.scores?.[name], Number(answer.labels.includes(name)), answer.sets?.[name]])] });
    const columns = make("columns", { draw: (paint) => waterfall("columns", "By column", { name: "no column known", value: reason().no_column }, byColumn(), reason().cut)(paint), csv: csv(() => ["no column known", reason().no_column], byColumn) });
    const others = make("others", { draw: (paint) => waterfall("others", "By label", { name: "average row", value: reason().base }, byLabel(), reason().cut)(paint), csv: csv(() => ["average row", reason().base], byLabel) });
    drawColumns = () => { retitle("columns", `Why ${short(reason().label, 40)}: by column`); columns(); };
    drawOthers = () => { retitle("others", `Why ${short(reason().label, 40)}: by label`); others(); };
  }

  // ---- start ------------------------------------------------------------------------------------------------------

  async function start() {
    try {
      model = await server.model();
    } catch (error) {
      byId("token-form").hidden = error.status !== 401;
      server.problem("try-problem", error.status === 401 && !server.hasToken() ? null : error);
      return;
    }
    byId("token-form").hidden = true;
    server.problem("try-problem", null);
    document.title = byId("title").textContent = model.name;
    row = { ...model.example };
    byId("bench").hidden = false;
    byId("confidence-control").hidden = !model.answers.sets;
    byId("label-find-control").hidden = model.labels.length <= LABELS;
    byId("try-find-control").hidden = byId("try-all").hidden = model.columns.length <= FEW;
    byId("try-gaps").hidden = !model.columns.some((column) => column.gaps);
    for (const id of ["columns", "others"]) byId(id).hidden = true;
    figures();
    showFields();
    await ask();
    if (model.columns.length > FEW) showFields(); // now it is known which matter
  }

  const reset = (values) => { row = values; showFields(); ask(); };
  byId("try-form").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  byId("try-find").addEventListener("input", showFields);
  byId("try-typical").addEventListener("click", () => reset({ ...model.example }));
  byId("try-gaps").addEventListener("click", () => reset(Object.fromEntries(model.columns.map((column) => [column.name, column.gaps ? null : model.example[column.name]]))));
  byId("try-all").addEventListener("click", (event) => {
    all = !all;
    event.target.setAttribute("aria-expanded", String(all));
    event.target.textContent = all ? "Show fewer columns" : "Show all columns";
    showFields();
  });
  byId("confidence").addEventListener("change", ask);
  byId("label-find").addEventListener("input", () => { if (answer) drawLabels(); });
  addEventListener("resize", () => { if (answer) tell(); });
  byId("token-form").addEventListener("submit", (event) => { event.preventDefault(); server.setToken(byId("token").value); start(); });
  start();
});
