"""`spotter profile` as a user meets it: what it prints, writes, refuses and leaves alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.profiling import publish
from tests.support import MARTS, Profiled, key, profiled, run_profile, write_lines, write_run

TWO = [key(0, 0, q="a"), key(0, 1, q="a")]
ROOT_READS_EVERYTHING = os.geteuid() == 0


def simple(folder: Path, name: str = "run", reward: float = 1.0) -> Profiled:
    rows = [key(0, 0, reward=reward), key(0, 1, reward=0.0)]
    return write_run(folder, rows, inputs=TWO, name=name)


def digest(folder: Path) -> dict[str, str]:
    """The content of every file, to see that nothing changed."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_prints_completion_headline_and_places(example: Profiled) -> None:
    result = run_profile("workplace.jsonl", cwd=example.rollouts.parent)
    assert result.returncode == 0, result.stderr
    for text in (
        "24/24 (100.00%)",
        "6: 6 complete, 0 partial, 0 dropped",
        "workplace_simple_agent",
        "0.5833",
        "workplace_reward_profiling.jsonl",
        "workplace_agent_metrics.json",
        "warehouse.duckdb",
    ):
        assert text in result.stdout
    assert result.stderr == ""


def test_json_says_the_same(example: Profiled) -> None:
    result = run_profile("workplace.jsonl", "--json", cwd=example.rollouts.parent)
    (run,) = json.loads(result.stdout)["runs"]
    assert (run["completed_rollout_count"], run["completion_pct"]) == (24, 100.0)
    assert run["agents"][0]["metrics"]["reward"]["mean"] == pytest.approx(14 / 24)
    assert Path(run["reward_profiling"]) == example.profiling


def test_lines_keep_their_order_however_many_tasks_are_written_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = [{"name": "agent_b"}, {"name": "agent_a"}]
    inputs = [
        key(task, index, agent_ref=agent)
        for task in (7, -2, 40, 3, 11)
        for index, agent in enumerate(agents)
    ]
    run = write_run(tmp_path, [{**row, "reward": 1} for row in inputs], inputs=inputs)
    contents = []
    for size in (publish.RANGE_BYTES, 100_000, 40_000, 1):
        monkeypatch.setattr(publish, "RANGE_BYTES", size)
        assert run_profile(run.rollouts, cwd=tmp_path).returncode == 0
        contents.append(run.profiling.read_bytes())
    lines = [(line["_ng_task_index"], line["agent_ref"]["name"]) for line in run.profiles()]
    assert lines == [(task, name) for task in (-2, 3, 7, 11, 40) for name in ("agent_a", "agent_b")]
    assert len(set(contents)) == 1


def test_tasks_with_long_inputs_are_written_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = [key(task, 0, picture="x" * (400_000 if task < 4 else 3)) for task in range(8)]
    run = write_run(tmp_path, [{**key(task, 0), "reward": 1} for task in range(8)], inputs=inputs)
    ranges, lines = [], publish._lines

    def noted(connection: duckdb.DuckDBPyConnection, query: str, *given: Any) -> Iterator[bytes]:
        ranges.append(given[1:])
        return lines(connection, query, *given)

    monkeypatch.setattr(publish, "RANGE_BYTES", 900_000)
    monkeypatch.setattr(publish, "_lines", noted)
    assert run_profile(run.rollouts, cwd=tmp_path).returncode == 0
    assert [bounds for bounds in ranges if bounds] == [(0, 1), (2, 7)]


def test_every_mart_has_the_run(example: Profiled) -> None:
    options = ("--run-id", "mine", "--slice-by", "category")
    run_profile("workplace.jsonl", *options, cwd=example.rollouts.parent)
    for mart in ("failure_classes", "mask_kinds"):
        assert not example.query(f"select * from {mart}")  # nothing failed, nothing is masked
    for mart in set(MARTS) - {"failure_classes", "mask_kinds"}:
        assert example.query(f"select distinct run_id from {mart}") == [("mine",)], mart


