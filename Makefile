# Everything a user or CI runs. Needs Python >= 3.11, make and a package index; each target makes its own environment.

PYTHON ?= python3
VENV ?= .venv
DEV_GROUPS = --group dev
BIN = $(VENV)/bin
# The lowest versions of what the library and its users' tables need; test runners stay new.
FLOORS = import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
    print(*(d.replace('>=', '==') for d in p['project']['dependencies'] + p['project']['optional-dependencies']['report'] + [g for g in p['dependency-groups']['test'] if g[:3] in ('pan', 'pol')]))
MINUTES ?= 5
ONE_THREAD = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: help demo serve-demo test lint types check test-browser docs screenshots oldest coverage benchmark fuzz release-check clean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

demo: $(VENV)/.demo  ## fit CAMEL on yeast and on a table of support tickets, and show what it found
	$(BIN)/python examples/demo.py
	$(BIN)/python examples/messy_table.py

serve-demo: $(VENV)/.demo  ## fit CAMEL on yeast and serve it at http://127.0.0.1:8000, with a page to try it
	$(BIN)/python examples/serve.py

test: lint types check  ## lint, types and the whole test suite

lint: $(VENV)/.dev  ## style of code and docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## static types of src, and of code that uses it
	$(BIN)/pyrefly check
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python

check: $(VENV)/.dev  ## the test suite alone, a process per core with one BLAS thread each
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal

test-browser: $(VENV)/.browser  ## pages in a headless Chromium, which must be on PATH (Debian: apt-get install chromium)
	$(BIN)/python -m pytest -m browser tests/browser

docs: $(VENV)/.docs  ## the documentation site, with the gallery: docs/_build/html/index.html
	$(BIN)/python -m pytest --quiet docs/_ext
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going --quiet -j 2 docs docs/_build/html

screenshots: $(VENV)/.browser  ## the pictures of the documentation, taken anew
	$(BIN)/python tests/browser/screenshots.py docs/images
	$(BIN)/python examples/glance.py docs/images

oldest:  ## the test suite with the oldest versions that pyproject.toml allows, with the floor of coverage
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-oldest/bin/python -m pip install --quiet --editable ".[cli,report,datasets,serve]" --group test $$($(PYTHON) -c "$(FLOORS)")
	$(ONE_THREAD) $(VENV)-oldest/bin/python -m pytest -n auto --dist worksteal --cov --cov-report term:skip-covered

coverage: $(VENV)/.dev  ## which lines the test suite runs
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report term-missing:skip-covered

benchmark: $(VENV)/.dev  ## ratios against other software, in one run
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.dev  ## damaged files and odd commands for MINUTES (5): each must end in an answer or in one clear error
	PYTHONPATH=tests $(BIN)/python -m fuzzing --minutes $(MINUTES)

release-check: $(VENV)/.release  ## wheel and sdist in dist/: built twice with one digest, and installed bare on the oldest and newest Python here
	$(BIN)/python .ci/release.py dist

clean:  ## remove the environment and caches
	rm -rf $(VENV) $(VENV)-oldest .pytest_cache .ruff_cache .hypothesis .coverage* docs/_build docs/gallery docs/generated dist

$(VENV)/.pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.demo: $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	@touch $@

$(VENV)/.browser: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group browser
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

$(VENV)/.release: $(VENV)/.pip
	$(BIN)/python -m pip install --quiet --group release
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet $(DEV_GROUPS)
	@touch $@
