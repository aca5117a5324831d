"""`spotter export`: files that other tools open, whole or not at all, equal to the marts."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.exporting.publication import LOCK
from collector.exporting.tables import COLUMN_TYPES
from collector.profiling.plan import load_plan
from collector.temporary_files import new_name
from tests.dbt_process import Dbt
from tests.exports import FORMULAS, Exports, export, export_after, make_runs
from tests.held_programs import hold_first_bar
from tests.programs import run_command
from tests.support import ALL_MARTS, MARTS, Profiled, key, run_profile, through_terminal, write_run

FORMATS = ("-f", "parquet", "-f", "csv", "-f", "jsonl", "-f", "xlsx")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    return make_runs(tmp_path_factory.mktemp("exports"))


@pytest.fixture(scope="module")
def exports(run: Profiled) -> Exports:
    return export(run, *FORMATS)


def rows(warehouse: Path, table: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return connection.execute(f"select * from {table} order by all").fetchall()


def test_every_column_of_every_mart_is_flat() -> None:
    names = [model.name for model in load_plan().layer("marts")]
    assert sorted(names) == sorted(ALL_MARTS)
    for model in load_plan().layer("marts"):
        for column in model.columns:
            assert column.data_type in COLUMN_TYPES, f"{model.name}.{column.name}"
            assert column.name.isascii()
            assert column.name.islower()
            assert column.name.isidentifier()
            assert column.description
        assert model.key
        assert set(model.key) <= {column.name for column in model.columns}


def test_the_snapshot_equals_the_warehouse(run: Profiled, exports: Exports) -> None:
    for mart in MARTS:
        assert rows(exports.snapshot, mart) == rows(run.warehouse, mart), mart
    with duckdb.connect(str(exports.snapshot), read_only=True) as connection:
        tables = connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables() order by all"
        ).fetchall()
        comment = connection.execute(
            "select comment from duckdb_columns()"
            " where table_name = 'runs' and column_name = 'profiled_at'"
        ).fetchone()
    assert [name for (name,) in tables] == sorted(f"main.{mart}" for mart in ALL_MARTS)
    assert comment is not None
    assert comment[0].startswith("When the run was last profiled, in UTC")
    assert not exports.snapshot.stat().st_mode & 0o222


def test_rows_are_in_the_order_of_their_keys(exports: Exports) -> None:
    with duckdb.connect(str(exports.snapshot), read_only=True) as connection:
        keys = connection.execute(
            "select run_id, task_index, rollout_index from rollout_infos"
        ).fetchall()
    assert keys == sorted(keys)
    lines = (exports.folder / "jsonl" / "rollout_infos.jsonl").read_text().splitlines()
    written = [json.loads(line) for line in lines]
    assert [(row["run_id"], row["task_index"], row["rollout_index"]) for row in written] == keys


def test_json_lines_equal_the_marts(run: Profiled, exports: Exports) -> None:
    for mart in MARTS:
        known = run.table(f"select * from {mart} order by all")
        path = exports.folder / "jsonl" / f"{mart}.jsonl"
        found = [json.loads(line) for line in path.read_text().splitlines()]
        for row in known:
            if "profiled_at" in row:
                row["profiled_at"] = row["profiled_at"].isoformat(timespec="microseconds") + "Z"

        def by_text(row: dict[str, Any]) -> str:
            return json.dumps(row, sort_keys=True)

        assert sorted(found, key=by_text) == sorted(known, key=by_text), mart


def test_the_schema_tells_every_column_with_its_meaning(exports: Exports) -> None:
    for kind in ("parquet", "csv", "jsonl"):
        package = json.loads((exports.folder / kind / "schema.json").read_text())
        assert sorted(one["name"] for one in package["resources"]) == sorted(ALL_MARTS)
        for resource in package["resources"]:
            assert list((exports.folder / kind).glob(resource["path"])), resource["path"]
            fields = resource["schema"]["fields"]
            assert all(field["description"] for field in fields)
            assert set(resource["schema"]["primaryKey"]) <= {field["name"] for field in fields}
        (infos,) = (one for one in package["resources"] if one["name"] == "rollout_infos")
        types = {field["name"]: field["type"] for field in infos["schema"]["fields"]}
        assert types["run_id"] == "string"
        assert types["task_index"] == "integer"
        assert types["reward"] == "number"
        assert infos["rows"] == exports.counts["rollout_infos"]


def test_a_run_and_a_mart_can_be_chosen(run: Profiled, tmp_path: Path) -> None:
    found = export(run, "-s", "rollout_infos", "-r", "second", "-f", "jsonl", output=tmp_path / "x")
    assert {path.name for path in (found.folder / "jsonl").iterdir()} == {
        "rollout_infos.jsonl",
        "schema.json",
    }
    lines = (found.folder / "jsonl" / "rollout_infos.jsonl").read_text().splitlines()
    assert {json.loads(line)["run_id"] for line in lines} == {"second"}
    assert len(lines) == len(run.query("from rollout_infos where run_id = 'second'"))
    assert rows(found.snapshot, "rollout_infos") == run.query(
        "from rollout_infos where run_id = 'second' order by all"
    )


def test_overrides_work_as_well_as_flags(run: Profiled, tmp_path: Path) -> None:
    found = export(run, "+format=[csv,jsonl]", "+select=runs", "+run=second", output=tmp_path / "x")
    assert {path.name for path in found.folder.iterdir() if path.name != LOCK} == {
        "csv", "jsonl", "snapshot.duckdb"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-f", "cvs"), 2, "did you mean csv?"),
        (("-s", "task_profile"), 2, "did you mean task_profiles?"),
        (("-r", "secnd"), 2, "did you mean second?"),
        (("-f", "CSV"), 2, "did you mean csv?"),
        (("-f", "csv,xlsx"), 2, "repeat the option for each name: -f csv -f xlsx"),
        (("-f", "snapshot", "--no-snapshot"), 2, "contradict each other"),
        (("-f", "csv", "--partition-by-run"), 2, "works only with --format parquet"),
        (("-w", "nowhere.duckdb"), 4, "no warehouse at nowhere.duckdb"),
        (("-w", "text.duckdb"), 4, "it is not a DuckDB file"),
        (("-w", "empty.duckdb"), 4, "no marts in"),
        (("-o", "a_file"), 4, "cannot write to a_file"),
        (("-o", "foreign"), 4, "is not an earlier export"),
        (("-o", "here"), 4, "is writable, so it may be a warehouse"),
        (("-w", "here/snapshot.duckdb", "-o", "here"), 4, "is not an earlier export"),
        (("-w", "sealed/snapshot.duckdb", "-o", "sealed"), 4, "is not an earlier export"),
        (("-w", "other.duckdb"), 4, "no marts in"),
        (("-o", "bad\udcff"), 2, "is not valid UTF-8"),
        (("-o", "what?"), 2, "misreads ?"),
        (("-o", "s3://bucket/folder"), 2, "a folder on this machine"),
        (("-o", "~nobody-of-that-name/x"), 2, "home directory"),
        (("-o", "linked"), 4, "is a link"),
        (("--memory-limit", "lots"), 2, "--memory-limit"),
        (("--memory-limit", "1KB"), 2, "allow more memory with --memory-limit"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_says_what_is_wrong_and_writes_nothing(
    arguments: tuple[str, ...], code: int, said: str, run: Profiled, tmp_path: Path
) -> None:
    (tmp_path / "text.duckdb").write_text("not a database at all")
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    (tmp_path / "a_file").touch()
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "snapshot.duckdb").write_bytes(run.warehouse.read_bytes())
    shutil.copytree(tmp_path / "here", tmp_path / "sealed")
    (tmp_path / "sealed" / "snapshot.duckdb").chmod(0o444)
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute("create table something as select 1 as x")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "parquet").symlink_to(tmp_path / "here", target_is_directory=True)
    (tmp_path / "foreign" / "parquet").mkdir(parents=True)
    (tmp_path / "foreign" / "parquet" / "mine.txt").touch()
    given = arguments if "-w" in arguments else (*arguments, "-w", str(run.warehouse))
    result = run_command("spotter", "export", *given, cwd=tmp_path)
    assert (result.returncode, "Traceback" in result.stderr) == (code, False), result.stderr
    assert said in result.stderr
    assert not result.stdout
    assert not list(tmp_path.rglob(".export-*"))
    assert {path.parent.name for path in tmp_path.rglob("snapshot.duckdb")} == {"here", "sealed"}


@pytest.mark.slow
def test_long_texts_take_no_more_memory_than_there_is(run: Profiled, tmp_path: Path) -> None:
    wide = tmp_path / "wide.duckdb"
    wide.write_bytes(run.warehouse.read_bytes())
    with duckdb.connect(str(wide)) as connection:
        connection.execute("set force_compression = 'uncompressed'")  # which takes long
        connection.execute("create temp table one as from task_profiles limit 1")
        connection.execute(
            "insert into task_profiles select one.* replace ("
            "(1000 + 7919 * i % 40009)::bigint as task_index, repeat(md5(i::text), 320) as sample"
            ") from one, range(30000) as numbers (i)"
        )
        known = connection.execute("select count(*) from task_profiles").fetchone()
    words = ("-s", "task_profiles", "--memory-limit", "400MB", "-w", wide, "-o", tmp_path / "out")
    formats = ("-f", "parquet", "-f", "csv", "-f", "jsonl")
    result = run_command("spotter", "export", *words, *formats, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    with duckdb.connect(str(tmp_path / "out" / "snapshot.duckdb"), read_only=True) as connection:
        keys = connection.execute("select run_id, task_index from task_profiles").fetchall()
    assert (len(keys),) == known
    assert keys == sorted(keys)
    with (tmp_path / "out" / "jsonl" / "task_profiles.jsonl").open("rb") as file:
        assert sum(1 for _ in file) == len(keys)


def test_an_empty_mart_is_an_empty_file(run: Profiled, exports: Exports) -> None:
    assert run.query("select count(*) from failure_classes where run_id = 'second'") == [(0,)]
    found = export(
        run, "-s", "failure_classes", "-r", "second", output=exports.folder.parent / "none"
    )
    with duckdb.connect() as connection:
        read = connection.execute(f"from '{found.folder}/parquet/failure_classes/*.parquet'")
        assert read.fetchall() == []
        assert [column[0] for column in read.description or ()][:2] == ["run_id", "agent_name"]


def test_prints_what_was_written_as_json(run: Profiled, tmp_path: Path) -> None:
    result = run_command(
        "spotter", "export", "--json", "-w", run.warehouse, "-o", "out", cwd=tmp_path
    )
    data = json.loads(result.stdout)
    assert data["files"] == {"parquet": "out/parquet", "snapshot": "out/snapshot.duckdb"}
    assert data["tables"]["runs"] == 2
    assert not result.stderr


def test_a_terminal_sees_a_bar(run: Profiled, tmp_path: Path) -> None:
    words = ("export", "-w", run.warehouse, "-o", "out")
    shown = through_terminal(*words, cwd=tmp_path, prepare=hold_first_bar, NO_COLOR="1")
    assert " %  copying " in shown
    assert shown.splitlines()[-1].split() == ["snapshot", "out/snapshot.duckdb"]


# --- one replaces the other ----------------------------------------------------------------------


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LOCK
    }


def test_the_next_export_replaces_what_it_writes_and_leaves_the_rest(
    run: Profiled, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    export(run, "-f", "csv", "-f", "jsonl", output=output)
    (output / "notes.txt").write_text("mine")
    before = tree(output)
    found = export(run, "-f", "csv", "-s", "runs", output=output)
    assert f"{output}/csv and {output}/snapshot.duckdb now have only what was" in found.errors
    after = tree(output)
    assert {name for name in after if name.startswith("csv/")} == {
        "csv/runs.csv",
        "csv/schema.json",
    }
    assert after["notes.txt"] == b"mine"
    assert {name: raw for name, raw in after.items() if name.startswith("jsonl/")} == {
        name: raw for name, raw in before.items() if name.startswith("jsonl/")
    }


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_stopped_export_leaves_the_last_one_complete(
    number: int, run: Profiled, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    for _ in range(10):  # on a busy machine it may be done before it is stopped
        export(run, "-f", "csv", "-f", "parquet", output=output)
        before = tree(output)
        code, errors = stopped(number, run, output)
        if code:
            break
    assert code
    assert "Traceback" not in errors
    kept = {name: raw for name, raw in tree(output).items() if not name.startswith(".spotter-")}
    assert kept == before
    assert bool(list(output.glob(".spotter-*"))) == (number == signal.SIGKILL)
    export(run, "-f", "csv", output=output)
    assert not list(output.glob(".*")), "what a killed export left is removed by the next"


def stopped(number: int, run: Profiled, output: Path) -> tuple[int, str]:
    """Export, and stop it when the first file is there."""
    program = Path(sys.executable).with_name("spotter")
    process = subprocess.Popen(
        [program, "export", "-w", run.warehouse, "-o", output, "-f", "csv", "-f", "xlsx"],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(output.glob(".spotter-*.tmp/snapshot.duckdb")) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def test_an_export_that_fails_leaves_no_folder(run: Profiled, tmp_path: Path) -> None:
    output = tmp_path / "new" / "out"
    words = ("-w", run.warehouse, "-f", "csv", "--memory-limit", "1MB", "-o", output)
    assert run_command("spotter", "export", *words, cwd=tmp_path).returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_last_one_complete(run: Profiled, tmp_path: Path) -> None:
    output = tmp_path / "out"
    export(run, "-f", "csv", output=output)
    before = tree(output)
    program = Path(sys.executable).with_name("spotter")
    command = f"ulimit -f 200; exec '{program}' export -f csv -w '{run.warehouse}' -o '{output}'"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.returncode == 4, result.stderr
    assert "Traceback" not in result.stderr
    assert tree(output) == before


def test_an_export_waits_for_another_to_the_same_folder(run: Profiled, tmp_path: Path) -> None:
    output = tmp_path / "out"
    working = output / new_name()
    working.mkdir(parents=True)
    holder = (
        f"import fcntl, time; file = open({str(output / LOCK)!r}, 'wb');"
        " fcntl.flock(file, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"held\n"
        export_after(run, process.kill, says="waiting for another export to", output=output)
    assert not working.exists(), "what was left there is removed"


def test_what_was_written_to_a_snapshot_is_no_part_of_the_next(
    run: Profiled, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    snapshot = export(run, output=output).snapshot
    snapshot.chmod(0o644)
    with duckdb.connect(str(snapshot)) as connection:
        connection.execute("pragma disable_checkpoint_on_shutdown")
        connection.execute("delete from runs")
    assert Path(f"{snapshot}.wal").exists()
    snapshot.chmod(0o444)
    export(run, output=output)
    assert rows(snapshot, "runs") == rows(run.warehouse, "runs")


def test_a_snapshot_is_no_more_readable_than_other_files(run: Profiled, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("spotter")
    command = f"umask 077; '{program}' export -w '{run.warehouse}' -o '{tmp_path}/out'"
    subprocess.run(["bash", "-c", command], check=True, capture_output=True)
    assert (tmp_path / "out" / "snapshot.duckdb").stat().st_mode & 0o777 == 0o400


# --- while others use the files ------------------------------------------------------------------


def test_an_export_waits_for_a_profile_and_a_reader_of_the_snapshot_stays(
    run: Profiled, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    found = export(run, output=output)
    reader = duckdb.connect(str(found.snapshot), read_only=True)
    before = reader.execute("select count(*) from runs").fetchone()
    export(run, "-r", "second", output=output)
    assert reader.execute("select count(*) from runs").fetchone() == before == (2,)
    reader.close()
    with duckdb.connect(str(found.snapshot), read_only=True) as fresh:
        assert fresh.execute("select count(*) from runs").fetchone() == (1,)


def test_an_export_waits_while_the_warehouse_is_written(tmp_path: Path) -> None:
    rollouts = [key(0, 0, reward=1)]
    mine = write_run(tmp_path, rollouts, inputs=rollouts)
    assert run_profile(mine.rollouts, cwd=tmp_path).returncode == 0
    writer = duckdb.connect(str(mine.warehouse))
    found = export_after(mine, writer.close, says="waiting for", output=tmp_path / "out")
    assert rows(found.snapshot, "runs") == rows(mine.warehouse, "runs")


# --- through dbt ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(dbt: Dbt, run: Profiled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `dbt run-operation export_marts` writes from a copy of the warehouse."""
    folder = tmp_path_factory.mktemp("dbt")
    warehouse = folder / "warehouse.duckdb"
    warehouse.write_bytes(run.warehouse.read_bytes())
    target = folder / "it's my exports"
    arguments = json.dumps({"folder": str(target)})
    result = dbt("run-operation", "export_marts", "--args", arguments, warehouse=warehouse)
    assert result.returncode == 0, result.stdout
    return target


def test_dbt_writes_the_same_files(built: Path, exports: Exports) -> None:
    assert {path.name for path in built.iterdir()} == set(ALL_MARTS)
    with duckdb.connect() as connection:
        for mart in MARTS:
            both = []
            for folder in (built, exports.folder / "parquet"):
                place = str(folder / mart / "*.parquet")
                read = connection.execute("from read_parquet(?) order by all", [place])
                both.append(([column[:2] for column in read.description or ()], read.fetchall()))
            assert both[0] == both[1], mart


def test_formulas_are_in_the_runs_that_these_tests_export(run: Profiled) -> None:
    prompts = {prompt for (prompt,) in run.query("select prompt from task_profiles")}
    assert prompts >= set(FORMULAS)
