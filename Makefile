# `make certify` brings up a virtual cluster, certifies it and takes it down again. `make help` lists the rest.
SHELL := bash
VENV := .venv
BIN := $(VENV)/bin
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH

.DEFAULT_GOAL := help
.PHONY: help setup certify check test bench docs schema clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: ## make .venv with chaos in it; as root also install what the lab needs
	@.ci/setup $(VENV)

certify: setup ## certify a virtual cluster on this machine (root)
	@.ci/with-lab $(BIN)/chaos certify --inventory inventory/lab.yaml --profile quick

check: setup ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: setup ## the project's own tests; ARGS="tests/unit -k catalog" narrows them
	$(BIN)/python -m pytest $(ARGS)

bench: setup ## side-by-side measurements, see benchmarks/README.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python benchmarks/fanout.py $(ARGS)

docs: setup ## write the reference of this installation to build/reference/
	$(BIN)/python -m chaos.cli.reference build/reference

schema: setup ## write inventory/schema.json anew after a change of the inventory's shape
	$(BIN)/python -m chaos.inventory.shape > inventory/schema.json

clean: ## remove what make made; runs/ holds evidence and stays
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