def test_nemo_gyms_command_works_as_typed(workspace: Path) -> None:
    run = write_run(workspace, [key(0, 0, reward=1)], inputs=TWO)
    moved = run.inputs.rename(workspace / "elsewhere inputs.jsonl")
    result = run_profile(
        f"+materialized_inputs_jsonl_fpath={moved.name}",
        f"+rollouts_jsonl_fpath={run.rollouts.name}",
        "++allow_partial_rollouts=True",
        cwd=workspace,
        command="ng_reward_profile",
    )
    assert result.returncode == 0, result.stderr
    assert "is partial: 1 rollout missing, 0 tasks dropped" in result.stderr
    assert run.profiles()[0]["missing_num_rollouts"] == 1


def test_the_same_input_gives_the_same_bytes(workspace: Path) -> None:
    rows = [key(t, r, reward=0.1 * t + r / 7, x=t * 1e17 - r) for t in range(40) for r in range(9)]
    run = write_run(workspace, rows[::-1], inputs=[key(t, r) for t in range(40) for r in range(9)])
    contents = []
    for _ in range(3):
        assert run_profile(run.rollouts, cwd=workspace).returncode == 0
        contents.append((run.profiling.read_bytes(), run.agents.read_bytes()))
        write_lines(run.rollouts, rows[:: 1 if len(contents) % 2 else -1])
    assert contents[0] == contents[1] == contents[2]


def test_a_run_profiled_again_is_replaced_and_others_stay(workspace: Path) -> None:
    run, other = simple(workspace), simple(workspace, "other", reward=0.25)
    run_profile(run.rollouts, other.rollouts, cwd=workspace)
    before = {
        mart: run.query(f"select * from {mart} where run_id like '%-other' order by all")
        for mart in MARTS
    }
    simple(workspace, reward=0.5)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    assert run.query("select reward_max from task_profiles where run_id like '%-run'") == [(0.5,)]
    for mart in MARTS:
        rows = run.query(f"select * from {mart} where run_id like '%-other' order by all")
        assert rows == before[mart]


def test_a_warehouse_of_another_version_gets_its_tables_views_and_comments(workspace: Path) -> None:
    run = simple(workspace)
    run_profile(run.rollouts, cwd=workspace)
    relations = (
        "select schema_name, table_name, sql, comment from duckdb_tables()"
        " union all select schema_name, view_name, sql, comment from duckdb_views()"
        " where not internal order by all"
    )
    before = run.query(relations)
    assert all(comment for schema, _, _, comment in before if schema == "main")
    with duckdb.connect(str(run.warehouse)) as connection:
        connection.execute("drop table task_bands")
        connection.execute(
            "create or replace view exports.export_agent_metrics as select 1 as agent"
        )
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    assert run.query(relations) == before
    assert run.query("select count(*) from task_bands") == [(1,)]


def test_a_run_that_lost_its_rollouts_loses_its_rows(workspace: Path) -> None:
    run = simple(workspace)
    run_profile(run.rollouts, cwd=workspace)
    write_lines(run.rollouts, [])
    assert run_profile(run.rollouts, "--allow-partial", cwd=workspace).returncode == 0
    assert run.query("select count(*) from rollout_infos") == [(0,)]
    assert run.query("select dropped_task_count from runs") == [(1,)]
    assert run.profiles() == []


