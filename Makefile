# `make demo` and `make test` are all a newcomer needs; both set up .venv by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TESTS  := $(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: setup demo test lint slow thorough faults bench docs dist clean

setup: $(VENV)/.all

# What training needs, and nothing else.
$(VENV)/.train: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[train]'
	touch $@

# Everything that is tested.
$(VENV)/.all: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[all,dev]'
	$(PIP) --no-deps 'gymnax>=1.0' 'six>=1.16' # it asks for an older Gymnasium and works with ours
	touch $@ $(VENV)/.train

demo: $(VENV)/.train
	rm -rf runs/demo
	$(BIN)/crisptree train CartPole-v1 --leaves 4 --seed 0 --out runs/demo
	$(BIN)/crisptree show runs/demo/policy.json
	@echo "The drawing: runs/demo/policy.svg"

test: setup lint
	$(TESTS)

lint: setup $(VENV)/.types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

# Types are checked again only if a file has changed since they were right.
$(VENV)/.types: $(VENV)/.all pyproject.toml $(shell find src tests examples -name '*.py')
	$(BIN)/pyright --threads 2
	touch $@

# Tests that take minutes, and tests that kill processes and break files.
slow: setup
	$(TESTS) -m slow

# The tests with ten times as many random cases.
thorough: setup
	HYPOTHESIS_PROFILE=thorough $(TESTS)

faults: setup
	$(TESTS) -m faults --write-table tests/faults

# Beside Stable-Baselines3 and sbx; PyTorch in the version that the figures were measured with.
bench: setup
	$(PIP) 'torch==2.13.0'
	$(PIP) -e '.[bench]'
	$(BIN)/python benchmarks/run.py

docs: setup
	CRISPTREE_REPLAYS=1 $(BIN)/mkdocs build --strict

# A wheel and a source archive, the same bytes for the same commit.
dist: setup
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

clean:
	rm -rf $(VENV) runs dist site .pytest_cache .ruff_cache .import_linter_cache
