"""The exports as other tools see them: each file is opened with the tool itself."""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy
from openpyxl.utils.escape import unescape

from collector.errors import UsageError
from collector.exporting.excel import CELL_CHARACTERS, SHEET_ROWS, check_rows
from collector.exporting.tables import MartTable
from collector.profiling.plan import load_plan
from collector.spreadsheets import FORMULA
from tests.exports import FORMULAS, LARGE, TEXTS, Exports, export, make_runs
from tests.programs import run_command
from tests.support import ALL_MARTS, MARTS, ROOT, Profiled, key, profiled, write_run

OLDER = sorted((ROOT / ".venv" / "older").glob("duckdb-*"))
ARROW = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "datetime": pa.timestamp("us", tz="UTC"),
}
POLARS = {
    "string": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "boolean": pl.Boolean(),
    "datetime": pl.Datetime("us", "UTC"),
}
PANDAS = {"string": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    return make_runs(tmp_path_factory.mktemp("consumers"))


@pytest.fixture(scope="module")
def exports(run: Profiled) -> Exports:
    return export(run, "-f", "parquet", "-f", "csv", "-f", "xlsx")


def schema_of(exports: Exports, kind: str, mart: str) -> dict[str, str]:
    package = json.loads((exports.folder / kind / "schema.json").read_text())
    (resource,) = (one for one in package["resources"] if one["name"] == mart)
    # DuckDB's INTEGER has 32 bits
    return {
        field["name"]: "int32" if field["duckdbType"] == "INTEGER" else field["type"]
        for field in resource["schema"]["fields"]
    }


def known(run: Profiled, mart: str) -> list[dict[str, Any]]:
    """The rows of a mart, with times that say where they are."""
    keys = {model.name: ", ".join(model.key) for model in load_plan().layer("marts")}
    rows = run.table(f"select * from {mart} order by {keys[mart]}")
    for row in rows:
        for name, value in row.items():
            if isinstance(value, dt.datetime):
                row[name] = value.replace(tzinfo=dt.UTC)
    return rows


# --- Parquet -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mart", MARTS)
def test_pyarrow_reads_parquet_with_the_documented_types(
    mart: str, run: Profiled, exports: Exports
) -> None:
    table = pq.read_table(exports.folder / "parquet" / mart)
    arrow = {**ARROW, "int32": pa.int32()}
    types = {name: arrow[kind] for name, kind in schema_of(exports, "parquet", mart).items()}
    assert {field.name: field.type for field in table.schema} == types
    assert table.to_pylist() == known(run, mart)


@pytest.mark.parametrize("mart", MARTS)
def test_polars_reads_parquet_with_the_documented_types(
    mart: str, run: Profiled, exports: Exports
) -> None:
    frame = pl.read_parquet(exports.folder / "parquet" / mart / "*.parquet")
    kinds = {**POLARS, "int32": pl.Int32()}
    types = {name: kinds[kind] for name, kind in schema_of(exports, "parquet", mart).items()}
    assert dict(frame.schema) == types
    assert frame.to_dicts() == known(run, mart)


@pytest.mark.parametrize("mart", MARTS)
def test_pandas_reads_parquet_with_the_documented_types(
    mart: str, run: Profiled, exports: Exports
) -> None:
    folder = exports.folder / "parquet" / mart
    frame = pd.read_parquet(folder, dtype_backend="numpy_nullable")
    types = {**PANDAS, "int32": "Int32", "datetime": "datetime64[us, UTC]"}
    kinds = schema_of(exports, "parquet", mart)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        name: types[kind] for name, kind in kinds.items()
    }
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    assert [plain(row) for row in rows] == known(run, mart)


def plain(row: dict[Any, Any]) -> dict[str, Any]:
    return {
        str(name): value.to_pydatetime() if isinstance(value, pd.Timestamp) else value
        for name, value in row.items()
    }


