"use strict";
// What the sections share: the model, and requests to the server that sent this page, by addresses relative to it.
skcamel.server = (() => {
  let token = "";
  const watchers = [];
  const headers = () => (token ? { Authorization: `Bearer ${token}` } : {});

  async function asked(path, options = {}) {
    let response;
    try {
      response = await fetch(path, { ...options, headers: { ...headers(), ...options.headers } });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not answer; is it still running?");
    }
    const told = await response.json().catch(() => ({ error: `the server answered ${response.status}.` }));
    if (!response.ok) throw Object.assign(new Error(told.error), { status: response.status });
    return told;
  }

  function predict(request, signal) {
    watchers.forEach((watch) => watch(request));
    return asked("predict", { method: "POST", body: JSON.stringify(request), headers: { "Content-Type": "application/json" }, signal });
  }

  return {
    model: () => asked("model"),
    predict,
    predictTable: (content, query) => asked(`predict?${new URLSearchParams(query)}`, { method: "POST", body: content, headers: { "Content-Type": "text/csv" } }),
    setToken: (text) => { token = text; },
    hasToken: () => token !== "",
    watch: (watch) => watchers.push(watch),
    problem(id, error) {
      const place = document.getElementById(id);
      place.hidden = !error;
      const said = error ? error.message : "";
      place.textContent = said && said[0].toUpperCase() + said.slice(1);
    },
    notes(id, notes) {
      document.getElementById(id).replaceChildren(...notes.map((note) => skcamel.html("li", {}, note)));
    },
  };
})();
