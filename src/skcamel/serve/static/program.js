"use strict";
// The request that the page has just made, as a command.
skcamel.section("program", () => {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  skcamel.server.watch((request) => {
    const token = skcamel.server.hasToken() ? " -H \"Authorization: Bearer $TOKEN\"" : "";
    const address = new URL("predict", location.href).href;
    document.getElementById("program-command").textContent =
      `curl ${quoted(address)}${token} -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(request))}`;
  });
});
