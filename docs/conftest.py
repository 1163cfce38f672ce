"""What a build of the site leaves here is no test; tests/test_documents.py runs plain code."""

from importlib.util import find_spec

collect_ignore_glob = ["conf.py", "_build/*", "gallery/*", "generated/*"]
if find_spec("sphinx") is None or find_spec("latex2mathml") is None:  # `make docs` installs them
    collect_ignore_glob.append("_ext/*")