def test_task_ids_join_runs_of_other_agents_and_settings(workspace: Path) -> None:
    def params(text: str, **settings: object) -> dict[str, object]:
        return {"responses_create_params": {"input": text, "tools": [], **settings}, "level": 1}

    first = [key(0, 0, **params("sum", temperature=0)), key(1, 0, **params("product"))]
    second = [
        key(7, 3, **params("product", metadata={"extra_body": '{"seed": 3}'}, model="m")),
        key(9, 3, **params("quotient")),
    ]
    second[0]["agent_ref"] = {"name": "agent_b"}
    one = write_run(workspace, [key(0, 0), key(1, 0)], inputs=first, name="one")
    write_run(workspace, [key(7, 3), key(9, 3)], inputs=second, name="two")
    assert run_profile(workspace, cwd=workspace).returncode == 0
    shared = one.query(
        "select a.task_index, b.task_index from task_profiles a join task_profiles b"
        " on a.task_id = b.task_id and a.run_id < b.run_id"
    )
    assert shared == [(1, 7)]


def test_a_glob_passes_over_other_artifacts(workspace: Path) -> None:
    run, other = simple(workspace), simple(workspace, "other")
    write_lines(run.failures, [key(0, 1, _ng_failure_class="timeout")])
    for _ in range(2):  # the second time the output files match as well
        result = run_profile(*sorted(workspace.glob("*.json*")), "--json", cwd=workspace)
        assert result.returncode == 0, result.stderr
        printed = json.loads(result.stdout)["runs"]
        assert {Path(r["rollouts"]) for r in printed} == {run.rollouts, other.rollouts}
    assert sum(r["failed_attempt_count"] for r in printed) == 1


def test_a_folder_is_searched_for_runs(workspace: Path) -> None:
    simple(workspace / "a" / "b")
    simple(workspace / "c")
    write_lines(workspace / "tasks.jsonl", [{"no": "rollout"}])
    result = run_profile(workspace, "--json", cwd=workspace)
    assert len(json.loads(result.stdout)["runs"]) == 2


def test_a_broken_batch_names_every_broken_run_and_writes_nothing(workspace: Path) -> None:
    good = simple(workspace, "good")
    assert run_profile(good.rollouts, cwd=workspace).returncode == 0
    simple(workspace, "good", reward=0.125)
    missing = write_run(workspace, [key(0, 0, reward=1)], inputs=TWO, name="missing")
    extra = write_run(workspace, [key(5, 5, reward=1)], inputs=[], name="extra")
    torn = write_run(workspace, [b'{"not json'], inputs=TWO, name="torn")
    before = digest(workspace)
    paths = [run.rollouts for run in (good, missing, extra, torn)]
    result = run_profile(*paths, workspace / "absent.jsonl", cwd=workspace)
    assert result.returncode == 4
    for text in (
        f"\nerror: missing_rollouts in {missing.rollouts}\n",
        f"\nerror: extra_rollouts in {extra.rollouts}\n",
        f"\nerror: 1 line of {torn.rollouts} cannot be used\n  {torn.rollouts}:1: not JSON",
        "\n  what to do: correct or remove the line, then profile again\n",
        f"\nerror: no rollouts at {workspace / 'absent.jsonl'}",
    ):
        assert text in f"\n{result.stderr}"
    assert "good.jsonl" not in result.stderr
    assert "\nerror: 4 of 5 runs are broken; nothing was written\n" in result.stderr
    assert result.stderr.endswith("profile the other runs with --skip-broken\n")
    assert digest(workspace) == before


def test_a_broken_invariant_says_what_where_how_many_and_what_next(workspace: Path) -> None:
    inputs = [key(t, r) for t in range(4) for r in range(5)]
    run = write_run(workspace, [key(0, 0, reward=1)], inputs=inputs)
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        f"error: missing_rollouts in {run.rollouts}",
        "  expected rollouts without a result: 19",
        "  (task, rollout): (0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 1), (1, 2), (1, 3),"
        " (1, 4), (2, 0), …",
        "  what to do: finish the collection, or profile the rollouts present with --allow-partial",
    ]


