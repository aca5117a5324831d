"""Plain `dbt build` gives the same warehouse, refuses the same runs, and documents itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.conftest import CORPUS, GOLDEN
from tests.support import MARTS, ROOT, Profiled, key, run_profile, write_lines, write_run

VIEWS = {
    "exports": (
        "export_reward_profiling",
        "export_agent_metrics",
        "export_repeat_level_metrics",
    ),
    "semantic": ("semantic_tasks", "semantic_rollouts", "semantic_agents"),
}
TABLES = (*MARTS, *(f"{schema}.{view}" for schema, views in VIEWS.items() for view in views))
ONE = [key(0, 0, q="a")]
NAMELESS = {"_ng_task_index": 0, "_ng_rollout_index": 0}


def dbt(
    folder: Path, *arguments: str, variables: dict[str, Any] | None = None
) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("dbt")
    return subprocess.run(
        [
            *(str(program), *arguments, "--quiet", "--no-use-colors"),
            *("--target-path", str(folder / "target"), "--log-path", str(folder / "logs")),
            *("--vars", json.dumps(variables or {})),
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "SPOTTER_WAREHOUSE": str(folder / "dbt.duckdb"),
            "SPOTTER_TEMP": str(folder / "spill"),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def failed_nodes(folder: Path) -> set[str]:
    results = json.loads((folder / "target" / "run_results.json").read_text())["results"]
    return {r["unique_id"].split(".")[2] for r in results if r["status"] in ("fail", "error")}


def table(path: Path, mart: str) -> list[tuple[Any, ...]]:
    columns = "columns(lambda name: name != 'profiled_at')"
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(f"select {columns} from {mart} order by all").fetchall()


def test_builds_the_same_warehouse_as_the_command(workspace: Path) -> None:
    """All cases that can be profiled and a run with failures, found by one glob, twice."""
    for case in (*GOLDEN.iterdir(), *(CORPUS.iterdir() if CORPUS.is_dir() else ())):
        expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
        if "error" not in expected["partial"]:
            (workspace / case.name).mkdir()
            for path in case.glob("*.jsonl"):
                (workspace / case.name / path.name).write_bytes(path.read_bytes())
    rows = [
        key(task, index, reward=index / 3, category=f"c{task % 2}", extracted_answer=index % 2)
        for task in range(4)
        for index in range(4)
    ]
    failed = write_run(workspace / "failed", rows[1:], inputs=rows, name="rollouts")
    write_lines(failed.failures, [key(0, 0, _ng_failure_class="timeout")])
    options = ("--allow-partial", "--slice-by", "category", "--pass-threshold", "0.5")
    result = run_profile(workspace, *options, cwd=workspace)
    assert result.returncode == 0, result.stderr
    pattern = {
        **{"rollouts": f"{workspace}/*/*.jsonl", "allow_partial_rollouts": True},
        **{"slice_by": "category", "pass_threshold": 0.5},
    }
    for _ in range(2):
        built = dbt(workspace, "build", variables=pattern)
        assert built.returncode == 0, built.stdout
    for mart in TABLES:
        expected_rows = table(workspace / "warehouse.duckdb", mart)
        assert expected_rows
        assert table(workspace / "dbt.duckdb", mart) == expected_rows, mart


BROKEN: dict[str, tuple[list[Any], list[Any]]] = {
    "audit_lines_unreadable": ([*ONE, b"[1]"], ONE),
    "audit_inputs_duplicated": (ONE, ONE * 2),
    "audit_rollouts_duplicated": (ONE * 2, ONE),
    "audit_rollouts_unexpected": ([*ONE, key(1, 0)], ONE),
    "audit_rollouts_missing": (ONE, [*ONE, key(0, 1)]),
    "audit_agents_unnamed": ([NAMELESS], [NAMELESS]),
}


@pytest.mark.parametrize("audit", BROKEN)
def test_each_audit_stops_the_marts(audit: str, workspace: Path) -> None:
    rollouts, inputs = BROKEN[audit]
    run = write_run(workspace, rollouts, inputs=inputs)
    result = dbt(workspace, "build", variables={"rollouts": str(run.rollouts)})
    assert result.returncode == 1
    assert failed_nodes(workspace) == {f"is_empty_{audit}_"}
    with duckdb.connect(str(workspace / "dbt.duckdb"), read_only=True) as connection:
        marts = "select count(*) from duckdb_tables() where schema_name = 'main'"
        assert connection.execute(marts).fetchone() == (0,)


def test_every_audit_has_a_broken_fixture() -> None:
    audits = {path.stem for path in (ROOT / "models" / "audits").glob("*.sql")}
    assert audits == set(BROKEN)


def test_partial_rollouts_are_a_warning_when_allowed(workspace: Path) -> None:
    run = write_run(workspace, ONE, inputs=[*ONE, key(0, 1)])
    variables = {"rollouts": str(run.rollouts), "allow_partial_rollouts": True, "run_id": "mine"}
    result = dbt(workspace, "build", variables=variables)
    assert result.returncode == 0, result.stdout
    with duckdb.connect(str(workspace / "dbt.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            "select run_id, is_partial_allowed, missing_rollout_count from runs"
        ).fetchall()
    assert rows == [("mine", True, 1)]
    results = json.loads((workspace / "target" / "run_results.json").read_text())["results"]
    warned = [r["unique_id"].split(".")[2] for r in results if r["status"] == "warn"]
    assert warned == ["complete_runs_runs_"]


def test_odd_paths_are_no_sql(workspace: Path) -> None:
    name = 'it\'s [1]* "q"; drop table runs; é'
    run = write_run(workspace / name, ONE, inputs=ONE, name=name)
    write_run(workspace / "decoy", ONE * 2, inputs=ONE)
    result = dbt(workspace, "build", variables={"rollouts": str(run.rollouts)})
    assert result.returncode == 0, result.stdout
    assert [row[1] for row in table(workspace / "dbt.duckdb", "runs")] == [str(run.rollouts)]


@pytest.mark.parametrize(
    ("missing", "message"),
    [("rollouts", "No rollouts file matches"), ("inputs", "No materialized inputs at")],
)
def test_missing_files_are_named(missing: str, message: str, workspace: Path) -> None:
    run = write_run(workspace, ONE, inputs=ONE)
    path: Path = getattr(run, missing)
    path.unlink()
    result = dbt(workspace, "run", variables={"rollouts": str(run.rollouts)})
    assert result.returncode == 1
    assert message in result.stdout


def test_everything_is_documented(workspace: Path) -> None:
    assert dbt(workspace, "build").returncode == 0
    assert dbt(workspace, "docs", "generate").returncode == 0
    manifest = json.loads((workspace / "target" / "manifest.json").read_text())
    catalog = json.loads((workspace / "target" / "catalog.json").read_text())["nodes"]
    kinds = ("model", "seed")
    models = [
        node
        for node in manifest["nodes"].values()
        # an exported mart has the columns of its mart
        if node["resource_type"] in kinds and node["config"]["materialized"] != "external"
    ]
    assert len(models) == len(catalog)
    for model in models:
        assert model["description"].startswith("One row per"), model["name"]
        described = {name for name, column in model["columns"].items() if column["description"]}
        assert described == set(catalog[model["unique_id"]]["columns"]), model["name"]
    exposures = {exposure["name"] for exposure in manifest["exposures"].values()}
    assert exposures == {
        "reward_profiling_file", "agent_metrics_file", "viewer", "ad_hoc_sql", "superset",
        "metabase", "power_bi", "tableau", "evidence", "excel", "pandas", "polars",
        "weights_and_biases", "mlflow",
    }  # fmt: skip


def test_the_example_can_also_fail(example: Profiled) -> None:
    """A test suite that cannot fail proves nothing: break one row and see it noticed."""
    rows = [json.loads(line) for line in example.rollouts.read_text().splitlines()]
    write_lines(example.rollouts, [*rows[1:], rows[1]])
    folder = example.rollouts.parent
    result = dbt(folder, "build", variables={"rollouts": str(example.rollouts)})
    assert result.returncode == 1
    assert failed_nodes(folder) == {
        "is_empty_audit_rollouts_duplicated_",
        "is_empty_audit_rollouts_missing_",
    }
