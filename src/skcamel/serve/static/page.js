"use strict";
// One row: a form made from the columns of the model, and what the server says of it. Names become text, never markup.
const byId = (id) => document.getElementById(id);
const SOON = 150; // milliseconds after a change before a request
let model, row, answer, chosen, token = "", waiting = 0, asking = null;

function make(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

async function ask(path, options = {}) {
  const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const response = await fetch(path, { ...options, headers });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw Object.assign(new Error(body.error ?? `The server answered ${response.status}.`), { status: response.status });
  return body;
}

function showProblem(error) {
  byId("problem").hidden = !error;
  byId("problem").textContent = error?.message ?? "";
}

// ---- the row

const about = (column) => [column.kind, column.unit && `in ${column.unit}`, column.several && "several, with | between"].filter(Boolean).join(", ");

function fieldOf(column) {
  const isChoice = column.choices && !column.several;
  let field = make("input", { type: column.kind === "number" ? "number" : "text", step: "any" });
  if (column.kind === "text") field = make("textarea", { rows: 3 });
  if (isChoice) field = make("select", {}, make("option", { value: "" }, "missing"), ...column.choices.map((choice) => make("option", { value: choice }, choice)));
  if (model.takes_missing && !isChoice) field.placeholder = "missing";
  field.value = row[column.name] ?? "";
  field.addEventListener("input", () => {
    const isEmpty = field.value === "";
    row[column.name] = isEmpty ? null : column.kind === "number" ? Number(field.value) : field.value;
    soon();
  });
  return make("label", {}, column.name, " ", make("small", {}, about(column)), field);
}

function showFields() {
  const wanted = byId("find").value.toLowerCase();
  const found = model.columns.filter((column) => column.name.toLowerCase().includes(wanted));
  byId("fields").replaceChildren(...found.map(fieldOf));
}

// ---- its labels

function bar(from, to, kind, mark = null) {
  const part = make("i", { className: kind });
  part.style.left = `${100 * Math.min(from, to)}%`;
  part.style.width = `${100 * Math.abs(to - from)}%`;
  const made = make("div", { className: "bar" }, part);
  if (mark !== null) {
    made.append(make("i", { className: "mark" }));
    made.lastChild.style.left = `${100 * mark}%`;
  }
  return make("td", {}, made);
}

function lineOf(label) {
  const values = answer.probabilities ?? answer.scores;
  const most = answer.probabilities ? 1 : Math.max(1e-9, ...Object.values(answer.scores).map(Math.abs));
  const place = (value) => Math.min(1, Math.max(0, answer.probabilities ? value : 0.5 + value / most / 2));
  const shown = answer.probabilities ? `${(100 * values[label]).toFixed(1)} %` : values[label].toFixed(3);
  const button = make("button", { type: "button", className: "name" }, label);
  button.setAttribute("aria-pressed", String(label === chosen));
  button.addEventListener("click", () => { chosen = label; show(); });
  const line = make("tr", { className: answer.labels.includes(label) ? "is-predicted" : "" }, make("td", {}, button),
    bar(place(0), place(values[label]), "", place(model.thresholds[label])), make("td", { className: "number" }, shown));
  if (answer.sets) line.append(make("td", {}, answer.sets[label]));
  return line;
}

function show() {
  const focused = document.activeElement?.className === "name" ? document.activeElement.textContent : null;
  byId("predicted").textContent = `Predicted: ${answer.labels.join(", ") || "no label"}.`;
  byId("sure").hidden = !answer.sets;
  byId("kind").textContent = `${answer.probabilities ? "Probability" : "Score"}, with the threshold as a mark`;
  byId("labels").replaceChildren(...model.labels.map(lineOf));
  for (const button of byId("labels").querySelectorAll(".name")) if (button.textContent === focused) button.focus();
  showReason(answer.reasons.find((reason) => reason.label === chosen));
}

function showReason(reason) {
  byId("why-title").textContent = `Why ${chosen}`;
  const byLabel = [["the label alone", reason.base + reason.own], ...reason.pushes.map((push) => [`label ${push.label}`, push.push]), ["other labels", reason.other_pushes]];
  const byColumn = reason.columns ? [["no column known", reason.no_column], ...reason.columns.map((part) => [part.column, part.value]), ["other columns", reason.other_columns]] : [];
  const most = Math.max(1e-9, Math.abs(reason.score), ...[...byColumn, ...byLabel].map(([, value]) => Math.abs(value)));
  const line = ([name, value], kind) => make("tr", { className: kind }, make("td", {}, name),
    make("td", { className: "number" }, `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`), bar(0, Math.abs(value) / most, value < 0 ? "down" : ""));
  const lines = [byColumn, byLabel].filter((parts) => parts.length).flatMap((parts) => [...parts.map((part) => line(part, "")), line(["score", reason.score], "total")]);
  byId("why").replaceChildren(...lines);
}

// ---- asking

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(predict, SOON);
}

function showCommand(request) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const header = token ? " -H \"Authorization: Bearer $TOKEN\"" : "";
  byId("command").textContent = `curl ${quoted(new URL("predict", location.href).href)}${header} -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(request))}`;
}

async function predict() {
  asking?.abort();
  asking = new AbortController();
  const confidence = byId("confidence").value;
  const request = { rows: [row], ...(confidence ? { confidence: Number(confidence) } : {}) };
  showCommand(request);
  try {
    const body = await ask("predict", { method: "POST", body: JSON.stringify({ ...request, explain: true }), signal: asking.signal });
    [answer] = body.predictions;
    const values = answer.probabilities ?? answer.scores;
    chosen ??= answer.labels[0] ?? model.labels.reduce((best, label) => (values[label] > values[best] ? label : best));
    byId("notes").replaceChildren(...body.notes.map((note) => make("li", {}, note)));
    showProblem(null);
    show();
  } catch (error) {
    if (error.name !== "AbortError") showProblem(error);
  }
  byId("main").dataset.answered = String(Number(byId("main").dataset.answered ?? 0) + 1);
}

async function start() {
  try {
    model = await ask("model");
  } catch (error) {
    byId("token-form").hidden = error.status !== 401;
    showProblem(error.status === 401 && !token ? null : error);
    return;
  }
  document.title = byId("title").textContent = model.name;
  byId("main").hidden = false;
  byId("token-form").hidden = true;
  byId("find-control").hidden = model.columns.length < 9;
  byId("columns").replaceChildren(...model.columns.map((column) => make("tr", {}, make("td", {}, column.name), make("td", {}, about(column)), make("td", {}, String(column.typical ?? "")))));
  reset();
  if (location.pathname.endsWith("/docs")) byId("program").scrollIntoView();
}

function reset() {
  row = { ...model.example };
  showFields();
  predict();
}

byId("find").addEventListener("input", showFields);
byId("fields").addEventListener("submit", (event) => event.preventDefault());
byId("typical").addEventListener("click", reset);
byId("confidence").addEventListener("change", predict);
byId("token-form").addEventListener("submit", (event) => { event.preventDefault(); token = byId("token").value; start(); });
start();