def test_partitions_are_read_with_their_types(run: Profiled, tmp_path: Path) -> None:
    found = export(run, "--partition-by-run", "-s", "rollout_infos", output=tmp_path / "x")
    folder = found.folder / "parquet" / "rollout_infos"
    assert {path.name for path in folder.iterdir()} == {"run_id=first%2F%3Drun", "run_id=second"}
    columns = ["run_id", "task_index", "rollout_index", "reward"]
    wanted = sorted(tuple(row[name] for name in columns) for row in known(run, "rollout_infos"))
    arrow = pq.read_table(folder, columns=columns)
    assert sorted(tuple(row[name] for name in columns) for row in arrow.to_pylist()) == wanted
    frame = pl.read_parquet(folder / "**" / "*.parquet", hive_partitioning=True)
    assert sorted(frame.select(columns).rows()) == wanted
    with duckdb.connect() as connection:
        read = connection.execute(f"select {', '.join(columns)} from '{folder}/*/*.parquet'")
        assert sorted(read.fetchall()) == wanted


def test_a_run_that_no_folder_can_be_named_after_is_refused(tmp_path: Path) -> None:
    rows = [key(0, 0, reward=1)]
    run = profiled(write_run(tmp_path, rows, inputs=rows), "--run-id", "__HIVE_DEFAULT_PARTITION__")
    result = run_command("spotter", "export", "--partition-by-run", cwd=tmp_path)
    assert result.returncode == 2
    assert "what to do: export without --partition-by-run" in result.stderr
    assert export(run, output=tmp_path / "out").counts["runs"] == 1


def test_a_mart_without_rows_has_a_file_among_partitions(run: Profiled, tmp_path: Path) -> None:
    found = export(run, "--partition-by-run", "-r", "second", output=tmp_path / "x")
    frame = pl.read_parquet(found.folder / "parquet" / "failure_classes" / "*.parquet")
    assert frame.height == 0
    assert frame.columns[0] == "run_id"


# --- CSV -----------------------------------------------------------------------------------------

FROM_CSV: dict[str, Callable[[str], Any]] = {
    "string": str,
    "integer": int,
    "int32": int,
    "number": float,
    "boolean": lambda text: {"true": True, "false": False}[text],
    "datetime": dt.datetime.fromisoformat,
}


