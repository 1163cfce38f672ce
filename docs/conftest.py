"""The code of pages is run by tests/test_documents.py; what a build of the site leaves here is no test."""

collect_ignore_glob = ["conf.py", "_ext/*", "_build/*", "gallery/*", "generated/*"]
