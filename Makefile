# Everything is set up by itself: the virtual environment, its packages, and Java where the machine has none.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# A server imports hundreds of modules in each of its processes: compiled once, also where the environment says never.
export PYTHONDONTWRITEBYTECODE :=
# One of them waits for Spark and one for a Hive most of the time; tests/fixtures/runs/scheduling.py says which tests share one.
PROCESSES ?= 3
SIDE_BY_SIDE = --numprocesses $(PROCESSES) --no-loadscope-reorder

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 16

install: $(READY) ## Make .venv with everything in it, and Java if there is none

$(READY): pyproject.toml constraints.txt scripts/java.sh
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hmstats needs Python 3.11 or newer, found " + sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@bash scripts/java.sh
	@touch $@

demo: install ## Analyse TPC-H with Spark, store and read back (SF=1 for more data)
	@$(BIN)/python demo/demo.py

demo-web: install ## Show what `make demo` made in a browser, until Ctrl-C
	@$(BIN)/python demo/page.py

spark-classes: install # once: half of the time of a Spark that lives for seconds goes to loading its classes
	@$(BIN)/python -m tests.peers.spark_classes

test: install ## Run the tests that a change needs (PROCESSES=1: one by one; ARGS='tests/store -x': only these)
	@$(BIN)/python -m pytest -m 'not engines and not extended' $(SIDE_BY_SIDE) $(ARGS)

test-all: spark-classes ## Run the tests that take long too: older Hives, faults, fuzzing, attacks, some sessions of engines
	@$(BIN)/python -m pytest -m 'not engines or sampled' $(SIDE_BY_SIDE) $(ARGS)

test-engines: spark-classes ## Run whole sessions of real engines (Maven; a JDK 25 for Trino)
	@$(BIN)/python -m pytest -m engines $(SIDE_BY_SIDE) $(ARGS)

test-hive: install ## Run Hive's own client tests (Maven) and hold them against what passes on Hive 4.0.1
	@$(BIN)/python -m tests.peers.hive_suite.compare

fuzz: install ## Send 1,000,000 mutated requests in every protocol (ARGS='--count 100000 --seed 1')
	@$(BIN)/python -m tests.fuzz $(ARGS)

lint: install ## Check format, style, types, imports and spelling
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/codespell
	@$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

format: install ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: install ## Write the generated pages again
	@$(BIN)/python -m scripts.generate_docs

screenshot: demo ## Draw docs/images/show.svg, what `hmstats show` prints of the demonstration's tables
	@$(BIN)/python -m scripts.screenshot

page-pictures: demo browser ## Take the pictures of docs/statistics/web.md: the page over the demonstration's tables
	@$(BIN)/python -m scripts.page_pictures

browser: install ## Install what drives a real browser, and Chromium by apt where there is none and you are root
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[browser]'
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; }

test-browser: browser ## Open every page in a real browser: scripts, colours, keyboard, widths, axe-core
	@$(BIN)/python -m pytest tests/web/browser $(ARGS)

test-feeds: install ## Hold what feeds send against the models that the catalogs' projects publish
	@rm -rf build/catalog-models
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target build/catalog-models openlineage-python acryl-datahub openmetadata-ingestion fastavro email-validator dnspython
	@rm -rf build/catalog-models/{acryl,openmetadata}*.dist-info # they would add plugins to pytest
	@PYTHONPATH=build/catalog-models $(BIN)/python -m pytest tests/feeds $(ARGS)

docs-site: install ## Build the documentation as a site in site/; a link that leads nowhere fails it
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

bench: install ## Measure against a real Hive Metastore, both in one run (ARGS='--hive 2.3'), the sketches, and Spark's ANALYZE
	@$(BIN)/python -m tests.benchmarks.bench_server $(ARGS)
	@$(BIN)/python -m tests.benchmarks.bench_catalog $(ARGS)
	@$(BIN)/python -m tests.benchmarks.bench_sketch
	@$(BIN)/python -m tests.benchmarks.bench_answers
	@$(BIN)/python -m tests.benchmarks.bench_collector
	@$(BIN)/python -m tests.benchmarks.bench_reads
	@$(BIN)/python -m tests.benchmarks.bench_autogather

clean: ## Remove the virtual environment and everything made
	@rm -rf $(VENV) build dist site demo-data .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help install demo demo-web spark-classes test test-all test-engines test-hive fuzz lint format docs docs-site screenshot page-pictures browser test-browser test-feeds bench clean
