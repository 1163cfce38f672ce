"use strict";
skcamel.section("columns", () => skcamel.searchable("becomes", "column"));
