# One name for each task. Everything runs from a clean clone with Python >= 3.11 and nothing else.
#   make demo         records public MCP servers and shows what was recorded
#   make test         lint, types, all tests with coverage            (ARGS="-k name" goes to pytest)
#   make test-matrix  all tests on FastMCP 4.x, the recorder's tests on 3.x and on 2.14 with the lowest dependencies
#   make lint types format bench clean

.DEFAULT_GOAL := help
SHELL := /bin/bash

# The newest of what is there is not needed: the active python first, then the others by name.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	"$$p" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v "$$p"; break; }; done)
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
WORKERS ?= 2
ARGS ?=
COVERAGE ?= --cov --cov-report=term

# Folders whose tests must hold on every supported FastMCP and on the lowest dependencies.
RECORDER_TESTS = $(wildcard $(addprefix tests/,capture delivery sinks store linking instrumentation end_to_end))
# Shaping does not know FastMCP, so the lowest dependencies are all it has to hold on.
LOWEST_TESTS = $(RECORDER_TESTS) tests/shaping --ignore tests/shaping/redact/test_redact_hostile.py

.PHONY: help demo test test-only lint types format bench test-matrix test-v3 test-v2 clean

help:
	@sed -n 's/^#   //p' Makefile

# --- environments: remade when the dependencies change --------------------------------------------------------------

define new_venv
	@test -n "$(PYTHON)" || { echo "Python >= 3.11 with the venv module was not found: install it, or say make PYTHON=/path/to/python" >&2; exit 1; }
	@test -x $(1)/bin/python || "$(PYTHON)" -m venv $(1)
endef

# The last package is there for the file of axe-core inside; the driver that it depends on is not used. Without it the tests
# that need it skip.
.venv/dev.stamp: pyproject.toml
	$(call new_venv,.venv)
	.venv/bin/python $(PIP_INSTALL) -e '.[dev]'
	-.venv/bin/python $(PIP_INSTALL) --no-deps 'axe-playwright-python==0.1.8'
	@touch $@ .venv/demo.stamp

.venv/demo.stamp: pyproject.toml
	$(call new_venv,.venv)
	.venv/bin/python $(PIP_INSTALL) -e '.[demo]'
	@touch $@

.venv-v3/stamp: pyproject.toml
	$(call new_venv,.venv-v3)
	.venv-v3/bin/python $(PIP_INSTALL) -e '.[test]' 'fastmcp>=3,<4'
	@touch $@

.venv-v2/stamp: pyproject.toml tests/lowest.txt
	$(call new_venv,.venv-v2)
	.venv-v2/bin/python $(PIP_INSTALL) -c tests/lowest.txt -e '.[test]'
	@touch $@

# --- tasks -----------------------------------------------------------------------------------------------------------

demo: .venv/demo.stamp
	.venv/bin/python examples/demo.py

test: lint types test-only

test-only: .venv/dev.stamp
	.venv/bin/python -m pytest -n $(WORKERS) $(COVERAGE) $(ARGS)

lint: .venv/dev.stamp
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

format: .venv/dev.stamp
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

types: .venv/dev.stamp
	.venv/bin/mypy

bench: .venv/dev.stamp
	.venv/bin/python bench/run.py $(ARGS)

test-matrix: test test-v3 test-v2

test-v3: .venv-v3/stamp
	.venv-v3/bin/python -m pytest -n $(WORKERS) $(RECORDER_TESTS) $(ARGS)

test-v2: .venv-v2/stamp
	.venv-v2/bin/python -m pytest -n $(WORKERS) $(LOWEST_TESTS) $(ARGS)

clean:
	rm -rf .venv .venv-v2 .venv-v3 .coverage .coverage.* htmlcov dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
