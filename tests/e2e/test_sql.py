"""`spotter sql`: read-only, in three formats, and a list of what there is to query."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.programs import run_command
from tests.support import (
    ALL_MARTS,
    Profiled,
    key,
    run_profile,
    through_terminal,
    without_progress,
    write_run,
)

QUERY = "select task_index, reward_mean from task_profiles order by task_index"


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp("sql")
    rows = [key(t, 0, reward=t / 4, note="x") for t in range(3)]
    run = write_run(folder, rows, inputs=[key(t, 0, q="\x1b[31mred") for t in range(3)])
    assert run_profile(run.rollouts, cwd=folder).returncode == 0
    return run


def ask(run: Profiled, *arguments: str) -> tuple[int, str, str]:
    result = run_command("spotter", "sql", *arguments, cwd=run.rollouts.parent)
    return result.returncode, result.stdout, result.stderr


def test_prints_a_box(profiled: Profiled) -> None:
    _, out, _ = ask(profiled, QUERY)
    assert out.splitlines() == [
        "┌────────────┬─────────────┐",
        "│ task_index │ reward_mean │",
        "│   bigint   │   double    │",
        "├────────────┼─────────────┤",
        "│          0 │         0.0 │",
        "│          1 │        0.25 │",
        "│          2 │         0.5 │",
        "└────────────┴─────────────┘",
        "3 rows",
    ]


def test_a_long_result_has_its_first_and_last_rows(profiled: Profiled) -> None:
    _, out, _ = ask(profiled, "select range as n from range(5000)")
    numbers = [line.split()[1] for line in out.splitlines()[4:-2]]
    first, last = [str(n) for n in range(20)], [str(n) for n in range(4980, 5000)]
    assert numbers == [*first, "·", "·", "·", *last]
    assert out.splitlines()[-1] == "5,000 rows (40 shown; --all shows all)"
    _, out, _ = ask(profiled, "select range as n from range(5000)", "--all")
    assert len(out.splitlines()) == 5000 + 6


def test_a_box_fits_the_terminal(profiled: Profiled) -> None:
    words = ("sql", "select * from task_profiles")
    shown = through_terminal(*words, cwd=profiled.rollouts.parent, COLUMNS="70", PAGER="cat")
    lines = without_progress(shown).splitlines()
    assert {len(line) for line in lines[:-1]} <= set(range(50, 71))
    assert "columns (" in lines[-1]


def test_prints_csv_and_json(profiled: Profiled) -> None:
    _, out, _ = ask(profiled, QUERY, "--csv")
    assert list(csv.reader(out.splitlines()))[1:] == [["0", "0.0"], ["1", "0.25"], ["2", "0.5"]]
    _, out, _ = ask(profiled, QUERY, "--json")
    assert json.loads(out)[1] == {"task_index": 1, "reward_mean": 0.25}


def test_json_holds_values_that_json_has_no_word_for(profiled: Profiled) -> None:
    query = (
        "select histogram(reward) as h, 1e300::double * 1e300 as infinite, date '2026-01-02' as day"
        ", 170141183460469231731687303715884105727::hugeint as huge from rollout_infos"
    )
    code, out, message = ask(profiled, query, "--json")
    assert code == 0, message
    (row,) = json.loads(out)
    assert row["h"] == {"0.0": 1, "0.25": 1, "0.5": 1}
    assert (row["infinite"], row["day"], row["huge"]) == (None, "2026-01-02", 2**127 - 1)


def test_json_refuses_columns_of_one_name(profiled: Profiled) -> None:
    code, _, message = ask(profiled, "select 1 as a, 2 as a", "--json")
    assert code == 2
    assert "several columns are called a" in message


def test_reads_the_query_from_standard_input(profiled: Profiled) -> None:
    result = subprocess.run(
        [str(Path(sys.executable).with_name("spotter")), "sql", "-", "+warehouse=warehouse.duckdb"],
        cwd=profiled.rollouts.parent,
        input="-- a comment first\nselect 7 as seven",
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout.splitlines()[4].split() == ["│", "7", "│"], result.stderr


def test_lists_every_mart_with_its_grain_in_one_line(profiled: Profiled) -> None:
    _, out, _ = ask(profiled, "--json")
    marts = {mart["name"]: mart for mart in json.loads(out)}
    assert sorted(marts) == sorted(ALL_MARTS)
    assert all(mart["description"].startswith("One row per") for mart in marts.values())
    _, text, _ = ask(profiled)
    lines = [line.split(maxsplit=1) for line in text.splitlines()]
    assert ["agent_metrics", "One row per run, agent and metric"] in lines
    assert len(lines) == len(ALL_MARTS) + 2


def test_describes_the_columns_of_a_mart(profiled: Profiled) -> None:
    for name in ALL_MARTS:
        mart = json.loads(ask(profiled, "--describe", name, "--json")[1])
        assert mart["name"] == name
        assert all(column["meaning"] for column in mart["columns"])
    _, text, _ = ask(profiled, "--describe", "task_profiles")
    assert text.startswith("task_profiles: One row per run, task and agent")
    assert "  reward_mean " in text
    code, _, message = ask(profiled, "--describe", "task_profile")
    assert (code, "did you mean task_profiles?" in message) == (2, True)
    assert ask(profiled, "select 1", "--describe", "runs")[0] == 2


def test_escape_codes_do_not_reach_the_terminal(profiled: Profiled) -> None:
    _, out, _ = ask(profiled, "select json_extract_string(sample, '$.q') as q from task_profiles")
    assert "\x1b" not in out


@pytest.mark.parametrize(
    "query",
    [
        "delete from runs",
        "create table t as select 1",
        "copy runs to 'stolen.csv'",
        "select * from read_text('run.jsonl')",
        "attach 'other.duckdb'",
        "set enable_external_access = true",
        "copy (select 1) to 'warehouse.duckdb' (format csv, use_tmp_file false)",
        "copy (select 1) to 'warehouse.duckdb.wal' (format csv)",
        "select * from read_blob('warehouse.duckdb')",
        "selec 1",
        "",
        ";",
        "select cast(case when range > 5000 then 'x' else '1' end as int) from range(100000)",
    ],
)
def test_can_neither_write_nor_reach_out(query: str, profiled: Profiled) -> None:
    code, _, message = ask(profiled, query)
    assert code == 2
    assert message.startswith("error: ")
    assert not (profiled.rollouts.parent / "stolen.csv").exists()
    assert profiled.query("select count(*) from runs") == [(1,)]


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("select * from task_profile", "list the marts with `spotter sql`"),
        ("select rewards from runs", "with `spotter sql --describe MART`"),
        ("select * from read_text('run.jsonl')", "a query can read only the marts"),
    ],
)
def test_a_mistake_comes_with_a_hint(query: str, hint: str, profiled: Profiled) -> None:
    code, _, message = ask(profiled, query)
    assert code == 2
    assert hint in message


def test_an_empty_warehouse_is_explained(workspace: Path) -> None:
    duckdb.connect(str(workspace / "warehouse.duckdb")).close()
    result = run_command("spotter", "sql", cwd=workspace)
    assert result.returncode == 4
    assert "no marts" in result.stderr


def test_a_missing_warehouse_is_explained(workspace: Path) -> None:
    result = run_command("spotter", "sql", "select 1", cwd=workspace)
    assert result.returncode == 4
    assert "spotter profile" in result.stderr
