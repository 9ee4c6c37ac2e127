# Two commands are enough: `make demo` and `make test`.  Each makes its own .venv.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DOCS_READY := .venv/.docs-ready
CC_FROM_PYPI := .venv/bin/zigcc
AXE := .venv/axe/axe.min.js
AXE_VERSION := 4.10.3
AXE_SHA256 := 0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292

# Formulas, files, results, the command line: what breaks first, and takes seconds to run.
QUICK := tests/test_checks.py tests/test_results.py tests/test_public_names.py tests/test_import_time.py \
  tests/measures tests/intervals tests/tallies tests/inputs tests/evaluation tests/comparison/predictions/test_compare.py \
  tests/cli/test_score.py tests/cli/test_compare.py tests/cli/test_group.py tests/cli/test_small_commands.py \
  tests/reporting/results/test_evaluation.py tests/reporting/results/test_comparison.py tests/docs/test_readme.py \
  --ignore tests/evaluation/test_files_on_cluster.py --ignore tests/evaluation/test_files_in_pieces.py \
  --ignore tests/measures/test_calibration.py \
  --ignore tests/evaluation/test_doctor.py --ignore tests/evaluation/test_slices.py \
  --ignore tests/tallies/test_score_tally.py --ignore tests/tallies/test_radix_rank.py \
  --ignore tests/intervals/test_differences.py --ignore tests/intervals/test_planning.py \
  --ignore tests/intervals/test_chosen_thresholds.py --ignore tests/evaluation/test_curve_bands.py \
  --ignore tests/inputs/records/test_places.py --ignore tests/tallies/test_votes.py --ignore tests/evaluation/test_refit_scores.py

.PHONY: help demo test quick coverage check docs bench audit pages reproduce tag lock clean

help:  ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 10

# Asserts are compiled as they are, which halves the start on a fresh copy; tests that fail run again, explained.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -q
PLAIN := --assert=plain
EXPLAINED := || { $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures none; exit 1; }

demo: $(READY)  ## all of it on bundled data, ending in report.html
	$(BIN)/truerisk demo

test: $(READY) $(AXE)  ## all tests, style, types and layers
	$(PYTEST) $(PLAIN) $(EXPLAINED)
	$(MAKE) --no-print-directory check

quick: $(READY)  ## the tests that find most breakage, in under a minute
	$(PYTEST) $(PLAIN) -m "not slow" --hypothesis-profile=quick $(QUICK) $(EXPLAINED)

coverage: $(READY)  ## all tests with the share of lines and branches they run; fails under the limit of pyproject.toml
	$(PYTEST) --cov --cov-report=term:skip-covered

check: $(READY)  ## style, types, layers
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(DOCS_READY)  ## the guide as a site: pages, examples, reference; their code is run
	rm -rf docs/_build docs/examples docs/reference
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs docs/_build/html
	$(BIN)/python -m pytest -q tests/docs tests/reporting/test_notebooks.py tests/reporting/test_trackers.py \
	  tests/test_action_and_hook.py tests/inputs/records/test_places.py
	$(BIN)/python -m pytest -q tests/laws/test_every_way_in.py -k "Hugging"
	@echo "$(CURDIR)/docs/_build/html/index.html"

bench: $(READY)  ## speed beside the peers, in one run; writes benchmarks/results and docs/speed.md
	$(BIN)/python -m benchmarks

audit: $(READY)  ## measured coverage of every interval, size of every test; hours, continues from .audit when stopped
	$(BIN)/python -m studies.audit all --resume .audit --jobs 2

pages: $(READY)  ## docs/coverage*.md, size-of-tests.md, ledger.md and the shipped figures, from studies/ledgers
	$(BIN)/python -m studies.audit pages

reproduce: $(READY)  ## a table of the literature recomputed: make reproduce TABLE=jiang-table2 OPTIONS="--jobs 2"
	$(BIN)/python -m studies.reproduction $(TABLE) $(OPTIONS)

tag:  ## check the release that CHANGELOG.md describes, and print how to tag it
	@$(PYTHON) .ci/release.py

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
