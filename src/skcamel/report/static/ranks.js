"use strict";
// The critical-difference diagram of one metric, and what its tests say.
skcamel.section("ranks", (root, { diagrams }) => {
  const select = document.getElementById("ranks-metric");
  const one = () => diagrams[Number(select.value)];
  const redraw = skcamel.diagram("diagram", one);
  const tell = () => { document.getElementById("diagram-sentence").textContent = one().sentence; };
  select.addEventListener("change", () => { redraw(); tell(); });
  tell();
});
