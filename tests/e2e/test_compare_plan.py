"""`spotter compare --plan`: how many more rollouts settle an inconclusive comparison."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb

from tests.compared_runs import Rewards, compare, compared, write_tasks
from tests.curated_runs import rows_of
from tests.support import read_json

DRAWS = random.Random(5)


def drawn(texts: list[str]) -> Rewards:
    return {text: [float(DRAWS.random() < 0.5) for _ in range(4)] for text in texts}


TEXTS = [f"task {n}" for n in range(24)]
BEFORE = drawn(TEXTS)
AFTER = drawn(list(reversed(TEXTS)))
BETTER: Rewards = {text: [1, 1, 1, 1] for text in BEFORE}
MARGIN = ("--margin", "0.1")


def test_plans_name_the_tasks_of_each_run_and_the_repeats_that_settle_it(tmp_path: Path) -> None:
    write_tasks(tmp_path, "before", BEFORE)
    write_tasks(tmp_path, "after", AFTER)
    names = ("before.jsonl", "after.jsonl", *MARGIN)
    data = compared(*names, cwd=tmp_path)
    assert data["verdict"] == "inconclusive"
    result = compare(*names, "--plan", "plan.jsonl", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "spotter collect --plan plan.jsonl -o after.jsonl --resume" in result.stdout
    after, before = rows_of(tmp_path / "plan.jsonl"), rows_of(tmp_path / "plan_baseline.jsonl")
    assert [line["task_index"] for line in after] == list(range(24))
    by_task = {line["task_id"]: line["task_index"] for line in before}
    assert [by_task[line["task_id"]] for line in after] == list(reversed(range(24)))
    assert {line["num_repeats"] for line in after + before} == {data["primary"]["repeats_needed"]}
    (tmp_path / "plan_baseline.jsonl").unlink()  # as a command leaves it that is killed in between
    assert compare(*names, "--plan", "plan.jsonl", cwd=tmp_path).returncode == 0
    assert rows_of(tmp_path / "plan_baseline.jsonl") == before
    (tmp_path / "plan.jsonl").write_text("mine")
    again = compare(*names, "--plan", "plan.jsonl", "-w", "other.duckdb", cwd=tmp_path)
    assert again.returncode == 2
    assert "plan.jsonl: the file exists already" in again.stderr
    assert not (tmp_path / "other.duckdb").exists()  # refused before anything is compared
    assert (tmp_path / "plan.jsonl").read_text() == "mine"


def test_a_settled_comparison_and_one_that_needs_tasks_have_no_plan(tmp_path: Path) -> None:
    write_tasks(tmp_path, "before", BEFORE)
    write_tasks(tmp_path, "better", BETTER)
    write_tasks(tmp_path, "odd", {text: [n % 2] * 4 for n, text in enumerate(TEXTS)})
    write_tasks(tmp_path, "even", {text: [1 - n % 2] * 4 for n, text in enumerate(TEXTS)})
    result = compare("before.jsonl", "better.jsonl", "--plan", "plan.jsonl", cwd=tmp_path)
    assert result.returncode == 2
    assert "is settled (better): there is nothing to plan" in result.stderr
    names = ("odd.jsonl", "even.jsonl", "--margin", "0.1", "--plan", "plan.jsonl")
    result = compare(*names, "--json", cwd=tmp_path)
    assert result.returncode == 2
    assert "more tasks are needed" in result.stderr
    assert read_json(result.stdout)["verdict"] == "inconclusive"
    assert not (tmp_path / "plan.jsonl").exists()


def test_a_run_that_is_not_in_one_local_file_has_no_plan(tmp_path: Path) -> None:
    write_tasks(tmp_path, "before", BEFORE)
    write_tasks(tmp_path, "after", AFTER)
    names = ("before.jsonl", "after.jsonl", *MARGIN)
    before, after = (f"{tmp_path.name}-{name}" for name in ("before", "after"))
    assert compared(*names, cwd=tmp_path)["verdict"] == "inconclusive"
    for path in ('["/shards/part1.jsonl","/shards/part2.jsonl"]', "s3://bucket/before.jsonl"):
        with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
            connection.execute("update runs set rollouts_path = ? where run_id = ?", [path, before])
        result = compare(before, after, *MARGIN, "--plan", "plan.jsonl", cwd=tmp_path)
        assert result.returncode == 2
        assert f"{before} is not in one local file" in result.stderr
        assert not (tmp_path / "plan.jsonl").exists()
