# Every target sets up .venv itself; plain python3 (3.11 or later) and make are all it needs.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
export DBT_SEND_ANONYMOUS_USAGE_STATS := false
export SPOTTER_CACHE := $(CURDIR)/.venv/cache

.PHONY: demo test lint bench docs clean

demo: $(INSTALLED)  ## the whole workflow on the embedded gym
	$(BIN)/spotter demo

test: $(INSTALLED) lint  ## lint, then run every test
	SPOTTER_WAREHOUSE=target/test.duckdb $(BIN)/dbt build --quiet --target-path target/dbt --log-path target/logs
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(INSTALLED)  ## ruff, mypy and sqlfluff
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	mkdir -p target
	SPOTTER_WAREHOUSE=target/lint.duckdb $(BIN)/sqlfluff lint --processes 2 models tests/dbt

bench: $(INSTALLED)  ## speed and memory, as ratios to a pandas script and a bare client
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python bench/profile_speed.py
	$(BIN)/python bench/statistics_speed.py
	$(BIN)/python bench/materialize_speed.py
	$(BIN)/python bench/collect_speed.py

docs: $(INSTALLED)  ## dbt's documentation as one page, target/docs/static_index.html
	SPOTTER_WAREHOUSE=target/docs.duckdb $(BIN)/dbt build --quiet --target-path target/docs --log-path target/logs
	SPOTTER_WAREHOUSE=target/docs.duckdb $(BIN)/dbt docs generate --static --quiet --target-path target/docs --log-path target/logs
	@echo 'Open target/docs/static_index.html'

clean:  ## remove everything that the other targets made
	rm -rf .venv target logs spotter-demo .mypy_cache .ruff_cache .pytest_cache .spotter-tmp dist bench/data
	rm -f warehouse.duckdb warehouse.duckdb.wal examples/*_reward_profiling.jsonl examples/*_agent_metrics.json

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@