def test_rollouts_need_an_agent(workspace: Path) -> None:
    nameless = {"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1}
    run = write_run(workspace, [nameless], inputs=[nameless])
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 1
    assert "unnamed_agents" in result.stderr


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"a": 1', "not JSON"),
        (b"[1]", "not an object"),
        (b"7", "not an object"),
        (b'{"_ng_task_index": 0}', "no _ng_rollout_index"),
        (b'{"_ng_task_index": "0", "_ng_rollout_index": 0}', "_ng_task_index is not an integer"),
        (b'{"_ng_task_index": 0.5, "_ng_rollout_index": 0}', "_ng_task_index is not an integer"),
        (b"\xff\xfe", "not UTF-8"),
    ],
    ids=["torn", "list", "number", "no index", "text index", "float index", "bytes"],
)
@pytest.mark.parametrize("file", ["rollouts", "inputs"])
def test_a_line_that_cannot_be_used_is_named(
    bad: bytes, reason: str, file: str, workspace: Path
) -> None:
    run = simple(workspace)
    path: Path = getattr(run, file)
    first, *rest = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([first, b"", bad, *rest]))
    result = run_profile(run.rollouts, "--allow-partial", "--json", cwd=workspace)
    assert result.returncode == 4
    assert f"{path}:3: {reason}" in result.stderr
    (error,) = json.loads(result.stdout)["errors"]
    assert (error["kind"], error["count"], error["lines"]) == ("unreadable_lines", 1, [3])
    assert not run.profiling.exists()


@pytest.mark.parametrize("is_rewritten", [False, True], ids=["by duckdb", "by python"])
def test_indices_written_as_fractions_are_those_of_whole_numbers(
    workspace: Path, *, is_rewritten: bool
) -> None:
    run = simple(workspace)
    plain = profiled(run).profiling.read_bytes()
    for path in (run.rollouts, run.inputs):
        text = re.sub(r'(_index": )(\d+)', r"\1\2.0", path.read_text(encoding="utf-8"))
        bom = "\ufeff" if is_rewritten else ""  # which DuckDB cannot read
        path.write_text(bom + text, encoding="utf-8")
    assert profiled(run).profiling.read_bytes() == plain


def test_a_quoted_pattern_finds_runs_in_folders(workspace: Path) -> None:
    for name in ("a", "b[1]"):
        simple(workspace / "runs" / name, "rollouts")
    for pattern, count in (("runs/*/rollouts.jsonl", 2), ("runs/b[1]", 1), ("runs/[ab]*", 2)):
        result = run_profile(pattern, "--json", cwd=workspace)
        assert result.returncode == 0, result.stderr
        assert len(json.loads(result.stdout)["runs"]) == count
    result = run_profile("runs/*/none.jsonl", cwd=workspace)
    assert (result.returncode, "no rollouts found in" in result.stderr) == (4, True)


def test_missing_files_are_named(workspace: Path) -> None:
    run = simple(workspace)
    run.inputs.unlink()
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 4
    assert f"no materialized inputs at {run.inputs}" in result.stderr
    result = run_profile("nowhere", cwd=workspace)
    assert result.returncode == 4
    assert "no rollouts at" in result.stderr


def test_a_warehouse_is_no_file_of_rollouts(workspace: Path) -> None:
    run = simple(workspace)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    result = run_profile(run.warehouse, "--inputs", run.inputs, cwd=workspace)
    assert result.returncode == 2
    assert "is a DuckDB file, not a rollouts file" in result.stderr


@pytest.mark.skipif(ROOT_READS_EVERYTHING, reason="root may read and write everything")
def test_unreadable_and_unwritable_files_are_named(workspace: Path) -> None:
    run = simple(workspace)
    run.rollouts.chmod(0)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 4
    run.rollouts.chmod(0o644)
    locked = workspace / "locked"
    locked.mkdir(mode=0o500)
    assert run_profile(run.rollouts, "--output-dir", locked, cwd=workspace).returncode == 4


def test_outputs_that_cannot_be_written_change_nothing(workspace: Path) -> None:
    run = simple(workspace)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    simple(workspace, reward=0.5)
    (workspace / "a_file").touch()
    before = digest(workspace)
    result = run_profile(run.rollouts, "--output-dir", "a_file/below", cwd=workspace)
    assert result.returncode == 4
    assert "cannot write" in result.stderr
    assert digest(workspace) == before


