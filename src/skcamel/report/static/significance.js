"use strict";
// Finished diagrams, one shown at a time; the first is brought here too, or decoding it would hold up the page.
skcamel.section("significance", (root, data) => {
  const select = document.getElementById("significance-metric");
  if (!select) return;
  function show() {
    for (const which of ["ours", "paper"]) {
      const one = data[which][Number(select.value)];
      if (!one) continue;
      const figure = document.getElementById(`ranks-${which}`);
      // A new element: Chromium does not lay out anew an image that gets its source while its section is out of sight.
      figure.querySelector("img").replaceWith(skcamel.html("img", { src: one.source, alt: one.alt }));
      figure.dataset.csv = skcamel.csvText(one.csv);
      document.getElementById(`ranks-${which}-sentence`).textContent = one.sentence;
    }
  }
  select.addEventListener("change", show);
  show();
});
