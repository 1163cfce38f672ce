"use strict";
// Sorts tables, finds rows of tables, switches the theme, and shows one of several options.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- tables -----------------------------------------------------------------------------------

  const number = (cell) => parseFloat(cell.textContent.replaceAll(",", "").replace("−", "-").replace("< ", ""));

  function compare(column, numeric, sign) {
    return (a, b) => {
      const [p, q] = [a.cells[column], b.cells[column]];
      if (!numeric) return sign * p.textContent.localeCompare(q.textContent, "en", { numeric: true });
      const [x, y] = [number(p), number(q)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // missing values stay last
      return sign * (x - y);
    };
  }

  function sort(table, head, column) {
    const numeric = head.classList.contains("number");
    // Numbers are most often wanted from the largest, names from A.
    const first = numeric ? "descending" : "ascending";
    const other = numeric ? "ascending" : "descending";
    const direction = head.getAttribute("aria-sort") === first ? other : first;
    all("thead th", table).forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", direction);
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort(compare(column, numeric, direction === "ascending" ? 1 : -1)));
  }

  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => sort(table, head, column));
    });
  }

  for (const field of all(".find input")) {
    const rows = all("tbody tr", field.closest(".table"));
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }

  // ---- choices ----------------------------------------------------------------------------------

  function choose(option) {
    const choice = option.closest(".choice");
    for (const each of choice.querySelectorAll(":scope > .option")) each.hidden = each !== option;
    choice.querySelector("select").value = option.id;
  }

  for (const select of all(".choice > .control > select")) {
    const show = () => choose(document.getElementById(select.value));
    select.addEventListener("change", show);
    show();
  }

  // A link to an option, as from a list of rows, chooses it.
  function follow() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target || !target.matches(".option")) return;
    choose(target);
    target.closest("section").scrollIntoView();
    target.closest(".choice").querySelector("select").focus({ preventScroll: true });
  }
  addEventListener("hashchange", follow);
  follow();

  // ---- theme ------------------------------------------------------------------------------------

  // The system decides until the button does, for this visit.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.documentElement.dataset;
  const show = () => button.setAttribute("aria-pressed", String(theme.theme ? theme.theme === "dark" : system.matches));
  show();
  system.addEventListener("change", show);
  button.addEventListener("click", () => {
    theme.theme = button.getAttribute("aria-pressed") === "true" ? "light" : "dark";
    show();
  });

  document.documentElement.dataset.ready = "true";
})();