def test_names_that_duckdb_would_misread_are_read(workspace: Path) -> None:
    runs = [simple(workspace / name, name) for name in ("a\\b[1]", "a\\*", "wh?t", "[x]\\y")]
    paths = [run.rollouts for run in runs]
    result = run_profile(*paths, "-w", "warehouse.duckdb", cwd=workspace)
    assert result.returncode == 0, result.stderr
    for run in runs:
        assert run.profiles()[0]["mean/reward"] == 0.5, run.rollouts


@pytest.mark.parametrize("name", ["wh?t/w.duckdb", "back\\slash.duckdb", "run.jsonl", "other.json"])
def test_a_warehouse_has_a_file_of_its_own(name: str, workspace: Path) -> None:
    run = simple(workspace)
    (workspace / "other.json").write_text('{"a": 1}', encoding="ascii")
    before = digest(workspace)
    result = run_profile(run.rollouts, "-w", name, cwd=workspace)
    assert result.returncode in (2, 4)
    assert "warehouse" in result.stderr
    assert digest(workspace) == before


def test_an_output_place_that_is_taken_changes_nothing(workspace: Path) -> None:
    run = simple(workspace)
    run.agents.mkdir()
    before = digest(workspace)
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 4
    assert "cannot write" in result.stderr
    assert not run.profiling.exists()
    assert not run.warehouse.exists()
    assert digest(workspace) == before


@pytest.mark.parametrize("kind", ["rollouts", "failures", "warehouse"])
def test_a_pipe_is_no_artifact(kind: str, workspace: Path) -> None:
    run = simple(workspace)
    path: Path = getattr(run, kind)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 4
    assert "it is not a regular file" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "name a rollouts file or a folder"),
        (["a.jsonl", "b.jsonl", "--run-id", "x"], "--run-id applies to one run"),
        (["a.jsonl", "--run-id", " "], "begins or ends with a blank"),
        (["a.jsonl", "--run-id", "a\u202eb"], "characters that cannot be shown"),
        (["a.jsonl", "--run-id", "é" * 100], "the name is too long"),
        (["a.jsonl", "b.jsonl", "--inputs", "x"], "--inputs applies to one run"),
        (["x/a.jsonl", "y/a.jsonl", "--output-dir", "z"], "would both write"),
        (["+unknown=1"], "unknown override +unknown"),
        (["++allow_partial_rollouts=maybe"], "true or false"),
        (["--nonsense"], "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_explained(arguments: list[str], text: str, workspace: Path) -> None:
    result = run_profile(*arguments, cwd=workspace)
    assert result.returncode == 2
    assert text in result.stderr


def test_a_bad_memory_limit_is_wrong_usage(workspace: Path) -> None:
    run = simple(workspace)
    result = run_profile(run.rollouts, "--memory-limit", "lots", cwd=workspace)
    assert result.returncode == 2
    assert "4GB" in result.stderr


def test_paths_mean_just_themselves(workspace: Path) -> None:
    names = ["sp ace", "qu'ote", 'dou"ble', "ünïcode", "gl*b[1]", "{{ 1 }}", "'; drop table runs;"]
    simple(workspace / "decoy", "gl_b1x")
    runs = [simple(workspace / name, name) for name in names]
    warehouse = workspace / f"{' '.join(names)}.duckdb"
    paths = [run.rollouts for run in runs]
    result = run_profile(*paths, "-w", warehouse, cwd=workspace)
    assert result.returncode == 0, result.stderr
    for run in runs:
        assert run.profiles()[0]["mean/reward"] == 0.5, run.rollouts
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        found = connection.execute("select rollouts_path from runs").fetchall()
    assert {path for (path,) in found} == {str(path) for path in paths}
