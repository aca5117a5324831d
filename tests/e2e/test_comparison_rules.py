"""What a comparison says of little, odd or unknown data, and when it gives a verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.comparisons import Run, Task, compare, rows_of, write_runs
from tests.support import Row


def run(run_id: str, rewards: dict[str, list[float]], **fields: Any) -> Run:
    return Run(run_id, [Task(name, values) for name, values in rewards.items()], **fields)


def same(count: int, *values: float) -> dict[str, list[float]]:
    return {f"t{index:03}": list(values) for index in range(count)}


def compared(
    folder: Path, *runs: Run, pairs: list[tuple[str, str]] | None = None, **settings: Any
) -> list[Row]:
    """The rows of the mean reward of all tasks."""
    path = folder / "warehouse.duckdb"
    write_runs(path, runs)
    compare(path, pairs or [(runs[0].run_id, runs[1].run_id)], **settings)
    return rows_of(path, "run_comparisons", "score = 'mean_reward' and slice_by = 'all'")


def test_one_task_has_a_difference_and_no_interval(tmp_path: Path) -> None:
    [row] = compared(tmp_path, run("a", {"t": [0.0, 0.0]}), run("b", {"t": [1.0, 1.0]}))
    assert row["difference"] == 1
    assert row["std_error"] is row["low"] is row["high"] is row["p_value"] is None
    assert row["interval_method"] is row["test"] is row["p_value_holm"] is None
    assert row["verdict"] == "inconclusive"


def test_two_tasks_have_one_degree_of_freedom(tmp_path: Path) -> None:
    first, second = {"t": [0.2, 0.4], "u": [0.5, 0.5]}, {"t": [0.3, 0.7], "u": [0.8, 0.8]}
    [row] = compared(tmp_path, run("a", first), run("b", second))
    interval = stats.ttest_1samp([0.2, 0.3], 0.0).confidence_interval()
    assert [row["low"], row["high"]] == pytest.approx(list(interval))
    assert (row["test"], row["p_value"]) == ("permutation", 0.5)


@pytest.mark.parametrize(
    ("count", "test", "p_value"),
    [(8, "permutation", 2 / 2**8), (20, "permutation", 1e-4), (40, "sign", 2.0**-39)],
)
def test_equal_differences_leave_room_for_tasks_unseen(
    count: int, test: str, p_value: float, tmp_path: Path
) -> None:
    """At most the share s of tasks differs otherwise, where (1 - s)^n is alpha / 2."""
    [row] = compared(tmp_path, run("a", same(count, 0.25, 0.25)), run("b", same(count, 0.5, 0.5)))
    unseen = 1 - 0.025 ** (1 / count)
    assert row["interval_method"] == "no_spread"
    assert row["std_error"] == 0
    assert row["low"] == pytest.approx(0.25 - unseen * 1.25)
    assert row["high"] == pytest.approx(0.25 + unseen * 0.75)
    assert row["test"] == test
    assert row["p_value"] == pytest.approx(p_value)
    assert row["verdict"] == ("better" if row["low"] > 0 else "inconclusive")


def test_repeats_that_all_agree_claim_no_certainty_about_these_tasks(tmp_path: Path) -> None:
    [row] = compared(
        tmp_path, run("a", same(5, 0.0, 0.0)), run("b", same(5, 1.0, 1.0)), is_fixed_suite=True
    )
    assert row["fixed_std_error"] == 0
    assert row["fixed_low"] == pytest.approx(1 - (1 - 0.025 ** (1 / 10)))
    assert row["fixed_p_value"] == 0
    assert row["verdict"] == "better"
    assert row["p_value"] == 2 / 2**5


def test_a_repeated_side_cannot_tell_the_noise_of_the_other(tmp_path: Path) -> None:
    first = {f"t{index}": [0.0, 1.0, float(index % 2)] for index in range(6)}
    second = {f"t{index}": [float(index % 3 > 0)] for index in range(6)}
    [row] = compared(tmp_path, run("a", first), run("b", second))
    assert row["fixed_std_error"] is row["fixed_low"] is row["repeats_needed"] is None
    assert row["noise_floor_std_error"] > 0
    assert row["interval_method"] == "t"


def test_a_task_with_one_rollout_takes_the_variance_of_the_others(tmp_path: Path) -> None:
    first = {"t": [0.0, 1.0], "u": [1.0]}
    [row] = compared(tmp_path, run("a", first), run("b", {"t": [1.0, 1.0], "u": [0.0, 1.0]}))
    noise = 0.5 / 2 + 0.5 + 0 + 0.5 / 2
    assert row["fixed_std_error"] == pytest.approx(noise**0.5 / 2)


def clustered(run_id: str, rewards: list[float], clusters: str) -> Run:
    tasks = [
        Task(f"t{index}", [reward, reward], slices={"source": clusters[index]})
        for index, reward in enumerate(rewards)
    ]
    return Run(run_id, tasks)


def test_clusters_of_one_task_are_tasks(tmp_path: Path) -> None:
    rewards = [0.1, 0.5, 0.2, 0.9]
    runs = clustered("a", [0.0] * 4, "wxyz"), clustered("b", rewards, "wxyz")
    [row] = compared(tmp_path, *runs, cluster_by="source")
    assert row["std_error"] == pytest.approx(stats.sem(rewards))
    assert row["interval_method"] == "cluster"
    assert row["p_value"] == pytest.approx(stats.ttest_1samp(rewards, 0.0).pvalue)


def test_one_cluster_has_no_interval(tmp_path: Path) -> None:
    runs = clustered("a", [0.0] * 4, "xxxx"), clustered("b", [0.1, 0.5, 0.2, 0.9], "xxxx")
    [row] = compared(tmp_path, *runs, cluster_by="source")
    assert row["cluster_count"] == 1
    assert row["std_error"] is row["low"] is row["p_value"] is None
    assert row["verdict"] == "inconclusive"


def test_clusters_whose_differences_cancel_have_no_spread(tmp_path: Path) -> None:
    """The sums are 0 but for rounding: that is not a tiny error."""
    rewards = [0.1, 0.5, 0.3, 0.2, 0.1, 0.6]
    runs = clustered("a", [0.0] * 6, "xxxyyy"), clustered("b", rewards, "xxxyyy")
    [row] = compared(tmp_path, *runs, cluster_by="source")
    assert row["std_error"] == 0
    assert (row["interval_method"], row["test"]) == ("no_spread", "sign")
    assert row["p_value"] == 0.5
    assert row["low"] == pytest.approx(0.3 - (1 - 0.025**0.5) * 1.3)


def test_an_unknown_cluster_field_gives_no_interval(tmp_path: Path) -> None:
    runs = clustered("a", [0.0] * 4, "wxyz"), clustered("b", [0.1, 0.5, 0.2, 0.9], "wxyz")
    [row] = compared(tmp_path, *runs, cluster_by="elsewhere")
    assert row["low"] is row["p_value"] is None
    assert row["verdict"] == "inconclusive"


def spread_runs(count: int = 40) -> tuple[Run, Run]:
    """A candidate that is better by about 0.3, with a small error."""
    first = {f"t{index:02}": [0.0, 0.0, 0.0, float(index % 2)] for index in range(count)}
    second = {f"t{index:02}": [0.0, 0.0, 1.0, 1.0] for index in range(count)}
    return run("a", first), run("b", second)


def test_a_verdict_must_survive_unknown_rollouts(tmp_path: Path) -> None:
    first, second = spread_runs()
    few = [replace(task, missing=2 * (index == 0)) for index, task in enumerate(second.tasks)]
    many = [replace(task, masked=16) for task in second.tasks]
    rows = compared(
        tmp_path,
        first,
        second,
        replace(second, run_id="c", tasks=few),
        replace(second, run_id="d", tasks=many),
        pairs=[("a", "b"), ("a", "c"), ("a", "d")],
    )
    assert [row["verdict"] for row in rows] == ["better", "better", "inconclusive"]
    assert {row["observed_verdict"] for row in rows} == {"better"}
    assert [row["unknown_rollout_count"] for row in rows] == [0, 2, 640]
    assert rows[0]["lowest_low"] is None
    assert rows[1]["lowest_low"] < rows[1]["low"]
    assert rows[2]["lowest_low"] < 0 < rows[2]["highest_high"]
    assert {row["low"] for row in rows} == {rows[0]["low"]}


def test_unknown_rollouts_have_the_lowest_and_the_highest_value(tmp_path: Path) -> None:
    first = run("a", {"t": [0.0, -2.0], "u": [1.0, 3.0], "v": [0.0, 0.0]})
    second = run("b", {"t": [1.0, 0.0], "u": [2.0, 3.0], "v": [1.0, 3.0]})
    tasks = [replace(second.tasks[0], unscored=1), *second.tasks[1:]]
    [row] = compared(tmp_path, first, replace(second, tasks=tasks))
    assert row["margin"] == pytest.approx(0.01 * 5)
    lowest = [(1 + 0 - 2) / 3 + 1, 0.5, 2.0]
    highest = [(1 + 0 + 3) / 3 + 1, 0.5, 2.0]
    t = stats.t.ppf(0.975, 2)
    width = row["high"] - row["difference"]
    bounds = [
        sum(lowest) / 3 - max(t * stats.sem(lowest), width),
        sum(highest) / 3 + max(t * stats.sem(highest), width),
    ]
    assert [row["lowest_low"], row["highest_high"]] == pytest.approx(bounds)


def test_whole_tasks_that_a_run_lost_are_unknown(tmp_path: Path) -> None:
    first, second = spread_runs()
    kept = second.tasks[:36]
    rows = compared(
        tmp_path,
        first,
        replace(second, run_id="lost", tasks=kept, dropped=4),
        replace(second, run_id="shorter", tasks=kept),
        pairs=[("a", "lost"), ("a", "shorter")],
    )
    assert [row["task_count"] for row in rows] == [36, 36]
    assert [row["baseline_only_task_count"] for row in rows] == [4, 4]
    assert [row["unknown_rollout_count"] for row in rows] == [4, 0]
    means = [sum(map(sum, (t.rewards for t in first.tasks[start:]))) for start in (0, 36)]
    lowest = (sum(0.5 * 4 for _ in kept) - means[0]) / 4 / 40
    assert rows[0]["lowest_low"] < lowest < rows[0]["difference"]


def test_tasks_without_a_score_are_listed_and_count_as_unknown(tmp_path: Path) -> None:
    first, second = spread_runs(10)
    tasks = [Task("t00", [], unscored=2, masked=2), *second.tasks[1:]]
    [row] = compared(tmp_path, first, replace(second, tasks=tasks))
    assert (row["task_count"], row["common_task_count"]) == (9, 10)
    assert row["unknown_rollout_count"] == 4
    [task] = rows_of(tmp_path / "warehouse.duckdb", "task_comparisons", "task_id = 't00'")
    assert task["change"] == "unscored"
    assert task["difference"] is task["rise_chance"] is None


def test_the_first_of_equal_tasks_is_compared_with_the_first(tmp_path: Path) -> None:
    twice = [Task("t", [0.0, 0.0]), Task("u", [1.0, 0.0]), Task("t", [1.0, 1.0])]
    once = [Task("t", [1.0, 0.0]), Task("u", [1.0, 1.0])]
    [row] = compared(tmp_path, Run("a", twice), Run("b", once))
    assert (row["common_task_count"], row["baseline_only_task_count"]) == (2, 1)
    assert row["difference"] == 0.5
    rows = rows_of(tmp_path / "warehouse.duckdb", "task_comparisons", "task_id = 't'")
    assert [(task["occurrence"], task["change"]) for task in rows] == [
        (1, "newly passing"),
        (2, "only in baseline"),
    ]


def test_huge_rewards_overflow_to_nothing(tmp_path: Path) -> None:
    first = {"t": [1e308, 1e308], "u": [0.0, 1.0], "v": [-1e308, -1e308]}
    second = {"t": [-1e308, -1e308], "u": [1.0, 1.0], "v": [1e308, 1e308]}
    [row] = compared(tmp_path, run("a", first), run("b", second))
    numbers = [value for value in row.values() if isinstance(value, float)]
    assert all(abs(value) < float("inf") for value in numbers)
    assert row["task_count"] == 1
    assert row["verdict"] == "inconclusive"


def test_agents_are_compared_with_their_namesakes(tmp_path: Path) -> None:
    first, second = spread_runs(10)
    runs = [replace(item, agent_name=agent) for item in (first, second) for agent in ("one", "two")]
    rows = compared(tmp_path, *runs, pairs=[("a", "b")])
    assert [(row["baseline_agent_name"], row["agent_name"]) for row in rows] == [
        ("one", "one"),
        ("two", "two"),
    ]
    assert rows[0]["family_size"] == 2


def test_a_lone_agent_may_have_another_name(tmp_path: Path) -> None:
    first, second = spread_runs(10)
    [row] = compared(tmp_path, first, replace(second, agent_name="renamed"))
    assert (row["baseline_agent_name"], row["agent_name"]) == ("agent_a", "renamed")


def test_a_pair_that_is_named_twice_is_compared_once(tmp_path: Path) -> None:
    rows = compared(tmp_path, *spread_runs(10), pairs=[("a", "b"), ("a", "b")])
    assert [row["family_size"] for row in rows] == [1]


def test_few_common_tasks_are_not_comparable(tmp_path: Path) -> None:
    first, second = spread_runs()
    some = replace(second, run_id="some", tasks=second.tasks[:31])
    enough = replace(second, run_id="enough", tasks=second.tasks[:32])
    pairs = [("a", "enough"), ("a", "some")]
    rows = compared(tmp_path, first, some, enough, pairs=pairs)
    assert [row["verdict"] for row in rows] == ["better", "not comparable"]
    assert [row["verdict_anyway"] for row in rows] == ["better", "better"]
    assert [row["obstacle"] for row in rows] == [None, "tasks"]


def test_clean_rates_may_differ_by_five_points(tmp_path: Path) -> None:
    first, second = spread_runs()
    near = replace(second, run_id="c", clean_ratio=0.95)
    far = replace(second, run_id="d", clean_ratio=0.94)
    rows = compared(tmp_path, first, near, far, pairs=[("a", "c"), ("a", "d")])
    assert [row["obstacle"] for row in rows] == [None, "clean_rates"]


def test_many_comparisons_need_a_smaller_p_value(tmp_path: Path) -> None:
    """Alone the candidate is better; beside forty that are equal the same p proves nothing."""
    rewards = [0.6] * 7 + [-0.4] * 1
    first = run("a", same(8, 0.0, 0.0))
    second = run("b", {f"t{index:03}": [value, value] for index, value in enumerate(rewards)})
    others = [replace(first, run_id=f"z{index:02}") for index in range(40)]
    rows = compared(tmp_path, first, second)
    assert rows[0]["p_value"] < 0.05
    assert rows[0]["verdict"] == "better"
    (tmp_path / "more").mkdir()
    pairs = [("a", item.run_id) for item in (second, *others)]
    rows = compared(tmp_path / "more", first, second, *others, pairs=pairs)
    assert rows[0]["p_value_holm"] == pytest.approx(min(1, 41 * rows[0]["p_value"]))
    assert rows[0]["verdict"] == "inconclusive"
    assert rows[0]["low"] > 0


def test_a_real_difference_within_the_margin_is_equivalence(tmp_path: Path) -> None:
    rows = compared(tmp_path, *spread_runs(), margin=0.5)
    assert rows[0]["low"] > 0
    assert rows[0]["verdict"] == "equivalent"


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.5, 0.9])
def test_quantiles_hold_for_any_alpha_and_number_of_tasks(alpha: float, tmp_path: Path) -> None:
    runs, pairs = [], []
    for count in (2, 3, 4, 7, 13, 31, 100, 1003, 3000):
        rewards = [(index * 37 % 101) / 101 + 0.001 * index for index in range(count)]
        for name, factor in (("a", 1), ("b", 2)):
            tasks = [Task(f"{count}:{i}", [factor * value]) for i, value in enumerate(rewards)]
            runs.append(Run(f"{count}{name}", tasks))
        pairs.append((f"{count}a", f"{count}b"))
    rows = compared(tmp_path, *runs, pairs=pairs, alpha=alpha)
    assert len(rows) == len(pairs)
    for row in rows:
        t = stats.t.ppf(1 - alpha / 2, row["task_count"] - 1)
        width = (row["high"] - row["low"]) / 2
        assert width == pytest.approx(t * row["std_error"], rel=1e-9)


def test_slices_are_those_of_either_run(tmp_path: Path) -> None:
    """The baseline's value counts; a run that was profiled without the field takes the other's."""

    def sliced(run_id: str, slices: list[dict[str, str]]) -> Run:
        return Run(run_id, [Task(f"t{i}", [0.0, 1.0], slices=s) for i, s in enumerate(slices)])

    first = sliced("a", [{"level": "easy"}, {"level": "hard"}])
    second = sliced("b", [{"level": "hard", "kind": "x"}, {"level": "hard", "kind": "y"}])
    compared(tmp_path, first, second)
    rows = rows_of(tmp_path / "warehouse.duckdb", "run_comparisons", "score = 'pass_rate'")
    found = {(row["slice_by"], row["slice_value"]): row["task_count"] for row in rows}
    assert found == {
        ("all", "all"): 2,
        ("level", "easy"): 1,
        ("level", "hard"): 1,
        ("kind", "x"): 1,
        ("kind", "y"): 1,
    }
