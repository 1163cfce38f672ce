"use strict";
// A long table: its first rows, a field that finds others by their name, and a button that shows all. Printed, all are there.
skcamel.searchable = (id, noun = "label", most = 30) => {
  const root = document.getElementById(id);
  root.classList.add("listed");
  const rows = [...root.querySelectorAll("tbody tr")];
  if (rows.length <= most) return;
  const { html } = skcamel;
  const field = html("input", { type: "search", autocomplete: "off" });
  const button = html("button", { type: "button", class: "quiet", "aria-pressed": "false" }, `Show all ${rows.length}`);
  const count = html("output", { class: "note", "aria-live": "polite" });
  root.querySelector(".scroll").before(html("div", { class: "finding" }, html("label", { class: "control" }, `Find a ${noun}`, field), button, count));
  const update = () => {
    const wanted = field.value.trim().toLowerCase();
    let shown = 0;
    // Rows may have been sorted: the first are those that stand first now.
    for (const row of root.querySelectorAll("tbody tr")) {
      const fits = !wanted || row.cells[0].textContent.toLowerCase().includes(wanted);
      const isShown = fits && (wanted || button.getAttribute("aria-pressed") === "true" || shown < most);
      row.classList.toggle("beyond", !isShown);
      shown += Boolean(isShown);
    }
    count.textContent = `${shown} of ${rows.length} ${noun}s`;
  };
  field.addEventListener("input", update);
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    update();
  });
  root.querySelectorAll("thead button").forEach((head) => head.addEventListener("click", update));
  update();
};
