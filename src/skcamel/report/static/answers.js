"use strict";
skcamel.section("answers", () => skcamel.searchable("covered-labels"));
