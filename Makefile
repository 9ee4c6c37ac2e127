# Two commands are enough: `make demo` and `make test`.  Each makes its own .venv.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DOCS_READY := .venv/.docs-ready
CC_FROM_PYPI := .venv/bin/zigcc
AXE := .venv/axe/axe.min.js
AXE_VERSION := 4.10.3
AXE_SHA256 := 0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292

.PHONY: help demo test check docs bench audit lock clean

help:  ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 10

demo: $(READY)  ## all of it on bundled data, ending in report.html
	$(BIN)/truerisk demo

test: $(READY) $(AXE)  ## all tests, style, types and layers
	$(BIN)/python -m pytest -n 2 --dist loadfile -q
	$(MAKE) --no-print-directory check

check: $(READY)  ## style, types, layers
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(DOCS_READY)  ## the guide as a site: pages, examples, reference; their code is run
	rm -rf docs/_build docs/examples docs/reference
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs docs/_build/html
	$(BIN)/python -m pytest -q tests/docs
	@echo "$(CURDIR)/docs/_build/html/index.html"

bench: $(READY)  ## speed beside the peers, in one run; writes benchmarks/results.md
	$(BIN)/python -m benchmarks

audit: $(READY)  ## measured coverage of every interval, size of every test; hours, goes on from .audit when stopped
	$(BIN)/truerisk audit --output docs/coverage.md --figures src/truerisk/evaluation/measured_coverage.csv
	$(BIN)/truerisk audit --learners --resume .audit --jobs 2 --output docs/coverage-of-learners.md --figures src/truerisk/evaluation/measured_coverage_of_learners.csv
	$(BIN)/truerisk audit --perturbation --resume .audit --jobs 2 --output docs/coverage-of-perturbation.md --figures src/truerisk/estimation/svm/measured_coverage.csv
	$(BIN)/truerisk audit --tests --resume .audit --jobs 2 --output docs/size-of-tests.md --figures src/truerisk/evaluation/measured_coverage_of_differences.csv

lock:  ## choose new versions of the dependencies (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --group dev pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --group docs -c requirements.lock pyproject.toml -o docs/requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --group compiler -o compiler.lock

clean:  ## remove what the commands made
	rm -rf .venv .audit build report.html docs/_build docs/examples docs/reference

# Without a C compiler, one is fetched from PyPI.
$(READY): requirements.lock pyproject.toml CMakeLists.txt $(wildcard src/truerisk/kernels/*.py)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "truerisk needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@command -v $${CC:-cc} >/dev/null || $(MAKE) --no-print-directory $(CC_FROM_PYPI)
	@if ! command -v $${CC:-cc} >/dev/null; then export CC="$(CURDIR)/$(CC_FROM_PYPI)"; fi; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q src
	@touch $(READY)

$(CC_FROM_PYPI): compiler.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r compiler.lock
	@printf '#!/bin/sh\nexec "%s" -m ziglang cc "$$@"\n' "$(CURDIR)/$(BIN)/python" > $@ && chmod +x $@

# Looks at pages for what keeps people out.  Its licence is its own: fetched, never kept here.
$(AXE): | $(READY)
	@mkdir -p $(@D)
	@cd $(@D) && { command -v npm >/dev/null \
	  && npm pack --silent --fetch-retries=0 --fetch-timeout=30000 axe-core@$(AXE_VERSION) >/dev/null \
	  && echo "$(AXE_SHA256)  axe-core-$(AXE_VERSION).tgz" | sha256sum --check --quiet \
	  && tar -xzmf axe-core-$(AXE_VERSION).tgz --strip-components=1 package/axe.min.js; } \
	  || echo "npm did not bring axe-core: the tests that need it are skipped"

$(DOCS_READY): $(READY) docs/requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r docs/requirements.lock
	@touch $(DOCS_READY)
