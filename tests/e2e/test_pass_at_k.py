"""pass@k and its kin: NeMo Gym's own figures, and what holds for any rewards."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from tests.random_runs import GRADES, coin, one_of
from tests.reference import Figures
from tests.support import ROOT, Profiled, Row, inputs_of, profile_agents, run_profile, write_run

GOLDEN = sorted((ROOT / "tests" / "fixtures" / "pass_at_k").iterdir())


@pytest.fixture(scope="module")
def golden_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All golden cases, profiled in one batch."""
    folder = tmp_path_factory.mktemp("golden")
    for case in GOLDEN:
        lines = (case / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        write_run(folder, rows, inputs=inputs_of(rows), name=case.name)
    result = run_profile(folder, "--slice-by", "category", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder


def gym_names(row: Row) -> Figures:
    """The gym's columns of a row, under the names NeMo Gym gives them."""
    k = row["k"]
    figures: Figures = {}
    for score, prefix in (("accuracy", "gym_"), ("no_answer", "gym_no_answer_")):
        names = {
            f"pass@{k}/{score}": "pass_at_k",
            f"pass@1[avg-of-{k}]/{score}": "avg_of_k",
            f"majority@{k}/{score}": "majority_at_k",
            f"per_sample_aggregate/{score}/{k}": "run_average",
        }
        for column in ("std_dev_across_runs", "std_err_across_runs", "avg_sample_std_dev"):
            names[f"pass@1[avg-of-{k}]/{score}/{column}"] = column
        figures |= {name: row[prefix + column] for name, column in names.items()}
    return figures


def flat_metrics(metrics: Row) -> Figures:
    """The metrics of a golden case, with the lists of run averages taken apart."""
    lists = metrics["per_sample_aggregate"]
    flat = {name: value for name, value in metrics.items() if name != "per_sample_aggregate"}
    for score, averages in lists.items():
        for index, average in enumerate(averages):
            flat[f"per_sample_aggregate/{score}/{index + 1}"] = average
    return flat


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_the_gyms_figures_equal_nemo_gyms(case: Path, golden_folder: Path) -> None:
    run = Profiled(golden_folder / f"{case.name}.jsonl")
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    rows = run.table(
        "select pass_at_k.* from pass_at_k inner join runs using (run_id)"
        f" where rollouts_path like '%/{case.name}.jsonl' order by k",
    )
    overall: Figures = {}
    subsets: Figures = {}
    headline: Figures = {}
    for row in rows:
        named = gym_names(row)
        if row["slice_by"] == "all":
            overall |= named
            headline |= named if row["is_headline"] else {}
        else:
            subsets |= {f"{row['slice_value']}/{name}": value for name, value in named.items()}
    assert_figures(overall, flat_metrics(expected["metrics"]))
    # of a subset, NeMo Gym reports neither the run averages nor the spread within tasks
    left_out = ("per_sample_aggregate", "avg_sample_std_dev")
    assert_figures(
        {name: x for name, x in subsets.items() if not any(part in name for part in left_out)},
        expected["subsets"],
    )
    assert {name: headline.get(name) for name in expected["headline"]} == pytest.approx(
        expected["headline"], rel=1e-9, abs=1e-9
    )


def assert_figures(found: Figures, expected: Figures) -> None:
    """Every expected figure is there, and what NeMo Gym does not report is null."""
    assert {name: x for name, x in found.items() if x is not None} == pytest.approx(
        expected, rel=1e-9, abs=1e-9
    )


def test_with_equal_repeats_more_attempts_never_hurt(tmp_path: Path) -> None:
    rng = random.Random(3)
    agents = {
        f"{name}_{repeats}": [[reward(rng) for _ in range(repeats)] for _ in range(5)]
        for name, reward in (("binary", coin), ("graded", one_of(*GRADES)))
        for repeats in (2, 5, 8)
    }
    run = profile_agents(tmp_path, agents)
    rows = run.table("from pass_at_k where slice_by = 'all' order by agent_name, k")
    assert len(rows) == 2 * (2 + 5 + 8)
    for one, other in pairwise(rows):
        if one["agent_name"] == other["agent_name"]:
            for column, sign in (
                ("pass_at_k", 1),
                ("max_at_k", 1),
                ("pass_hat_k", -1),
                ("min_at_k", -1),
            ):
                assert sign * (other[column] - one[column]) >= -1e-12, (column, one["k"])


def test_rewards_of_0_and_1_make_the_best_of_k_the_same_as_pass_at_k(tmp_path: Path) -> None:
    rng = random.Random(4)
    tasks = [[coin(rng) for _ in range(rng.randint(1, 9))] for _ in range(30)]
    run = profile_agents(tmp_path, {"agent_a": tasks})
    rows = run.table("from pass_at_k")
    assert [row["k"] for row in rows if row["is_headline"]] == [9]
    for row in rows:
        assert row["max_at_k"] == pytest.approx(row["pass_at_k"], abs=1e-12)
        assert row["min_at_k"] == pytest.approx(row["pass_hat_k"], abs=1e-12)


# C(70, 35) does not fit into 64 bits, and C(1100, 550) not into a double
REPEATS = (70, 300, 1100)


def many_rewards(repeats: int) -> list[float]:
    rng = random.Random(repeats)
    return [rng.choice(GRADES) for _ in range(repeats)]


@pytest.fixture(scope="module")
def often_repeated(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    agents = {f"repeats_{repeats}": [many_rewards(repeats)] for repeats in REPEATS}
    return profile_agents(tmp_path_factory.mktemp("often"), agents)


@pytest.mark.parametrize("repeats", REPEATS)
def test_many_repeats_stay_exact(repeats: int, often_repeated: Profiled) -> None:
    rewards = sorted(many_rewards(repeats))
    own = f"where agent_name = 'repeats_{repeats}'"
    rows = {row["k"]: row for row in often_repeated.table(f"from pass_at_k {own}")}
    failures = sum(reward < 1 for reward in rewards)
    assert sorted(rows) == list(range(1, repeats + 1))
    for k in {1, 2, 3, 63, 64, 65, min(128, repeats), repeats // 2, repeats - 1, repeats}:
        choices = math.comb(repeats, k)
        best = sum(Fraction(x) * math.comb(i, k - 1) for i, x in enumerate(rewards)) / choices
        worst = sum(Fraction(x) * math.comb(i, k - 1) for i, x in enumerate(rewards[::-1]))
        expected = {
            "pass_at_k": float(1 - Fraction(math.comb(failures, k), choices)),
            "pass_hat_k": float(Fraction(math.comb(repeats - failures, k), choices)),
            "max_at_k": float(best),
            "min_at_k": float(worst / choices),
        }
        if k > 64 and k != repeats and k.bit_count() != 1:
            assert (rows[k]["max_at_k"], rows[k]["min_at_k"]) == (None, None)
            del expected["max_at_k"], expected["min_at_k"]
        found = {name: rows[k][name] for name in expected}
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), k
