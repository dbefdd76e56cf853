# Every target works on a machine with only Python 3.11 or newer, make and git.
PYTHON ?= python3
PORT ?= 8000
UV := .venv/bin/uv
UV_VERSION := 0.13.9
export UV_PROJECT_ENVIRONMENT := .venv

.PHONY: setup demo demo-feed test test-uncached lint types contracts schema bench clean

setup: .venv/.done  ## make .venv with everything the project needs

.venv/.done: pyproject.toml uv.lock
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	test -x $(UV) || .venv/bin/python -m pip install --quiet --disable-pip-version-check "uv==$(UV_VERSION)"
	$(UV) sync --quiet --frozen --inexact --compile-bytecode --group dev
	.venv/bin/python -m compileall -q domain projections service
	touch $@

demo: setup  ## import the seed records and the sample, serve them on 127.0.0.1
	.venv/bin/kernelindex demo --port $(PORT)

demo-feed: setup  ## add a made-up run to a running demo every few seconds, for watching a subscription
	.venv/bin/kernelindex demo-feed --server http://127.0.0.1:$(PORT)

test: setup  ## run the whole suite; skipped tests say why
	.venv/bin/python -m pytest -n auto

test-uncached: setup  ## the same with every cache off: no reader can tell
	KERNELINDEX_RESPONSE_CACHE_BYTES=0 KERNELINDEX_FRAGMENT_CACHE_BYTES=0 .venv/bin/python -m pytest -n auto

lint: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/deptry .

types: setup
	.venv/bin/mypy

contracts: setup
	.venv/bin/lint-imports

schema: setup  ## write schema.graphql from the code
	.venv/bin/kernelindex schema > schema.graphql.new && mv schema.graphql.new schema.graphql

bench: setup  ## measure everything in benchmarks/ beside its baselines, write benchmarks/RESULTS.md; needs Node 20 and npm
	.venv/bin/python benchmarks

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
