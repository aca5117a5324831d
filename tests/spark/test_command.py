"""`spotter profile --engine spark` gives what `spotter profile` gives."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import duckdb

from tests.programs import run_process
from tests.spark.marks import NEEDS_SPARK
from tests.spark.spark_process import CONF
from tests.spark.tables import differences, equal_json, read_table
from tests.support import MARTS, ROOT, inputs_of, key, read_json, run_profile, write_run

pytestmark = NEEDS_SPARK

PROFILING = "workplace_reward_profiling.jsonl"
LISTS = ("workplace_agent_metrics.json", "workplace_repeat_level_metrics.json")


def profile_on_spark(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    conf = {**os.environ, "SPARK_CONF_DIR": str(CONF)}
    return run_process("spotter", "profile", *words, "--engine", "spark", cwd=cwd, env=conf)


def test_the_files_the_report_and_the_warehouse_are_the_same(tmp_path: Path) -> None:
    for name in ("spark", "duckdb"):
        (tmp_path / name).mkdir()
        for path in (ROOT / "examples").glob("workplace*.jsonl"):
            shutil.copy(path, tmp_path / name)
    words = ("workplace.jsonl", "--slice-by", "category", "--run-id", "r")
    with_spark = profile_on_spark(*words, cwd=tmp_path / "spark")
    with_duckdb = run_profile(*words, cwd=tmp_path / "duckdb")
    assert with_spark.returncode == 0, with_spark.stderr
    assert with_spark.stdout == with_duckdb.stdout

    texts = {
        name: [(tmp_path / engine / name).read_text("utf-8") for engine in ("spark", "duckdb")]
        for name in (PROFILING, *LISTS)
    }
    one, other = (f"[{','.join(text.splitlines())}]" for text in texts.pop(PROFILING))
    assert equal_json(read_json(one), read_json(other))
    assert all(equal_json(*map(read_json, both)) for both in texts.values())

    with duckdb.connect() as connection:
        for name in ("spark", "duckdb"):
            file = tmp_path / name / "warehouse.duckdb"
            connection.execute(f"attach '{file}' as {name}_marts (read_only)")
        found = {
            mart: differences(
                read_table(connection, f"duckdb_marts.{mart}"),
                read_table(connection, f"spark_marts.{mart}"),
            )
            for mart in MARTS
            if mart != "runs"  # it has the paths of the files
        }
    assert found == {mart: [] for mart in found}


def test_a_broken_run_gets_the_same_message_and_leaves_nothing(tmp_path: Path) -> None:
    rows = [key(0, 0, reward=1), key(0, 1, reward=0), key(0, 1, reward=1)]
    write_run(tmp_path, rows, inputs=inputs_of(rows[:2]))
    with_spark = profile_on_spark("run.jsonl", cwd=tmp_path)
    with_duckdb = run_profile("run.jsonl", cwd=tmp_path)
    assert with_spark.returncode == 1
    assert with_duckdb.stderr in with_spark.stderr
    assert not list(tmp_path.glob("*.json"))
    assert not (tmp_path / "warehouse.duckdb").exists()
