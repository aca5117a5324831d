"""Spark builds what DuckDB builds: every table of the same runs, row by row."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.dbt_process import Dbt, DbtCall
from tests.e2e.test_dbt import BROKEN
from tests.spark.batches import COMPARED, write_runs
from tests.spark.marks import NEEDS_SPARK
from tests.spark.spark_process import SparkDbt
from tests.spark.tables import Table, differences, equal_json, read_partitions, read_table
from tests.support import COMPARISONS, MARTS, ROOT, SECOND_VERDICTS, VIEWS, write_lines

pytestmark = NEEDS_SPARK

AUDITS = tuple(sorted(BROKEN))
STAGED = (
    *("stg_runs", "stg_rollouts", "stg_inputs", "stg_samples"),
    *("stg_failures", "stg_verdicts", "stg_prices"),
)
CHOSEN = ("selected_tasks", "planned_topups", "selection_totals", "selection_histograms")
STRICT = (*(f"staging.{name}" for name in STAGED), *(f"audits.{name}" for name in AUDITS))
PARTITIONED = (*MARTS, *COMPARISONS, *SECOND_VERDICTS)
SHOWN = (
    *(f"main.{name}" for name in VIEWS),
    *(f"exports.{path.stem}" for path in (ROOT / "models" / "exports").glob("*.sql")),
)
OTHERS = (*SHOWN, "staging.stg_recipes", *(f"main.{name}" for name in CHOSEN))
OUTPUTS = {
    "export_reward_profiling": ("_reward_profiling.jsonl", "task_index, agent_name"),
    "export_agent_metrics": ("_agent_metrics.json", "agent_name"),
    "export_repeat_level_metrics": ("_repeat_level_metrics.json", "agent_name, rollout_index"),
}
RECIPE = {"run_id": COMPARED[1], "pass_low": 0.1, "pass_high": 0.9, "undecided": "top_up"}
SETTINGS: dict[str, Any] = {
    "allow_partial_rollouts": True,
    "slice_by": "category",
    "pass_threshold": 0.5,
    "count_failure_classes_as_zero": ["agent_run_error"],
    "tags": {"checkpoint": 1200},
    "prices": {"m": {"input": 0.5, "output": 1.5}},
}


@dataclass(frozen=True)
class Engines:
    """Both engines, and the folder of the runs that they build."""

    spark: SparkDbt
    dbt: Dbt
    folder: Path

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse.duckdb"

    @property
    def rollouts(self) -> dict[str, Any]:
        return {"rollouts": f"{self.runs}/*/rollouts.jsonl"}

    def call(self, *words: str, tests: bool = True, **variables: Any) -> tuple[DbtCall, DbtCall]:
        """Call dbt with both engines, with DuckDB's tests or without."""
        vars_ = self.rollouts | variables
        with_spark = self.spark(*words, variables=vars_)
        without = () if tests else ("--exclude-resource-types", "test", "unit_test")
        return with_spark, self.dbt(*words, *without, warehouse=self.warehouse, variables=vars_)

    def tables(self, names: tuple[str, ...]) -> Iterator[tuple[str, Table, Table]]:
        """Each table of both engines."""
        scratch = self.spark.warehouse / "scratch"
        self.spark.save({name: scratch / name.replace(".", "/") for name in names if name in SHOWN})
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            for name in names:
                folder = scratch / name.replace(".", "/")
                found = (
                    read_partitions(connection, self.spark.warehouse / name)
                    if name in PARTITIONED
                    else read_table(connection, f"read_parquet('{folder}/*.parquet')")
                )
                yield name, read_table(connection, name), found


@pytest.fixture(scope="module")
def engines(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engines]:
    folder = tmp_path_factory.mktemp("engines")
    (folder / "runs").mkdir()
    write_runs(folder / "runs")
    spark = SparkDbt(folder / "spark")
    yield Engines(spark, dbt, folder)
    spark.close()


@pytest.fixture(scope="module")
def audited(engines: Engines) -> dict[str, list[str]]:
    """All runs, staged as strict ones: what is different, by table. Those with errors then go."""
    for call in engines.call("run", "--select", "staging", "audits"):
        assert call.returncode == 0, call.stdout
    found = {name: differences(*both) for name, *both in engines.tables(STRICT)}
    with duckdb.connect(str(engines.warehouse), read_only=True) as connection:
        for audit in AUDITS:
            rows = f"select distinct rollouts_path from audits.{audit} inner join staging.stg_runs"
            broken = connection.execute(f"{rows} using (run_id)").fetchall()
            assert broken, audit
            if audit != "audit_rollouts_missing":
                for (path,) in broken:
                    shutil.rmtree(Path(path).parent, ignore_errors=True)
    return found


