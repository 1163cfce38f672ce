# What a user or CI runs. Needs Python >= 3.11, make and a package index; each target makes its own environment.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# The lowest versions of what the library and its users' tables need; test runners stay new.
FLOORS = import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
    print(*(d.replace('>=', '==') for d in p['project']['dependencies'] + p['project']['optional-dependencies']['report'] + p['project']['optional-dependencies']['serve'][1:] + [g for g in p['dependency-groups']['test'] if g[:3] in ('pan', 'pol')]))
MINUTES ?= 5
ONE_THREAD = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
PYTEST = $(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: help demo lint test test-all test-long browser docs oldest benchmark fuzz release clean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

demo: $(VENV)/.demo  ## fit CAMEL on yeast and on a table of support tickets, and show what it found
	$(BIN)/python examples/demo.py
	$(BIN)/python examples/messy_table.py

lint: $(VENV)/.dev  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyrefly check

test: lint  ## style, types and the test suite, a process per core
	$(PYTEST)

test-all: test test-long  ## all that CI runs: also the site, pages in a browser, a container, torch, the oldest versions, a release

test-long: docs browser oldest release
	PYTHONPATH=tests $(BIN)/python tests/container.py
	$(BIN)/python -m pip install --quiet "torch==2.13.0" # the CPU build; newer ones pull in CUDA
	$(BIN)/python -m pytest -m torch -n auto
	KILLS=50 $(BIN)/python -m pytest tests/experiment/test_killed.py

browser: docs $(VENV)/.browser # pages in a headless Chromium, which must be on PATH (Debian: apt-get install chromium)
	$(BIN)/python -m pytest -m browser tests/browser

docs: $(VENV)/.docs  ## the documentation site, with the gallery: docs/_build/html/index.html
	$(BIN)/python -m pytest --quiet docs/_ext
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going --quiet -j 2 docs docs/_build/html

oldest: # the test suite with the oldest versions that pyproject.toml allows, with the floor of coverage
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-oldest/bin/python -m pip install --quiet --editable ".[cli,report,datasets,serve]" --group test $$($(PYTHON) -c "$(FLOORS)")
	$(ONE_THREAD) $(VENV)-oldest/bin/python -m pytest -n auto --dist worksteal --cov --cov-report term:skip-covered

benchmark: $(VENV)/.dev  ## ratios against other software, in one run of up to 25 minutes
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.dev  ## damaged files and odd commands for MINUTES (5): each must end in an answer or in one clear error
	PYTHONPATH=tests $(BIN)/python -m fuzzing --minutes $(MINUTES)

release: $(VENV)/.release  ## wheel and sdist in dist/: built twice with one digest, and installed bare
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
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
