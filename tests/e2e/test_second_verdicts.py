"""`spotter compare` of runs with the same rollouts: how far two verdicts on each of them agree."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.compared_runs import compare, compared
from tests.comparisons import Run, Task, insert_mart_rows, rows_of, write_runs
from tests.comparisons import compare as compare_marts
from tests.pages import app_of, get
from tests.programs import run_command
from tests.responses import response, says
from tests.restored_folders import RestoredFolder
from tests.support import Row, key, run_profile, write_run

EXACT = 1e-9


@dataclass(frozen=True)
class Case:
    """The rewards of the same rollouts by two verifiers, task by task."""

    name: str
    before: list[list[float]]
    after: list[list[float]]

    @property
    def ids(self) -> tuple[str, str]:
        return f"{self.name}-old", f"{self.name}-new"


def random_case(seed: int) -> Case:
    """Verifiers that mostly agree, never, always, or only about some tasks."""
    rng = np.random.default_rng(seed)
    tasks, flip = (2, 5, 12, 60, 120)[seed % 5], (0.05, 0.3, 0.0, 0.9)[seed % 4]
    before, after = [], []
    for _ in range(tasks):
        count = int(rng.integers(1, 6))
        old = rng.integers(0, 2, count).astype(float)
        moved = rng.random(count) < flip * rng.integers(0, 2)
        before.append(list(map(float, old)))
        after.append(
            [float(1 - one) if move else float(one) for one, move in zip(old, moved, strict=True)]
        )
    return Case(f"case-{seed}", before, after)


def write_cases(path: Path, cases: Sequence[Case]) -> None:
    """Create a warehouse in which the second run of each case was made from the first."""
    runs = [
        Run(run_id, [Task(f"{case.name}:{index}", task) for index, task in enumerate(rewards)])
        for case in cases
        for run_id, rewards in zip(case.ids, (case.before, case.after), strict=True)
    ]
    write_runs(path, runs)
    infos = [
        {
            "run_id": run.run_id,
            "agent_name": run.agent_name,
            "task_index": task,
            "rollout_index": index,
            "reward": reward,
            "response_hash": f"{task}-{index}",
        }
        for run in runs
        for task, one in enumerate(run.tasks)
        for index, reward in enumerate(one.rewards)
    ]
    with duckdb.connect(str(path)) as connection:
        insert_mart_rows(connection, "rollout_infos", pd.DataFrame(infos))
        connection.execute("update runs set pass_threshold = 1, rollouts_path = run_id")
        connection.execute(
            "update runs set origin_rollouts_path = replace(run_id, '-new', '-old')"
            " where run_id like '%-new'"
        )


def expected(case: Case) -> Row:
    """Return the figures as numpy and scipy give them."""
    nets = [sum(b) - sum(a) for a, b in zip(case.before, case.after, strict=True)]
    sizes = [len(task) for task in case.before]
    old, new = (np.concatenate(rewards) for rewards in (case.before, case.after))
    count, tasks = len(old), len(nets)
    agreement = float(np.mean(old == new))
    chance = float(np.mean(old) * np.mean(new) + (1 - np.mean(old)) * (1 - np.mean(new)))
    difference = float(np.mean(new) - np.mean(old))
    residuals = np.array(nets) - np.array(sizes) * difference
    error = math.sqrt(tasks / (tasks - 1) * float(residuals @ residuals)) / count
    rising, falling = sum(net > 0 for net in nets), sum(net < 0 for net in nets)
    squares = sum(net**2 for net in nets)
    chi_square = (tasks - 1) / tasks * sum(nets) ** 2 / squares if squares else None
    is_exact = rising + falling < 25
    width = float(stats.t.ppf(0.975, tasks - 1)) * error
    unseen = 1 - 0.025 ** (1 / tasks)
    spread = error > 1e-12
    changed = max(rising + falling, 1)
    sign = float(stats.binomtest(rising, changed).pvalue) if rising + falling else 1.0
    return {
        "rollout_count": count,
        "task_count": tasks,
        "fail_to_pass_count": int(np.sum(new > old)),
        "pass_to_fail_count": int(np.sum(new < old)),
        "both_pass_count": int(np.sum((new == 1) & (old == 1))),
        "both_fail_count": int(np.sum((new == 0) & (old == 0))),
        "agreement_ratio": agreement,
        "kappa": (agreement - chance) / (1 - chance) if chance < 1 else None,
        "difference": difference,
        "std_error": error if spread else 0.0,
        "low": difference - (width if spread else unseen * (1 + difference)),
        "high": difference + (width if spread else unseen * (1 - difference)),
        "rising_task_count": rising,
        "falling_task_count": falling,
        "chi_square": chi_square,
        "test": "sign" if is_exact else "clustered_mcnemar",
        "p_value": sign if is_exact else float(stats.chi2.sf(chi_square or 0.0, 1)),
        "changed_response_rollout_count": 0,
    }


def test_every_figure_agrees_with_numpy_and_scipy(tmp_path: Path) -> None:
    cases = [random_case(seed) for seed in range(40)]
    path = tmp_path / "warehouse.duckdb"
    write_cases(path, cases)
    compare_marts(path, [case.ids for case in cases])
    rows = {row["run_id"]: row for row in rows_of(path, "verdict_comparisons")}
    assert len(rows) == len(cases)
    kinds = set()
    for case in cases:
        wanted, row = expected(case), rows[case.ids[1]]
        kinds.add(wanted["test"])
        for name, value in wanted.items():
            exact = (
                value
                if value is None or isinstance(value, str)
                else pytest.approx(value, abs=EXACT)
            )
            assert row[name] == exact, (case.name, name)
    assert kinds == {"sign", "clustered_mcnemar"}
    changes = rows_of(path, "verdict_changes", f"run_id = '{cases[1].ids[1]}'")
    flips = rows[cases[1].ids[1]]
    assert len(changes) == flips["fail_to_pass_count"] + flips["pass_to_fail_count"]


def test_the_test_counts_tasks_and_not_rollouts(tmp_path: Path) -> None:
    """One task whose 60 rollouts all flip says less than 30 tasks of two rollouts each."""
    one = Case("one", [[0.0] * 60, *[[1.0, 1.0]] * 29], [[1.0] * 60, *[[1.0, 1.0]] * 29])
    many = Case("many", [[0.0, 0.0]] * 30, [[1.0, 1.0]] * 30)
    path = tmp_path / "warehouse.duckdb"
    write_cases(path, [one, many])
    compare_marts(path, [one.ids, many.ids])
    p_values = {row["run_id"]: row["p_value"] for row in rows_of(path, "verdict_comparisons")}
    assert p_values["one-new"] == 1.0
    assert p_values["many-new"] < 1e-6


def write_pair(folder: Path, after: Sequence[Sequence[float]] = ((1, 0), (0, 1), (0.5, 0))) -> None:
    """Write a run of three tasks, and one with other verdicts on its rollouts, with its record."""
    before = [(1, 1), (0, 0), (0, 0)]
    for name, rewards in (("old", before), ("new", after)):
        rows = [
            key(
                task,
                index,
                reward=reward,
                responses_create_params={"input": f"question {task}"},
                **response(says(f"answer {task}:{index}")),
            )
            for task, values in enumerate(rewards)
            for index, reward in enumerate(values)
        ]
        inputs = [
            {name: value for name, value in row.items() if name not in ("reward", "response")}
            for row in rows
        ]
        write_run(folder, rows, inputs=inputs, name=name)
    write_origin(folder)


def write_origin(folder: Path, name: str = "new", **origin: object) -> None:
    rollouts = {"path": str(folder / "old.jsonl"), "sha256": "0" * 64}
    record = {"origin": {"rollouts": rollouts, **origin}}
    (folder / f"{name}_run.json").write_text(json.dumps(record), encoding="utf-8")


@pytest.fixture(scope="module")
def profiled_once(tmp_path_factory: pytest.TempPathFactory) -> RestoredFolder:
    folder = tmp_path_factory.mktemp("verdicts") / "runs"
    folder.mkdir()
    write_pair(folder)
    result = run_profile("old.jsonl", "new.jsonl", "--no-files", cwd=folder)
    assert result.returncode == 0, result.stderr
    return RestoredFolder(folder)


@pytest.fixture
def pair(profiled_once: RestoredFolder) -> Path:
    """A folder with two verdicts on the same rollouts, and their warehouse."""
    return profiled_once.restore()


def test_the_two_verdicts_lead_and_nothing_claims_independent_runs(pair: Path) -> None:
    data = compared("old.jsonl", "new.jsonl", cwd=pair)
    both = data["verdict_comparison"]
    assert (both["fail_to_pass_count"], both["pass_to_fail_count"]) == (1, 1)
    assert both["agreement_ratio"] == pytest.approx(4 / 6)
    assert both["kappa"] == pytest.approx((4 / 6 - 5 / 9) / (4 / 9))
    ranked = [
        (row["task_index"], row["rollout_index"], row["change"]) for row in data["verdict_changes"]
    ]
    assert ranked == [(0, 1, "pass to fail"), (1, 1, "fail to pass"), (2, 0, "reward only")]
    assert "two verdicts on the same 6 rollouts: 66.7 % agree, kappa 0.250" in data["sentence"]
    primary = data["primary"]
    assert primary["is_same_rollouts"]
    for name in ("fixed_low", "noise_floor_std_error", "unpaired_std_error", "gym_welch_low"):
        assert primary[name] is None, name
    assert primary["repeats_needed"] is None
    assert all(row["moved_chance"] is None for row in data["tasks"])
    assert primary["low"] is not None  # tasks are still compared in pairs
    shown = compare("old.jsonl", "new.jsonl", cwd=pair).stdout
    assert "passed before         1         1" in shown
    assert "0:1      pass to fail          1.000       0.000" in shown
    assert "these tasks again" not in shown
    assert "Effort" not in shown
    table = compare("old.jsonl", "new.jsonl", "--markdown", cwd=pair).stdout
    assert "| 0:1 | pass to fail | 1.000 | 0.000 |" in table
    fixed = compare("old.jsonl", "new.jsonl", "--fixed-suite", cwd=pair).stdout
    assert "leave out --fixed-suite" in fixed


def test_independent_runs_have_no_second_verdicts(workspace: Path) -> None:
    write_pair(workspace)
    (workspace / "new_run.json").unlink()
    data = compared("old.jsonl", "new.jsonl", cwd=workspace)
    assert data["verdict_comparison"] is None
    assert data["verdict_changes"] == []
    assert not data["primary"]["is_same_rollouts"]
    assert data["primary"]["fixed_low"] is not None


def test_two_runs_made_from_a_third_have_the_same_rollouts(workspace: Path) -> None:
    write_pair(workspace)
    shutil.copy(workspace / "new.jsonl", workspace / "third.jsonl")
    for suffix in ("_materialized_inputs.jsonl", "_run.json"):
        shutil.copy(workspace / f"new{suffix}", workspace / f"third{suffix}")
    data = compared("new.jsonl", "third.jsonl", cwd=workspace)
    assert data["verdict_comparison"]["agreement_ratio"] == 1.0
    assert data["verdict_changes"] == []


def test_a_moved_folder_is_still_recognized(workspace: Path) -> None:
    (workspace / "here").mkdir()
    write_pair(workspace / "here")
    (workspace / "here").rename(workspace / "there")
    data = compared("there/old.jsonl", "there/new.jsonl", cwd=workspace)
    assert data["verdict_comparison"]["rollout_count"] == 6


def test_rollouts_with_other_responses_are_left_out_and_told(workspace: Path) -> None:
    write_pair(workspace)
    new = workspace / "new.jsonl"
    text = new.read_text(encoding="utf-8").replace("answer 0:1", "another answer")
    new.write_text(text, encoding="utf-8")
    data = compared("old.jsonl", "new.jsonl", cwd=workspace)
    assert data["verdict_comparison"]["rollout_count"] == 5
    assert data["verdict_comparison"]["changed_response_rollout_count"] == 1
    assert any("1 rollout with different responses" in text for text in data["explanations"])


def test_how_a_run_was_verified_is_told(workspace: Path) -> None:
    write_pair(workspace)
    write_origin(workspace, is_unsafe=True, judge_failed_only=True)
    texts = " ".join(compared("old.jsonl", "new.jsonl", cwd=workspace)["explanations"])
    assert "was verified by force" in texts
    assert "only rollouts whose judge had failed were verified again" in texts


def test_the_compare_page_links_to_the_rollouts_to_look_at(pair: Path) -> None:
    from collector.viewer.pages import compare as page

    assert compare("old.jsonl", "new.jsonl", cwd=pair).returncode == 0
    ids = [row["run_id"] for row in rows_of(pair / "warehouse.duckdb", "runs")]
    old, new = sorted(ids, reverse=True)
    html = get(app_of(pair / "warehouse.duckdb", page.ROUTES), f"/compare?a={old}&b={new}").text
    assert "B and A have two verdicts on the same 6 rollouts: 66.7 % agree" in html
    assert f'href="/rollout?run={old}&amp;task=0&amp;rollout=1"' in html
    assert f'href="/rollout?run={new}&amp;task=0&amp;rollout=1"' in html
    assert "from verdict_changes" in html.replace("\n", " ")
    report = run_command("spotter", "report", old, new, "-o", "report.html", cwd=pair)
    assert report.returncode == 0, report.stderr
    assert "Two verdicts on the same rollouts" in (pair / "report.html").read_text(encoding="utf-8")