@pytest.fixture(scope="module")
def built(engines: Engines, audited: dict[str, list[str]]) -> DbtCall:
    """All runs that can be profiled, built by both engines; Spark runs the tests too."""
    assert audited
    with_spark, with_duckdb = engines.call(
        "build", tests=False, **SETTINGS, compare=list(COMPARED), curate=RECIPE
    )
    assert with_duckdb.returncode == 0, with_duckdb.stdout
    return with_spark


def test_staging_and_audits_of_strict_runs_are_the_same(audited: dict[str, list[str]]) -> None:
    assert audited == {name: [] for name in STRICT}


def test_the_build_passes_every_test(built: DbtCall) -> None:
    assert built.returncode == 0, built.stdout
    assert built.nodes("warn") == {"complete_runs_runs_"}
    expected = {path.stem for path in (ROOT / "tests" / "dbt").glob("*.sql")}
    assert built.nodes("pass") >= {*expected, "int_run_sampling"}


def test_every_mart_is_the_same(engines: Engines, built: DbtCall) -> None:
    assert built.returncode == 0
    names = (*PARTITIONED, *OTHERS)
    tables = {name: both for name, *both in engines.tables(names)}
    assert {name for name, (expected, _) in tables.items() if not expected.rows} == {
        *SECOND_VERDICTS
    }
    found = {name: differences(*both) for name, both in tables.items()}
    assert found == {name: [] for name in names}


def test_a_run_that_is_built_again_replaces_only_its_own_rows(
    engines: Engines, built: DbtCall
) -> None:
    """Its failures are gone, so it has no row in `failure_classes`.

    The catalogue has to find all marts in their folders first, as in a new process.
    """
    assert built.returncode == 0
    engines.spark.forget(PARTITIONED)
    run = engines.runs / "failed"
    (run / "rollouts_failures.jsonl").unlink()
    marts = ("failure_classes", "runs", "task_slices", "task_comparisons")
    select = ("run", "--select", *(f"+{name}" for name in (*marts, *OUTPUTS)))
    variables = SETTINGS | {"rollouts": str(run / "rollouts.jsonl")}
    parts = {"part_files": str(engines.folder / "parts")}
    for call in (
        engines.spark(*select, variables=variables | parts),
        engines.dbt(*select, warehouse=engines.warehouse, variables=variables),
    ):
        assert call.returncode == 0, call.stdout
    found = {name: differences(*both) for name, *both in engines.tables(marts)}
    assert found == {name: [] for name in marts}
    assert not list((engines.spark.warehouse / "failure_classes").glob("run_id=failed-*"))
    assert list((engines.spark.warehouse / "task_slices").glob("run_id=better-*"))
    _check_part_files(engines)


def _check_part_files(engines: Engines) -> None:
    """The part files of the run, and of no other, say what DuckDB's lines say."""
    written = {path.name: path for path in (engines.folder / "parts").iterdir()}
    with duckdb.connect(str(engines.warehouse), read_only=True) as connection:
        for export, (ending, order) in OUTPUTS.items():
            (name,) = (name for name in written if name.endswith(ending))
            files = sorted(written.pop(name).glob("part-*"))
            lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
            found = [json.loads(line) for line in lines]
            query = f"select line from exports.{export} where run_id = ? order by {order}"
            expected = connection.execute(query, [name.removesuffix(ending)]).fetchall()
            assert expected
            assert equal_json(
                found if ending.endswith("l") else found[0],
                [json.loads(line) for (line,) in expected],
            )
    assert not written


def test_a_broken_run_stops_at_the_gate(engines: Engines, built: DbtCall) -> None:
    assert built.returncode == 0
    broken = engines.runs / "failed" / "rollouts.jsonl"
    write_lines(broken, broken.read_bytes().splitlines() * 2)
    select = ("run", "--select", "+int_rollouts_keyed")
    call = engines.spark(*select, variables={**SETTINGS, "rollouts": str(broken)})
    assert call.nodes("error") == {"int_rollouts_keyed"}
    assert "The runs break an invariant: audit_rollouts_duplicated has rows" in call.stdout


def test_missing_files_are_named(engines: Engines, built: DbtCall) -> None:
    assert built.returncode == 0
    run = engines.runs / "better"
    (run / "rollouts_materialized_inputs.jsonl").unlink()
    for path, message in (
        (run / "rollouts.jsonl", "No materialized inputs at"),
        (run / "nothing.jsonl", "Path does not exist"),
    ):
        call = engines.spark("run", "--select", "stg_runs", variables={"rollouts": str(path)})
        assert call.nodes("error") == {"stg_runs"}
        assert message in call.stdout
