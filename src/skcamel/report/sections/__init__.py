"""The parts of pages: each file makes one :class:`skcamel.report.page.Section`."""
