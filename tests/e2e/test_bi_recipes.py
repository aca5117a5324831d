"""docs/bi.md: every recipe is run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import yaml

from collector.spreadsheets import PATTERN
from tests.exports import export, make_runs
from tests.support import ROOT

PAGE = (ROOT / "docs" / "bi.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOOLS = (
    "Superset", "Metabase", "Power BI", "Tableau", "Evidence", "Excel", "pandas", "Polars"
)  # fmt: skip
OLDER = [None, *sorted((ROOT / ".venv" / "older").glob("duckdb-*"))]


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(PAGE) if found == language]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recipes")
    export(make_runs(folder), "-f", "parquet", "-f", "csv", "-f", "xlsx")
    return folder


def test_there_is_a_recipe_for_every_tool() -> None:
    for tool in TOOLS:
        section = re.search(
            rf"^### [^\n]*{tool}[^\n]*\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL
        )
        assert section, tool
        assert "exports/" in section[1] or "snapshot.duckdb" in section[1]
    assert {language for language, _ in BLOCK.findall(PAGE)} == {
        "python", "sql", "yaml", "powerquery"
    }  # fmt: skip


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.split()[1])
def test_python_runs(code: str, folder: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "first/=run" in result.stdout or "datetime64" in result.stdout


def test_the_guard_is_taken_away_from_all_that_it_is_put_before() -> None:
    assert PATTERN.replace("^", "^'(", 1) + ")" in PAGE


@pytest.mark.parametrize("version", OLDER, ids=lambda path: path.name if path else "current")
@pytest.mark.parametrize("query", blocks("sql"), ids=range(len(blocks("sql"))))
def test_sql_runs_on_the_snapshot(query: str, version: Path | None, folder: Path) -> None:
    script = (
        "import duckdb, sys\n"
        "connection = duckdb.connect('exports/snapshot.duckdb', read_only=True)\n"
        "assert connection.execute(sys.argv[1]).fetchall()"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, query],
        cwd=folder,
        env={"PYTHONPATH": str(version)} if version else {},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def test_the_files_that_recipes_name_are_there(folder: Path) -> None:
    named = set(re.findall(r"exports/[\w./*-]+[\w*]", PAGE)) - {
        "exports/parquet/rollout_infos/**/*.parquet"
    }
    assert len(named) > 6
    for name in named:
        assert list(folder.glob(name)), name
    (source,) = (yaml.safe_load(text) for text in blocks("yaml"))
    assert source["type"] == "duckdb"
    assert (folder / "exports" / source["options"]["filename"]).is_file()
    (place,) = re.findall(r'File\.Contents\("([^"]+)"\)', "".join(blocks("powerquery")))
    with duckdb.connect() as connection:
        read = connection.execute("from read_parquet(?)", [str(folder / place)])
        assert len(read.fetchall()) > 1
