# `make demo` and `make test` are all a newcomer needs; both set up .venv by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS := dev,experiments,fast,marl,onnx,pg,plot,ray,sc2,stats,study,track,verify

.PHONY: setup demo test slow bench docs lint clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	touch $@

demo: setup
	rm -rf runs/demo
	$(BIN)/crisptree train CartPole-v1 --seed 0 --out runs/demo
	$(BIN)/crisptree show runs/demo/policy.json
	@echo "The drawing: runs/demo/policy.svg"

test: setup lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

slow: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile -m slow

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[sb3,sbx]'
	$(BIN)/python benchmarks/run.py

docs: setup
	$(BIN)/mkdocs build --strict

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

clean:
	rm -rf $(VENV) runs .pytest_cache .ruff_cache
