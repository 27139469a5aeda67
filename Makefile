# One command each. Every target that needs Python makes `.venv` first, and again when pyproject.toml changes.
#   make PYTHON=python3.13 test     uses another interpreter (remove .venv to change it later)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# The environment is the project's own: nothing from outside may be imported into it.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
export PIP_DISABLE_PIP_VERSION_CHECK := 1

PYTHON ?= python3
SECONDS_EACH ?= 60
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# A checkout that was moved or copied carries an environment that points to the old place: make it anew.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
.PHONY: $(STAMP)
endif

.PHONY: help
help: ## Print this list
	@sed -nE 's/^([a-z-]+):.*## (.*)$$/\1|\2/p' $(firstword $(MAKEFILE_LIST)) \
	  | while IFS='|' read -r name what; do printf '  make %-14s %s\n' "$$name" "$$what"; done

.PHONY: .venv
.venv: $(STAMP)

$(STAMP): pyproject.toml
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "make: there is no '$(PYTHON)' here; install Python 3.11 or newer, or name one: make PYTHON=python3.12" >&2; exit 2; }
	@"$(PYTHON)" -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit( \
	  f"make: evalspec needs Python 3.11 or newer, and $(PYTHON) is {v[0]}.{v[1]}; name another: make PYTHON=python3.12")'
	@[ "$$(cat $(STAMP) 2>/dev/null)" = "$(CURDIR)" ] && $(BIN)/python -c 'import pip' 2>/dev/null \
	  || "$(PYTHON)" -m venv --clear $(VENV) || { \
	  rm -rf $(VENV); echo "make: no environment could be made; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }
	@echo "make: installing into $(VENV) ..."
	@# A new pip writes a script that starts faster (no `import re`) than the one that comes with an old Python.
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@printf '%s' "$(CURDIR)" > $(STAMP)

.PHONY: demo
demo: .venv ## Validate, migrate v1 to v3 and show prompt diffs on example files
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

.PHONY: test
test: .venv ## Run the tests (not the long matrices: see conformance, crash, fuzz)
	@$(BIN)/python -m pytest -n auto --dist loadfile -m 'not (conformance or crash or slow)' $(ARGS)

.PHONY: lint
lint: .venv ## Check style, formatting, types, the direction of imports and the changelog fragments
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(MAKE) --no-print-directory types
	@$(BIN)/towncrier build --draft --version next >/dev/null 2>&1 || $(BIN)/towncrier build --draft --version next

.PHONY: types
types: .venv # Only the types, for the pre-commit hook
	@$(BIN)/mypy --strict migrator/evalspec $(wildcard schemas/*/*.py migrations/*/*.py)

.PHONY: format
format: .venv ## Rewrite the code as `make lint` wants it
	@$(BIN)/ruff check --fix --exit-zero .
	@$(BIN)/ruff format .

.PHONY: bench
bench: .venv ## Measure speed and memory beside their references
	@$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@$(BIN)/python benchmarks/run.py $(ARGS)

.PHONY: conformance
conformance: .venv ## Compare with real packages in full (downloads them)
	@$(BIN)/python -m pytest -m conformance $(ARGS)

.PHONY: crash
crash: .venv ## Stop and kill writes at every instant
	@$(BIN)/python -m pytest -m crash -s $(ARGS)

.PHONY: fuzz
fuzz: .venv ## Search for inputs that break a reader or writer; SECONDS_EACH=60 bounds each search
	@$(BIN)/python -m pip install --quiet --editable '.[fuzz]'
	@$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS_EACH)
	@HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests/property $(ARGS)

.PHONY: lower-bounds
lower-bounds: .venv ## Run the unit tests with every dependency at its lower bound
	@$(BIN)/python tools/lower_bounds.py

.PHONY: clean
clean: ## Remove what the other targets made
	@rm -rf $(VENV) .lower-bounds build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
