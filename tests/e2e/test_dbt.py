"""Plain `dbt build` gives the same warehouse, refuses the same runs, and documents itself."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.profiling.plan import load_plan
from tests.comparisons import compare
from tests.conftest import CORPUS, GOLDEN
from tests.dbt_process import Dbt, DbtCall
from tests.support import (
    COMPARISONS,
    MARTS,
    ROOT,
    Profiled,
    key,
    run_profile,
    write_lines,
    write_run,
)

TABLES = (
    *MARTS,
    "exports.export_reward_profiling",
    "exports.export_agent_metrics",
    "exports.export_repeat_level_metrics",
)
PROFILE = ("build", "--selector", "profile")
COMPARISON = ("intermediate.comparison", "marts.comparison")
SELECTION = ("staging.selection", "intermediate.selection", "marts.selection", "marts.stopping")
# half of all models, which no other model reads; `built_example` has them
NO_LEAVES = ("--exclude", *COMPARISON, *SELECTION)
ONE = [key(0, 0, q="a")]
NAMELESS = {"_ng_task_index": 0, "_ng_rollout_index": 0}


def table(path: Path, mart: str) -> list[tuple[Any, ...]]:
    columns = "columns(lambda name: name not in ('profiled_at', 'compared_at'))"
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(f"select {columns} from {mart} order by all").fetchall()


@pytest.fixture
def built(workspace: Path) -> Path:
    """Where dbt builds: its name is that of the database in what is compiled."""
    (workspace / "dbt").mkdir()
    return workspace / "dbt" / "warehouse.duckdb"


def used(tokens: int) -> dict[str, Any]:
    return {"response": {"usage": {"total_tokens": tokens}}}


def compared_by_command(workspace: Path) -> list[str]:
    """Compare the runs of two folders, and return their names."""
    path = workspace / "warehouse.duckdb"
    where = "where contains(rollouts_path, '/failed/') or contains(rollouts_path, '/better/')"
    with duckdb.connect(str(path), read_only=True) as connection:
        found = connection.execute(f"select run_id from runs {where} order by rollouts_path")
        baseline, candidate = (run_id for (run_id,) in found.fetchall())
    compare(path, [(baseline, candidate)])
    return [baseline, candidate]


def profiled_nodes() -> set[str]:
    """All models that `spotter profile` builds, with the views and seeds of its warehouse."""
    plan = load_plan()
    views = [model for model in plan.models if model.materialized == "view"]
    built = plan.batch("staging", "audits", "intermediate", "marts")
    names = {model.name for model in (*built, *views)}
    return names | {path.stem for path in (ROOT / "seeds").glob("*.csv")}


@pytest.mark.slow
def test_builds_the_same_warehouse_as_the_command(dbt: Dbt, workspace: Path, built: Path) -> None:
    """All cases that can be profiled and a run with failures, found by one glob; one again.

    It is then compared with another run.
    """
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
    lasting = [row | used(7) for row in rows[1:]]
    failed = write_run(workspace / "failed", lasting, inputs=rows, name="rollouts")
    write_lines(failed.failures, [key(0, 0, _ng_failure_class="timeout")])
    better = [row | {"reward": min(1, row["reward"] + 0.4)} | used(9) for row in rows]
    write_run(workspace / "better", better, inputs=rows, name="rollouts")
    options = ("--allow-partial", "--slice-by", "category", "--pass-threshold", "0.5")
    result = run_profile(workspace, *options, cwd=workspace)
    assert result.returncode == 0, result.stderr
    settings = {"allow_partial_rollouts": True, "slice_by": "category", "pass_threshold": 0.5}
    pair = compared_by_command(workspace)
    for rollouts, words, runs in (
        (f"{workspace}/*/*.jsonl", PROFILE, []),
        (str(failed.rollouts), ("run", "--exclude", *SELECTION), pair),
    ):
        variables = {**settings, "rollouts": rollouts, "compare": runs}
        done = dbt(*words, warehouse=built, variables=variables)
        assert done.returncode == 0, done.stdout
        if words == PROFILE:
            assert done.nodes("success") - {"spotter-on-run-start-0"} == profiled_nodes()
    for mart in (*TABLES, *COMPARISONS):
        expected_rows = table(workspace / "warehouse.duckdb", mart)
        assert expected_rows
        assert table(built, mart) == expected_rows, mart
    # columns, types, constraints and comments
    assert definitions(built) == definitions(workspace / "warehouse.duckdb")


@dataclass(frozen=True)
class BuiltExample:
    """The build of the README, with the unit tests and the models that other builds leave out."""

    warehouse: Path
    done: DbtCall


@pytest.fixture(scope="module")
def built_example(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> BuiltExample:
    warehouse = tmp_path_factory.mktemp("example") / "warehouse.duckdb"
    return BuiltExample(warehouse, dbt("build", warehouse=warehouse))


@pytest.mark.slow
def test_the_example_passes_every_test(built_example: BuiltExample) -> None:
    """Without `compare` there is no comparison."""
    done = built_example.done
    assert done.returncode == 0, done.stdout
    expected = {path.stem for path in (ROOT / "tests" / "dbt").glob("*.sql")}
    models = {path.stem for path in (ROOT / "models").rglob("*.sql")}
    assert done.nodes("pass") >= {*expected, "int_pass_count_bands"}
    assert done.nodes("success") >= {name for name in models if not name.startswith("base_")}
    assert table(built_example.warehouse, "run_comparisons") == []


def definitions(path: Path) -> dict[str, tuple[str, str, list[str]]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = connection.execute("""
            select tables.table_name, any_value(tables.sql), any_value(tables.comment),
                list(columns.comment order by columns.column_index)
            from duckdb_tables() as tables
            inner join duckdb_columns() as columns using (table_oid)
            where tables.schema_name = 'main' group by all
        """).fetchall()
    return {name: (sql, comment, columns) for name, sql, comment, columns in rows}


BROKEN: dict[str, tuple[list[Any], list[Any]]] = {
    "audit_lines_unreadable": ([*ONE, b"[1]"], ONE),
    "audit_inputs_duplicated": (ONE, ONE * 2),
    "audit_rollouts_duplicated": (ONE * 2, ONE),
    "audit_rollouts_unexpected": ([*ONE, key(1, 0)], ONE),
    "audit_rollouts_missing": (ONE, [*ONE, key(0, 1)]),
    "audit_agents_unnamed": ([NAMELESS], [NAMELESS]),
}


def test_without_tests_the_gate_stops_the_marts(dbt: Dbt, workspace: Path, built: Path) -> None:
    audit = "audit_agents_unnamed"
    rollouts, inputs = BROKEN[audit]
    run = write_run(workspace, rollouts, inputs=inputs)
    result = dbt("run", *NO_LEAVES, warehouse=built, variables={"rollouts": str(run.rollouts)})
    assert result.returncode == 1
    assert result.nodes("error") == {"int_rollouts_keyed"}
    assert f"The runs break an invariant: {audit} has rows" in result.stdout
    assert marts(built) == set()


@pytest.mark.parametrize("audit", BROKEN)
def test_the_gate_fails_if_any_audit_has_rows(audit: str, odd: Built, built: Path) -> None:
    """With the SQL that dbt compiled."""
    compiled = odd.warehouse.parent / "target" / "compiled"
    (gate,) = compiled.glob("*/models/intermediate/core/int_rollouts_keyed.sql")
    shutil.copy(odd.warehouse, built)
    with duckdb.connect(str(built)) as connection:
        connection.execute(gate.read_text(encoding="utf-8"))
        connection.execute(f"create or replace table audits.{audit} as select 'mine' as run_id")
        with pytest.raises(duckdb.Error, match=f"break an invariant: {audit} has rows"):
            connection.execute(gate.read_text(encoding="utf-8"))


def marts(warehouse: Path) -> set[str]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        rows = connection.execute(
            "select table_name from duckdb_tables() where schema_name = 'main'"
        ).fetchall()
    return {name for (name,) in rows}


@dataclass(frozen=True)
class Built:
    """What one build, which takes some seconds, made of a run that has much that is odd."""

    warehouse: Path
    variables: dict[str, Any]
    warned: set[str]


@pytest.fixture(scope="module")
def odd(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("odd")
    name = 'it\'s [1]* "q"; drop table runs; é'
    run = write_run(folder / name, ONE, inputs=[*ONE, key(0, 1)], name=name)
    write_run(folder / "decoy", ONE * 2, inputs=ONE)
    (folder / "dbt").mkdir()
    warehouse = folder / "dbt" / "warehouse.duckdb"
    variables = {"rollouts": str(run.rollouts), "allow_partial_rollouts": True, "run_id": "mine"}
    for words in (
        ("seed",),
        ("run", *NO_LEAVES),
        ("test", "--select", "runs,test_type:data", *NO_LEAVES),
    ):
        result = dbt(*words, warehouse=warehouse, variables=variables)
        assert result.returncode == 0, result.stdout
    return Built(warehouse, variables, result.nodes("warn"))


@pytest.mark.slow
def test_no_selection_mixes_or_loses_runs(
    dbt: Dbt, odd: Built, workspace: Path, built: Path
) -> None:
    shutil.copy(odd.warehouse, built)
    first_run = odd.variables
    second = write_run(workspace, ONE, inputs=ONE)
    later = ("run", "--select", "task_profiles+", *NO_LEAVES)
    again = dbt(*later, warehouse=built, variables=first_run)
    assert again.returncode == 0, again.stdout
    variables = {"rollouts": str(second.rollouts), "run_id": "second"}
    stale = dbt(*later, warehouse=built, variables=variables)
    assert stale.returncode == 1
    assert "build staging too, with --select stg_runs+" in stale.stdout
    # a build that stopped at the gate leaves the intermediate models of the run before
    broken = write_run(workspace, ONE * 2, inputs=ONE, name="broken")
    stopped = {"rollouts": str(broken.rollouts), "run_id": "broken"}
    assert dbt("run", *NO_LEAVES, warehouse=built, variables=stopped).returncode == 1
    mixed = dbt("run", "--select", "marts", *NO_LEAVES, warehouse=built, variables=stopped)
    assert mixed.returncode == 1
    assert "was not built since the runs were staged" in mixed.stdout
    # a build that stopped between two intermediate models: the second would be of the run before
    words = ("run", "--select", "+task_profiles")
    assert dbt(*words, warehouse=built, variables=first_run).returncode == 0
    select = ("--select", "+int_rollouts_matched")
    assert dbt("run", *select, warehouse=built, variables=variables).returncode == 0
    mixed = dbt("run", "--select", "task_profiles", warehouse=built, variables=variables)
    assert mixed.returncode == 1
    assert "was not built since the runs were staged" in mixed.stdout
    fresh = ("run", "--select", "stg_runs+", *NO_LEAVES, "--full-refresh")
    whole = dbt(*fresh, warehouse=built, variables=variables)
    assert whole.returncode == 0, whole.stdout
    for mart in ("runs", "task_profiles"):
        assert [row[0] for row in table(built, mart)] == ["mine", "second"]


MART_DEFECTS = {
    "unique_key": "insert into task_profiles select * from task_profiles where run_id = '{run}'",
    "known_values": "update task_bands set band = 'odd' where run_id = '{run}'",
    "known_runs": "delete from runs where run_id = '{run}'",
}


def test_only_the_batch_is_tested(dbt: Dbt, odd: Built, workspace: Path, built: Path) -> None:
    """A broken run fails the tests of its own build, and not those of the next run."""
    shutil.copy(odd.warehouse, built)
    tests = ("task_profiles", "task_bands", "rollout_infos")
    run = write_run(workspace, ONE, inputs=ONE)
    new = ("run", "--select", "+runs", *(f"+{mart}" for mart in tests))
    variables = {"rollouts": str(run.rollouts), "run_id": "new"}
    assert dbt(*new, warehouse=built, variables=variables).returncode == 0
    for name, expected in (("mine", set()), ("new", set(MART_DEFECTS))):
        with duckdb.connect(str(built)) as connection:
            for defect in MART_DEFECTS.values():
                connection.execute(defect.format(run=name))
        words = ("test", "--exclude-resource-types", "unit_test", "--select", *tests)
        result = dbt(*words, "--exclude", "test_type:singular", warehouse=built)
        assert result.returncode == (1 if expected else 0), result.stdout
        failed = result.nodes("fail")
        assert {defect for defect in MART_DEFECTS if any(defect in f for f in failed)} == expected


def test_each_audit_finds_its_run_and_stops_the_marts(
    dbt: Dbt, workspace: Path, built: Path
) -> None:
    for audit, (rollouts, inputs) in BROKEN.items():
        write_run(workspace / "runs", rollouts, inputs=inputs, name=audit)
    variables = {"rollouts": f"{workspace}/runs/*.jsonl"}
    result = dbt(*PROFILE, warehouse=built, variables=variables)
    assert result.returncode == 1
    assert result.nodes("fail", "error") == {f"is_empty_{audit}_" for audit in BROKEN}
    assert marts(built) == set()
    with duckdb.connect(str(built), read_only=True) as connection:
        for audit in BROKEN:
            found = connection.execute(f"select distinct run_id from audits.{audit}").fetchall()
            assert [run_id.partition("-")[2] for (run_id,) in found] == [audit]


def test_every_audit_has_a_broken_fixture() -> None:
    audits = {path.stem for path in (ROOT / "models" / "audits").glob("*.sql")}
    assert audits == set(BROKEN)


def test_odd_paths_are_no_sql(odd: Built) -> None:
    with duckdb.connect(str(odd.warehouse), read_only=True) as connection:
        paths = connection.execute("select rollouts_path from runs").fetchall()
    assert paths == [(odd.variables["rollouts"],)]


def test_partial_rollouts_are_a_warning_when_allowed(odd: Built) -> None:
    with duckdb.connect(str(odd.warehouse), read_only=True) as connection:
        rows = connection.execute(
            "select run_id, is_partial_allowed, missing_rollout_count from runs"
        ).fetchall()
    assert rows == [("mine", True, 1)]
    assert odd.warned == {"complete_runs_runs_"}


@pytest.mark.parametrize(
    ("missing", "message"),
    [("rollouts", "No rollouts file matches"), ("inputs", "No materialized inputs at")],
)
def test_missing_files_are_named(
    missing: str, message: str, dbt: Dbt, workspace: Path, built: Path
) -> None:
    run = write_run(workspace, ONE, inputs=ONE)
    path: Path = getattr(run, missing)
    path.unlink()
    result = dbt("run", warehouse=built, variables={"rollouts": str(run.rollouts)})
    assert result.returncode == 1
    assert message in result.stdout


def test_runs_that_share_a_folder_read_no_other_files(dbt: Dbt, workspace: Path) -> None:
    """Their verdicts have no file, and DuckDB takes an empty path for all files that there are."""
    for name in ("one", "two"):
        write_run(workspace / "runs", ONE, inputs=ONE, name=name)
    words = ("compile", "--inline", "{{ declare_batch() }}", "--output", "text")
    variables = {"rollouts": f"{workspace}/runs/*.jsonl"}
    done = dbt(*words, warehouse=workspace / "warehouse.duckdb", variables=variables)
    assert done.returncode == 0, done.stdout
    with duckdb.connect() as connection:
        connection.execute(done.stdout)
        paths = "getvariable('spotter_verdicts_files'), getvariable('spotter_inputs_files')"
        [(verdicts, inputs)] = connection.execute(f"select {paths}").fetchall()
    assert verdicts == ["/dev/null"]
    assert len(inputs) == 3


def test_everything_is_documented(dbt: Dbt, built_example: BuiltExample) -> None:
    assert dbt("docs", "generate", warehouse=built_example.warehouse).returncode == 0
    target = built_example.warehouse.parent / "target"
    manifest = json.loads((target / "manifest.json").read_text())
    catalog = json.loads((target / "catalog.json").read_text())["nodes"]
    kinds = ("model", "seed")
    models = [
        node
        for node in manifest["nodes"].values()
        if node["resource_type"] in kinds and node["config"]["materialized"] != "ephemeral"
    ]
    assert len(models) == len(catalog)
    for model in models:
        assert model["description"].startswith("One row per"), model["name"]
        described = {name for name, column in model["columns"].items() if column["description"]}
        columns = set(catalog[model["unique_id"]]["columns"])
        # behind the marts, the name of a column often says enough
        is_behind = model["fqn"][1] in ("staging", "intermediate")
        assert described == columns or (is_behind and described < columns), model["name"]
    exposures = {exposure["name"] for exposure in manifest["exposures"].values()}
    assert exposures == {
        "reward_profiling_file", "agent_metrics_file", "repeat_level_metrics_file", "viewer",
        "superset", "metabase", "power_bi", "tableau", "evidence", "excel", "pandas", "polars",
        "weights_and_biases", "mlflow",
    }  # fmt: skip


def test_the_example_can_also_fail(dbt: Dbt, example: Profiled, built: Path) -> None:
    """A test suite that cannot fail proves nothing: break one row and see it noticed."""
    rows = [json.loads(line) for line in example.rollouts.read_text().splitlines()]
    write_lines(example.rollouts, [*rows[1:], rows[1]])
    variables = {"rollouts": str(example.rollouts)}
    result = dbt(*PROFILE, warehouse=built, variables=variables)
    assert result.returncode == 1
    assert result.nodes("fail", "error") == {
        "is_empty_audit_rollouts_duplicated_",
        "is_empty_audit_rollouts_missing_",
    }
