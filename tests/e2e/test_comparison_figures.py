"""Every figure of a comparison agrees with numpy and scipy, on hundreds of random pairs of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from scipy import stats

from tests import reference_comparisons as reference
from tests.comparisons import Run, Task, compare, rows_of, write_runs
from tests.support import Row

Rewards = list[list[float]]
EXACT = 1e-9
SIZES = (2, 3, 5, 9, 14, 15, 23, 29, 30, 47)


@dataclass(frozen=True)
class Case:
    """Two runs over the same tasks, complete and with one agent."""

    name: str
    baseline: Rewards
    candidate: Rewards
    clusters: Sequence[str]
    tokens: Sequence[tuple[float, float]]

    @property
    def differences(self) -> reference.Values:
        return np.array(
            [np.mean(b) - np.mean(a) for a, b in zip(self.baseline, self.candidate, strict=True)]
        )

    @property
    def pair(self) -> tuple[str, str]:
        return f"{self.name}-a", f"{self.name}-b"

    def runs(self) -> list[Run]:
        return [
            Run(
                run_id,
                [
                    Task(
                        f"{self.name}:{index:03}",
                        rollouts,
                        slices={"source": self.clusters[index]},
                        efforts={"total_tokens_mean": self.tokens[index][side]},
                    )
                    for index, rollouts in enumerate(rewards)
                ],
                repeat_means=repeat_means(rewards),
            )
            for side, (run_id, rewards) in enumerate(
                zip(self.pair, (self.baseline, self.candidate), strict=True)
            )
        ]


def repeat_means(rewards: Rewards) -> list[float]:
    repeats = min(len(task) for task in rewards)
    return [float(np.mean([task[index] for task in rewards])) for index in range(repeats)]


def random_case(seed: int) -> Case:
    """Shares, rewards of any size and single rollouts, with equal and unequal repeats."""
    rng = np.random.default_rng(seed)
    count = SIZES[seed % len(SIZES)]
    kind = ("single", "share", "reward", "mixed")[seed // len(SIZES) % 4]
    rates = rng.beta(0.7, 0.7, count)
    moved = np.clip(rates + rng.normal(0.1, 0.3, count), 0, 1)

    def rollouts(chances: reference.Values, repeats: int) -> Rewards:
        sizes = rng.integers(1, repeats + 1, count) if kind == "mixed" else [repeats] * count
        if kind == "reward":
            return [
                list(rng.normal(40 * p - 20, 3, n)) for p, n in zip(chances, sizes, strict=True)
            ]
        return [list(map(float, rng.random(n) < p)) for p, n in zip(chances, sizes, strict=True)]

    repeats = [1, 1] if kind == "single" else [int(k) for k in rng.integers(2, 7, 2)]
    return Case(
        f"case{seed:03}",
        rollouts(rates, repeats[0]),
        rollouts(moved, repeats[1]),
        [f"s{rng.integers(0, max(2, count // 3))}" for _ in range(count)],
        [(float(a), float(b)) for a, b in rng.lognormal(6, 1, (count, 2))],
    )


CASES = [random_case(seed) for seed in range(240)]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figures") / "warehouse.duckdb"
    write_runs(path, [run for case in CASES for run in case.runs()])
    compare(path, [case.pair for case in CASES], alpha=0.1)
    return path


@pytest.fixture(scope="module")
def compared(warehouse: Path) -> dict[str, Row]:
    rows = rows_of(warehouse, "run_comparisons", "score = 'mean_reward' and slice_by = 'all'")
    assert len(rows) == len(CASES)
    return {row["baseline_run_id"].removesuffix("-a"): row for row in rows}


def test_t_intervals_and_p_values_are_scipys(compared: dict[str, Row]) -> None:
    seen = 0
    for case in CASES:
        row = compared[case.name]
        differences = case.differences
        assert row["difference"] == pytest.approx(differences.mean(), abs=1e-12)
        if row["interval_method"] == "t":
            low, high, p_value = reference.t_test(differences, 0.1)
            assert [row["low"], row["high"]] == pytest.approx([low, high], rel=EXACT)
            assert row["std_error"] == pytest.approx(stats.sem(differences), rel=EXACT)
            if row["test"] == "t":
                seen += 1
                assert row["p_value"] == pytest.approx(p_value, rel=EXACT)
    assert seen > 20


def test_permutation_tests_agree_with_an_enumeration(compared: dict[str, Row]) -> None:
    rows = [(case, compared[case.name]) for case in CASES]
    tested = [(case, row) for case, row in rows if row["test"] == "permutation"]
    assert {row["task_count"] for _, row in tested} >= {2, 5, 14, 15, 29}
    for case, row in tested:
        assert row["p_value"] == pytest.approx(reference.permutation(case.differences), abs=1e-12)


def test_few_tasks_agree_with_scipys_permutation_test(compared: dict[str, Row]) -> None:
    for case in CASES:
        row = compared[case.name]
        if row["test"] == "permutation" and row["task_count"] <= 9:
            result = stats.permutation_test(
                (case.differences,), np.mean, permutation_type="samples", n_resamples=1024
            )
            assert row["p_value"] == pytest.approx(result.pvalue, rel=EXACT)


def test_single_rollouts_agree_with_mcnemar_and_newcombe(compared: dict[str, Row]) -> None:
    tested = 0
    for case in CASES:
        row = compared[case.name]
        if row["interval_method"] != "newcombe":
            assert row["test"] != "mcnemar"
            continue
        tested += 1
        a, b = (np.ravel(rewards).astype(int) for rewards in (case.baseline, case.candidate))
        lost, gained = int(np.sum(a > b)), int(np.sum(a < b))
        exact, mid = reference.mcnemar(lost, gained)
        assert [row["p_value"], row["mid_p_value"]] == pytest.approx([exact, mid], rel=EXACT)
        both, neither = int(np.sum(a & b)), int(np.sum((1 - a) * (1 - b)))
        bounds = reference.newcombe(both, lost, gained, neither, 0.1)
        assert [row["low"], row["high"]] == pytest.approx(bounds, abs=EXACT)
    assert tested >= 60


def test_noise_on_the_same_tasks_comes_from_the_repeats(compared: dict[str, Row]) -> None:
    tested = 0
    for case in CASES:
        row = compared[case.name]
        sums = [reference.noise_sum(rewards) for rewards in (case.baseline, case.candidate)]
        if None in sums:
            assert row["fixed_std_error"] is row["fixed_low"] is row["fixed_p_value"] is None
            continue
        first, second = cast("list[float]", sums)
        error = math.sqrt(first + second) / len(case.baseline)
        floor = math.sqrt(2 * first) / len(case.baseline)
        assert row["fixed_std_error"] == pytest.approx(error, rel=EXACT)
        assert row["noise_floor_std_error"] == pytest.approx(floor, rel=EXACT)
        if error > 0:
            tested += 1
            width = stats.norm.ppf(0.95) * error
            bounds = [row["difference"] - width, row["difference"] + width]
            assert [row["fixed_low"], row["fixed_high"]] == pytest.approx(bounds, rel=EXACT)
            p_value = reference.normal_p(row["difference"], error)
            assert row["fixed_p_value"] == pytest.approx(p_value, rel=EXACT)
    assert tested > 100


def test_adjusted_p_values_are_holms(warehouse: Path) -> None:
    for score in ("mean_reward", "pass_rate"):
        for slice_by in ("all", "source"):
            rows = rows_of(
                warehouse,
                "run_comparisons",
                f"score = '{score}' and slice_by = '{slice_by}' and p_value is not null",
            )
            expected = reference.holm([row["p_value"] for row in rows])
            assert [row["p_value_holm"] for row in rows] == pytest.approx(expected, rel=1e-12)
            assert {row["family_size"] for row in rows} == {len(rows)}


def test_what_a_comparison_can_detect_follows_from_its_error(compared: dict[str, Row]) -> None:
    for row in compared.values():
        if not row["std_error"]:
            assert row["detectable_difference"] is None
            continue
        difference = reference.detectable(row["std_error"], 0.1)
        assert row["detectable_difference"] == pytest.approx(difference, rel=EXACT)
        needed = row["task_count"] * (difference / row["margin"]) ** 2
        assert row["tasks_needed"] == max(row["task_count"], math.ceil(needed - 1e-6))


def test_enough_repeats_would_make_the_margin_detectable(compared: dict[str, Row]) -> None:
    """With k repeats the error is √((between + (s²_A + s²_B) / k) / N)."""
    seen = 0
    for case in CASES:
        row = compared[case.name]
        if case.name.endswith(("3", "7")) and row["repeats_needed"] is not None:
            seen += 1
            spread = [
                float(np.mean([np.var(task, ddof=1) for task in side if len(task) > 1]))
                for side in (case.baseline, case.candidate)
            ]
            within = row["fixed_std_error"] ** 2 * row["task_count"]
            between = max(0.0, row["std_error"] ** 2 * row["task_count"] - within)
            error = math.sqrt((between + sum(spread) / row["repeats_needed"]) / row["task_count"])
            assert reference.detectable(error, 0.1) <= row["margin"] * (1 + 1e-9)
    assert seen


def test_the_reference_intervals_are_welchs_and_unpaired(compared: dict[str, Row]) -> None:
    for case in CASES:
        row = compared[case.name]
        repeats = [repeat_means(rewards) for rewards in (case.baseline, case.candidate)]
        if min(map(len, repeats)) > 1 and min(map(np.ptp, repeats)) > 1e-9:
            bounds = reference.welch(repeats[0], repeats[1], 0.1)
            found = [row["gym_welch_low"], row["gym_welch_high"]]
            assert found == pytest.approx(bounds, rel=EXACT, abs=1e-12)
        means = [[np.mean(task) for task in rewards] for rewards in (case.baseline, case.candidate)]
        error = math.hypot(*(float(stats.sem(side)) for side in means))
        assert row["unpaired_std_error"] == pytest.approx(error, rel=EXACT, abs=1e-12)


def test_efforts_are_paired_by_task(warehouse: Path) -> None:
    rows = rows_of(warehouse, "effort_comparisons", "measure = 'total_tokens'")
    found = {(row["baseline_run_id"].removesuffix("-a"), row["unit"]): row for row in rows}
    for case in CASES:
        tokens = np.array(case.tokens)
        row = found[case.name, "rollout"]
        low, high, _ = reference.t_test(tokens[:, 1] - tokens[:, 0], 0.1)
        assert [row["low"], row["high"]] == pytest.approx([low, high], rel=EXACT)
        ratios = reference.log_interval(tokens[:, 1] / tokens[:, 0], 0.1)
        keys = ("ratio", "ratio_low", "ratio_high")
        assert [row[name] for name in keys] == pytest.approx(ratios, rel=EXACT)


def test_efforts_per_pass_are_ratios_of_totals(warehouse: Path) -> None:
    rows = rows_of(warehouse, "effort_comparisons", "unit = 'pass'")
    found = {row["baseline_run_id"].removesuffix("-a"): row for row in rows}
    assert len(found) > 100
    for case in CASES:
        sides = []
        for side, rewards in enumerate((case.baseline, case.candidate)):
            effort = np.array([len(t) * case.tokens[i][side] for i, t in enumerate(rewards)])
            passes = np.array([sum(reward >= 1 for reward in task) for task in rewards])
            sides.append((effort, passes))
        if not all(passes.any() for _, passes in sides):
            assert case.name not in found
            continue
        row = found[case.name]
        values = [effort.sum() / passes.sum() for effort, passes in sides]
        assert [row["baseline_value"], row["value"]] == pytest.approx(values, rel=EXACT)
        moves = [effort / effort.mean() - passes / passes.mean() for effort, passes in sides]
        low, high, _ = reference.t_test(moves[1] - moves[0], 0.1)
        ratio = values[1] / values[0]
        bounds = [ratio * math.exp(low), ratio * math.exp(high)]
        assert [row["ratio_low"], row["ratio_high"]] == pytest.approx(bounds, rel=1e-8)


def test_chances_that_a_pass_rate_rose_are_those_of_two_posteriors(warehouse: Path) -> None:
    rows = rows_of(warehouse, "task_comparisons")
    seen = {}
    for row in rows:
        counts = tuple(
            (
                round(row[f"{side}pass_ratio"] * row[f"{side}rollout_count"]),
                row[f"{side}rollout_count"],
            )
            for side in ("baseline_", "")
        )
        seen[counts] = row
    assert len(seen) > 100
    for ((passes, rollouts), (later, later_rollouts)), row in seen.items():
        chance = reference.rise_chance((passes, rollouts - passes), (later, later_rollouts - later))
        assert row["rise_chance"] == pytest.approx(chance, abs=EXACT)
        assert row["moved_chance"] == max(row["rise_chance"], 1 - row["rise_chance"])


@pytest.fixture(scope="module")
def clustered(warehouse: Path) -> dict[str, Row]:
    compare(warehouse, [case.pair for case in CASES[-80:]], alpha=0.02, cluster_by="source")
    rows = rows_of(warehouse, "run_comparisons", "score = 'mean_reward' and slice_by = 'all'")
    return {row["baseline_run_id"].removesuffix("-a"): row for row in rows if row["cluster_by"]}


def test_clusters_add_up_before_they_are_squared(clustered: dict[str, Row]) -> None:
    tested = 0
    for case in CASES[-80:]:
        row = clustered[case.name]
        clusters = len(set(case.clusters))
        assert row["cluster_count"] == clusters
        if row["interval_method"] == "cluster":
            tested += 1
            error = reference.cluster_error(case.differences, case.clusters)
            assert row["std_error"] == pytest.approx(error, rel=EXACT)
            width = stats.t.ppf(0.99, clusters - 1) * error
            bounds = [row["difference"] - width, row["difference"] + width]
            assert [row["low"], row["high"]] == pytest.approx(bounds, rel=EXACT)
            p_value = 2 * stats.t.sf(abs(row["difference"]) / error, clusters - 1)
            assert row["p_value"] == pytest.approx(p_value, rel=EXACT)
        elif clusters < 2:
            assert row["interval_method"] is row["p_value"] is None
            assert row["verdict"] == "inconclusive"
    assert tested > 40


def test_exchanged_runs_change_signs_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    chosen = CASES[::5]
    write_runs(path, [run for case in chosen for run in case.runs()])
    compare(path, [case.pair for case in chosen])
    forward = rows_of(path, "run_comparisons")
    compare(path, [(case.pair[1], case.pair[0]) for case in chosen])
    names = {case.pair for case in chosen}
    every = rows_of(path, "run_comparisons")
    backward = [row for row in every if (row["baseline_run_id"], row["run_id"]) not in names]
    keys = ("score", "slice_by", "slice_value")
    other = {(row["run_id"], *(row[key] for key in keys)): row for row in backward}
    for row in forward:
        expected = other[(row["baseline_run_id"], *(row[key] for key in keys))]
        found = exchanged(row)
        assert found.keys() == expected.keys()
        for name, value in found.items():
            if name in ("noise_floor_std_error", "compared_at"):
                continue  # the noise of the baseline; the time
            if isinstance(value, float):
                assert value == pytest.approx(expected[name], rel=1e-15, abs=1e-15), name
            else:
                assert value == expected[name], name


def exchanged(row: Row) -> Row:
    """What the row says if baseline and candidate change places."""
    other = dict(row)
    for name in row:
        if f"baseline_{name}" in row:
            other[name], other[f"baseline_{name}"] = row[f"baseline_{name}"], row[name]
    for low, high in (
        ("low", "high"),
        ("fixed_low", "fixed_high"),
        ("gym_welch_low", "gym_welch_high"),
        ("lowest_low", "highest_high"),
    ):
        other[low], other[high] = negated(row[high]), negated(row[low])
    other["difference"] = -row["difference"]
    only = ("baseline_only_task_count", "candidate_only_task_count")
    other[only[0]], other[only[1]] = row[only[1]], row[only[0]]
    swap = {"better": "worse", "worse": "better"}
    for name in ("verdict", "verdict_anyway", "observed_verdict"):
        other[name] = swap.get(row[name], row[name])
    return other


def negated(value: float | None) -> float | None:
    return None if value is None else -value


def test_a_run_is_never_better_or_worse_than_itself(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    chosen = CASES[::3]
    write_runs(path, [case.runs()[0] for case in chosen])
    compare(path, [(case.pair[0], case.pair[0]) for case in chosen])
    compare(path, [(case.pair[0], case.pair[0]) for case in chosen[:40]], is_fixed_suite=True)
    rows = rows_of(path, "run_comparisons")
    assert len({row["run_id"] for row in rows}) == len(chosen)
    for row in rows:
        assert row["difference"] == 0
        assert row["p_value"] in (1, None)
        assert row["verdict"] in ("equivalent", "inconclusive")
        if row["low"] is not None:
            assert row["low"] < 0 < row["high"]


def test_the_order_of_tasks_and_other_tasks_change_nothing(tmp_path: Path) -> None:
    """Shuffled runs have other indices; what the other run lacks is left out."""
    rng = np.random.default_rng(5)
    chosen = CASES[7::12]
    runs, pairs = [], []
    for case in chosen:
        first, second = case.runs()
        order = rng.permutation(len(first.tasks))
        extra = [Task(f"extra{index}", [0.0, 1.0]) for index in range(len(order) // 10)]
        shuffled = replace(first, run_id=f"{first.run_id}!", tasks=[first.tasks[i] for i in order])
        widened = replace(second, run_id=f"{second.run_id}!", tasks=[*extra, *second.tasks])
        runs += [first, second, shuffled, widened]
        pairs += [(first.run_id, second.run_id), (shuffled.run_id, widened.run_id)]
    path = tmp_path / "warehouse.duckdb"
    write_runs(path, runs)
    compare(path, pairs)
    rows = rows_of(path, "run_comparisons")
    keys = ("run_id", "score", "slice_by", "slice_value")
    same = (
        "difference",
        "std_error",
        "low",
        "high",
        "p_value",
        "fixed_low",
        "fixed_p_value",
        "test",
    )
    known = {tuple(row[key] for key in keys): row for row in rows}
    seen = 0
    for row in rows:
        twin = known.get((f"{row['run_id']}!", *(row[key] for key in keys[1:])))
        if twin is not None:
            seen += 1
            assert [row[name] for name in same] == [twin[name] for name in same]
    assert seen > 50
