"use strict";
// A table goes to the server as it is; what comes back is shown in part and saved whole.
skcamel.section("table", () => {
  const { html, server, csvText, save } = skcamel;
  const byId = (id) => document.getElementById(id);
  const SHOWN = 200;
  let told = null, name = "predictions";

  function columns() {
    const first = told.predictions[0];
    const matrices = ["probabilities", "scores", "sets"].filter((key) => first[key]);
    const prefix = { probabilities: "probability", scores: "score", sets: "set" };
    const ids = Object.keys(first).filter((key) => !["row", "labels", ...matrices].includes(key));
    const labels = matrices.length ? Object.keys(first[matrices[0]]) : [];
    const cells = (record) => [record.row, ...ids.map((id) => record[id]), record.labels.join(";"), ...matrices.flatMap((key) => labels.map((label) => record[key][label]))];
    return { ids, cells, head: ["row", ...ids, "labels", ...matrices.flatMap((key) => labels.map((label) => `${prefix[key]}:${label}`))] };
  }

  function show() {
    const { ids } = columns();
    const likely = (record) => (record.probabilities ? Object.entries(record.probabilities).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([label, p]) => `${label} ${Math.round(100 * p)} %`).join(", ") : "");
    byId("table-head").replaceChildren(...["Row", ...ids, "Predicted labels", ...(told.predictions[0].probabilities ? ["Most likely"] : [])].map((head) => html("th", { scope: "col" }, head)));
    byId("table-body").replaceChildren(...told.predictions.slice(0, SHOWN).map((record) => html("tr", {},
      html("th", { scope: "row" }, String(record.row)), ...ids.map((id) => html("td", {}, record[id])),
      html("td", {}, record.labels.join(", ") || "none"), ...(record.probabilities ? [html("td", {}, likely(record))] : []))));
    server.notes("table-notes", told.notes);
    const n = told.predictions.length;
    byId("table-said").textContent = `${n.toLocaleString("en")} ${n === 1 ? "row" : "rows"} predicted${n > SHOWN ? `; the first ${SHOWN} are shown` : ""}.`;
    byId("table-result").hidden = false;
  }

  async function predict(file) {
    server.problem("table-problem", null);
    byId("table-result").hidden = true;
    byId("table-said").textContent = `Predicting ${file.name} …`;
    name = file.name.replace(/\.[^.]*$/, "");
    try {
      told = await server.predictTable(file, {});
      show();
    } catch (error) {
      byId("table-said").textContent = "";
      server.problem("table-problem", error);
    }
  }

  const drop = byId("drop");
  byId("file").addEventListener("click", (event) => { event.target.value = ""; }); // the same file, edited, is a new one
  byId("file").addEventListener("change", (event) => { if (event.target.files.length) predict(event.target.files[0]); });
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files.length) predict(event.dataTransfer.files[0]); });
  byId("save-csv").addEventListener("click", () => { const { head, cells } = columns(); save(`${name}_predictions.csv`, "text/csv", csvText([head, ...told.predictions.map(cells)])); });
  byId("save-json").addEventListener("click", () => save(`${name}_predictions.json`, "application/json", JSON.stringify(told, null, 1)));
});