def unguarded(text: str) -> str:
    """Take away what keeps a spreadsheet from running a text."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def read_cell(text: str, kind: str) -> Any:
    if text == "":
        return "" if kind == "string" else None
    return FROM_CSV[kind](unguarded(text) if kind == "string" else text)


@pytest.mark.parametrize("mart", MARTS)
def test_sqlite_imports_csv(mart: str, run: Profiled, exports: Exports, tmp_path: Path) -> None:
    kinds = schema_of(exports, "csv", mart)
    with (exports.folder / "csv" / f"{mart}.csv").open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header = next(lines)
        with sqlite3.connect(tmp_path / "imported.sqlite") as connection:
            names = ", ".join(f'"{name}" text' for name in header)
            connection.execute(f"create table imported ({names})")
            holes = ", ".join("?" * len(header))
            connection.executemany(f"insert into imported values ({holes})", lines)
            rows = connection.execute("select * from imported").fetchall()
        connection.close()
    assert header == list(kinds)
    found = [
        {name: read_cell(text, kinds[name]) for name, text in zip(header, row, strict=True)}
        for row in rows
    ]
    # CSV does not tell a missing text from an empty one
    wanted = [
        {
            name: "" if value is None and kinds[name] == "string" else value
            for name, value in row.items()
        }
        for row in known(run, mart)
    ]
    assert found == wanted


def test_no_cell_of_csv_can_become_a_formula(exports: Exports) -> None:
    guarded = 0
    for mart in MARTS:
        kinds = schema_of(exports, "csv", mart)
        with (exports.folder / "csv" / f"{mart}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for name, text in row.items():
                    if kinds[name] == "string":
                        assert not re.match(r"\s*[=+\-@＝＋－＠]", text), (mart, name, text)
                        guarded += text.startswith("'") and bool(FORMULA.match(text))
    assert guarded >= 4 * len(FORMULAS)


def test_the_types_of_csv_come_back_with_the_schema(run: Profiled, exports: Exports) -> None:
    kinds = schema_of(exports, "csv", "rollout_infos")
    frame = pd.read_csv(
        exports.folder / "csv" / "rollout_infos.csv",
        dtype={name: {**PANDAS, "int32": "Int32"}[kind] for name, kind in kinds.items()},
        keep_default_na=False,
        na_values={name: [""] for name, kind in kinds.items() if kind != "string"},
    )
    assert list(frame["task_index"]) == [row["task_index"] for row in known(run, "rollout_infos")]
    assert frame["task_index"].max() == LARGE


# --- Excel ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def workbook(exports: Exports) -> Any:
    return openpyxl.load_workbook(exports.folder / "spotter.xlsx")


def from_excel(value: Any, known: Any) -> Any:
    """What a cell means, given what it should mean: Excel has only one kind of number."""
    if isinstance(known, dt.datetime) and isinstance(value, dt.datetime):
        return value.replace(tzinfo=dt.UTC)
    if isinstance(known, int) and not isinstance(known, bool) and abs(known) > 2**53:
        return int(value)
    return value


@pytest.mark.parametrize("mart", MARTS)
def test_excel_equals_the_marts(mart: str, run: Profiled, workbook: Any) -> None:
    lines = list(workbook[mart].iter_rows(values_only=True))
    header = list(lines[0])
    left_out = {"rollout_infos": {"info"}, "task_profiles": {"sample"}}.get(mart, set())
    rows = known(run, mart)
    assert header == [name for name in (rows[0] if rows else header) if name not in left_out]
    assert len(lines) - 1 == len(rows)
    for line, row in zip(lines[1:], rows, strict=True):
        for name, value in zip(header, line, strict=True):
            wanted = row[name]
            found = from_excel(value, wanted)
            if isinstance(wanted, dt.datetime):
                assert abs(found - wanted) < dt.timedelta(milliseconds=1)
            elif isinstance(wanted, float):
                assert math.isclose(found, wanted, rel_tol=1e-14), (mart, name)
            elif isinstance(wanted, str):
                # Excel writes controls as _x0001_; an empty text is an empty cell
                assert unescape(found or "") == wanted, (mart, name)
            else:
                assert found == wanted, (mart, name)


def test_no_cell_of_excel_is_a_formula(workbook: Any) -> None:
    texts = 0
    for sheet in workbook:
        for line in sheet.iter_rows():
            for cell in line:
                assert cell.data_type != "f", (sheet.title, cell.coordinate)
                if isinstance(cell.value, str) and FORMULA.match(cell.value):
                    assert cell.quotePrefix, (sheet.title, cell.coordinate)
                    texts += 1
    assert texts >= len(FORMULAS)


def test_a_sheet_explains_the_columns(workbook: Any) -> None:
    rows = list(workbook["dictionary"].iter_rows(values_only=True))
    meanings = {(row[0], row[1]): row[3] for row in rows[1:]}
    assert meanings["runs", "profiled_at"].startswith("When the run was last profiled, in UTC")
    assert ("rollout_infos", "info") not in meanings


def test_a_text_that_no_cell_holds_is_cut_and_told(tmp_path: Path) -> None:
    text = "😀" * 40_000
    rows = [key(0, 0, reward=1, responses_create_params={"input": text})]
    run = profiled(write_run(tmp_path, rows, inputs=rows))
    found = export(run, "-f", "xlsx", "-s", "task_profiles", output=tmp_path / "out")
    assert "warning: 1 text exceeded the 32,767 characters" in found.errors
    (sheet,) = (
        sheet
        for sheet in openpyxl.load_workbook(found.folder / "spotter.xlsx")
        if sheet.title == "task_profiles"
    )
    header = [cell.value for cell in sheet[1]]
    cell = sheet[2][header.index("prompt")].value
    assert len(cell.encode("utf-16-le")) // 2 <= CELL_CHARACTERS
    assert cell.endswith("(cut, of 40,000 characters)")


def test_more_rows_than_a_sheet_holds_are_refused() -> None:
    model = load_plan().layer("marts")[0]
    check_rows([MartTable(model, SHEET_ROWS)])
    with pytest.raises(UsageError, match="what to do: export fewer with --run or --select"):
        check_rows([MartTable(model, SHEET_ROWS + 1)])


# --- the snapshot --------------------------------------------------------------------------------


def test_superset_reads_the_snapshot_while_a_build_writes_the_warehouse(
    run: Profiled, tmp_path: Path
) -> None:
    """Superset talks through SQLAlchemy with duckdb-engine."""
    found = export(run, output=tmp_path / "out")
    engine = sqlalchemy.create_engine(f"duckdb:///{found.snapshot}?access_mode=read_only")
    results: list[int] = []

    def build() -> None:
        again = subprocess.run(
            [Path(sys.executable).with_name("spotter"), "profile", run.rollouts, "--run-id",
             "third", "--allow-partial", "--no-files", "-w", run.warehouse],
            capture_output=True, check=False,
        )  # fmt: skip
        results.append(again.returncode)

    building = threading.Thread(target=build)
    with engine.connect() as connection:
        building.start()
        looks = 0
        while building.is_alive() or not looks:
            count = connection.execute(sqlalchemy.text("select count(*) from runs")).scalar()
            assert count == 2
            looks += 1
        building.join()
        with pytest.raises(sqlalchemy.exc.DBAPIError, match="read-only"):
            connection.execute(sqlalchemy.text("delete from runs"))
    assert results == [0]
    assert run.query("select count(*) from runs") == [(3,)]
    inspector = sqlalchemy.inspect(engine)
    assert set(inspector.get_table_names()) == set(ALL_MARTS)
    columns = {one["name"]: one for one in inspector.get_columns("task_profiles")}
    assert str(columns["prompt"]["comment"]).startswith("The text that the agent is asked")
    engine.dispose()
    with duckdb.connect(str(run.warehouse)) as writer:
        for mart in MARTS:
            writer.execute(f"delete from {mart} where run_id = 'third'")


@pytest.mark.parametrize("version", OLDER, ids=lambda path: path.name)
def test_older_drivers_read_the_snapshot(version: Path, run: Profiled, exports: Exports) -> None:
    """Metabase, Tableau, Power BI and Evidence bring a DuckDB of their own."""
    script = (
        "import duckdb, json, sys\n"
        "connection = duckdb.connect(sys.argv[1], read_only=True)\n"
        "rows = connection.execute('from rollout_infos order by all').fetchall()\n"
        "print(json.dumps([duckdb.__version__, rows]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, exports.snapshot],
        env={"PYTHONPATH": str(version)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    number, rows = json.loads(result.stdout)
    assert version.name == f"duckdb-{number}"
    wanted = run.query("from rollout_infos where run_id != 'third' order by all")
    assert [tuple(row) for row in rows] == wanted


@pytest.mark.skipif(not os.environ.get("CI"), reason="no wheel for every version of Python")
def test_older_drivers_are_there() -> None:
    assert [path.name for path in OLDER] == ["duckdb-1.1.3", "duckdb-1.5.6"]


def test_hard_texts_are_in_the_runs_that_these_tests_export(run: Profiled) -> None:
    answers = {
        json.loads(answer)
        for (answer,) in run.query("select answer from rollout_health where run_id = 'first/=run'")
    }
    assert answers == set(TEXTS)
