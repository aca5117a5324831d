# Every target sets up .venv itself; plain python3 (3.11 or later) and make are all it needs.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
DEVELOPED := .venv/.developed
SPARK := .venv/.spark
SQL_LINTED := target/.sql-linted
export DBT_SEND_ANONYMOUS_USAGE_STATS := false
export SPOTTER_CACHE := $(CURDIR)/.venv/cache
# empty, so that Python keeps what it has compiled: the tests start many processes
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-spark java check browser older lint types bench soak docs release clean

demo: $(INSTALLED)  ## the whole workflow on the embedded gym
	$(BIN)/spotter demo

test: $(DEVELOPED) browser older lint  ## lint, then run every test
	$(BIN)/python -m pytest -n auto --dist worksteal

test-spark: $(SPARK) java  ## the same models on Apache Spark: every table is compared with DuckDB's
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/spark

java:  ## Debian's Java, for Spark; without it the tests of Spark are skipped
	@command -v java >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >/dev/null; \
		else \
			echo 'Java is not installed: the tests of Spark are skipped'; \
		fi; \
	}

check: lint  ## the inner loop: lint, unit tests and the golden cases; no browser, no network
	$(BIN)/python -m pytest -n auto tests/unit tests/e2e/test_golden.py

browser:  ## Debian's chromium, for the tests of the viewer; without it they are skipped
	@command -v chromium >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
		else \
			echo 'chromium is not installed: the tests of the viewer in a browser are skipped'; \
		fi; \
	}

older: $(DEVELOPED)  ## DuckDBs of other years, which must read a snapshot; not all are there for every Python
	@for version in 1.1.3 1.5.6; do \
		folder=.venv/older/duckdb-$$version; \
		test -d $$folder || $(BIN)/pip install --quiet --no-compile --disable-pip-version-check --no-deps --only-binary :all: \
			--target $$folder duckdb==$$version || echo "no duckdb $$version for this Python: its test is skipped"; \
	done

lint: $(DEVELOPED)  ## ruff, mypy, the direction of imports, and sqlfluff if SQL has changed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo --no-cache
	@$(MAKE) --no-print-directory -j2 --output-sync=target types $(SQL_LINTED)

types: $(DEVELOPED)  # beside sqlfluff, which keeps one processor busy for half of its time
	$(BIN)/mypy

# half a minute: only if something that dbt renders has changed since it last passed
$(SQL_LINTED): $(DEVELOPED) .sqlfluff dbt_project.yml $(shell find models macros seeds tests/dbt -name '*.sql' -o -name '*.yml')
	mkdir -p target
	SPOTTER_WAREHOUSE=target/lint.duckdb $(BIN)/sqlfluff lint --processes 2 models tests/dbt
	touch $@

bench: $(DEVELOPED)  ## speed and memory, as ratios to a pandas script and a bare client
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -e '.[bench]'
	$(BIN)/python bench/profile_speed.py
	$(BIN)/python bench/statistics_speed.py
	$(BIN)/python bench/merge_speed.py
	$(BIN)/python bench/curate_speed.py
	$(BIN)/python bench/materialize_speed.py
	$(BIN)/python bench/collect_speed.py
	$(BIN)/python bench/view_speed.py
	$(BIN)/python bench/export_speed.py
	$(BIN)/python bench/import_memory.py

soak: $(DEVELOPED)  ## kill every writing command at random for 10 minutes; nothing may be lost or left behind
	$(BIN)/python -m tests.soak

docs: export SPOTTER_WAREHOUSE := target/docs/warehouse.duckdb
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(DEVELOPED)  ## docs/ and dbt's documentation of the models as a site, target/site
	mkdir -p target/docs
	$(BIN)/dbt build --quiet --exclude-resource-types test unit_test --target-path target/docs --log-path target/logs
	$(BIN)/dbt docs generate --static --quiet --target-path target/docs --log-path target/logs
	$(BIN)/mkdocs build --strict --config-file docs/site/mkdocs.yml
	@echo 'Open target/site/index.html, or let any web server host target/site'

release: $(DEVELOPED)  ## the sdist and the wheel in dist/, after the demo has run from the wheel
	$(BIN)/python .ci/release.py

clean:  ## remove everything that the other targets made
	rm -rf .venv target logs spotter-demo spark-warehouse .mypy_cache .ruff_cache .pytest_cache .spotter-tmp dist bench/data
	rm -f warehouse.duckdb warehouse.duckdb.wal examples/*_reward_profiling.jsonl examples/*_agent_metrics.json

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -e .
	touch $@

$(SPARK): $(DEVELOPED)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -e '.[spark]'
	touch $@

$(DEVELOPED): $(INSTALLED)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -e '.[dev]'
	touch $@
