"use strict";
// Finished diagrams, one shown at a time.
skcamel.section("significance", (root, data) => {
  const select = document.getElementById("significance-metric");
  if (!select) return;
  function show() {
    for (const which of ["ours", "paper"]) {
      const one = data[which][Number(select.value)];
      if (!one) continue;
      const figure = document.getElementById(`ranks-${which}`);
      Object.assign(figure.querySelector("img"), { src: one.source, alt: one.alt });
      figure.dataset.csv = skcamel.csvText(one.csv);
      document.getElementById(`ranks-${which}-sentence`).textContent = one.sentence;
    }
  }
  select.addEventListener("change", show);
  show();
});
