"""Whether intervals and errors say how far a score moves."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from scipy import stats

from tests.support import Profiled, Row, profile_agents


def score_row(run: Profiled, agent: str, score: str) -> Row:
    query = f"from agent_scores where agent_name = '{agent}' and score = '{score}'"
    (row,) = run.table(query)
    return row


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Profiled, dict[str, list[float]]]:
    """200 agents that meet tasks drawn from one population, with the chances of each task."""
    rng = random.Random(11)
    chances = {f"agent_{i:03}": [rng.betavariate(2, 2) for _ in range(15)] for i in range(200)}
    agents = {
        name: [[float(rng.random() < chance) for _ in range(3)] for chance in own]
        for name, own in chances.items()
    }
    return profile_agents(tmp_path_factory.mktemp("simulated"), agents), chances


# pass rates near 0, and in the middle; the t interval covers 85 to 91 % of the first two
DESIGNS = {
    "rare_4x50": (50, 4, 0.1, 3.0),
    "rare_1x100": (100, 1, 0.1, 3.0),
    "even_4x20": (20, 4, 1.0, 1.0),
    "even_1x20": (20, 1, 1.0, 1.0),
}


@pytest.fixture(scope="module")
def designed(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """120 agents of each design: tasks drawn from a beta distribution, then their rollouts."""
    rng = random.Random(3)
    agents = {
        f"{name}_{i}": [
            [float(rng.random() < chance) for _ in range(repeats)]
            for chance in [rng.betavariate(a, b) for _ in range(tasks)]
        ]
        for name, (tasks, repeats, a, b) in DESIGNS.items()
        for i in range(120)
    }
    return profile_agents(tmp_path_factory.mktemp("designed"), agents)


@pytest.mark.parametrize("name", DESIGNS)
def test_intervals_of_shares_hold_near_0_too(name: str, designed: Profiled) -> None:
    _, _, a, b = DESIGNS[name]
    rows = designed.table(
        f"from agent_scores where starts_with(agent_name, '{name}') and score = 'pass_rate'"
    )
    truth = a / (a + b)
    covered = sum(row["low"] <= truth <= row["high"] for row in rows)
    assert len(rows) == 120
    # fewer than 106 of 120 have a chance of 0.1 % at a true coverage of 95 %
    assert covered >= 106


@pytest.mark.parametrize(
    ("score", "truth", "most"),
    [
        pytest.param("mean_reward", 0.5, 0.99, id="mean_reward"),
        pytest.param("pass_rate", 0.5, 0.99, id="pass_rate"),
        # of Beta(2, 2), three attempts fail with chance B(2, 5) / B(2, 2). That 15 tasks are
        # 0 or 1 is too coarse for 95 %: at least 8 of them include 0.8, which 99.6 % of agents have
        pytest.param("pass_at_k", 0.8, 1.0, id="pass_at_k"),
        pytest.param("pass_hat_k", 0.2, 1.0, id="pass_hat_k"),
    ],
)
def test_95_percent_intervals_cover_the_truth_about_as_often(
    score: str, truth: float, most: float, simulated: tuple[Profiled, dict[str, list[float]]]
) -> None:
    rows = simulated[0].table(f"from agent_scores where score = '{score}'")
    covered = fmean([row["low"] <= truth <= row["high"] for row in rows])
    assert len(rows) == 200
    assert 0.9 <= covered <= most


def test_errors_foretell_how_far_values_move(
    simulated: tuple[Profiled, dict[str, list[float]]],
) -> None:
    run, chances = simulated
    rows = run.table("from agent_scores where score = 'pass_rate'")
    moved = fmean([(row["value"] - 0.5) ** 2 for row in rows])
    assert moved == pytest.approx(fmean([row["std_error"] ** 2 for row in rows]), rel=0.2)
    # against the same tasks, only the rerun's part is left
    rerun = fmean([(row["value"] - fmean(chances[row["agent_name"]])) ** 2 for row in rows])
    assert rerun == pytest.approx(fmean([row["rerun_std_error"] ** 2 for row in rows]), rel=0.2)
    # the chances of Beta(2, 2) have a variance of 1/20
    spread = fmean([row["between_task_std"] ** 2 for row in rows])
    assert spread == pytest.approx(1 / 20, rel=0.2)


@pytest.fixture(scope="module")
def levelled(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """Tasks of the same value, from more or fewer rollouts."""
    agents = {
        "tenths": [[0.1], [0.1] * 3, [0.1] * 7],
        "halves": [[0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0] * 3],
        "thirds": [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0] * 3],
    }
    return profile_agents(tmp_path_factory.mktemp("levelled"), agents)


@pytest.mark.parametrize(
    ("agent", "score", "error"),
    [
        ("tenths", "mean_reward", 0.0),
        # the variance of one half within each task: 1/2, 1/3 and 3/10 over 2, 4 and 6 rollouts
        ("halves", "mean_reward", (1 / 4 + 1 / 12 + 1 / 20) ** 0.5 / 3),
        ("halves", "pass_rate", (1 / 4 + 1 / 12 + 1 / 20) ** 0.5 / 3),
    ],
)
def test_tasks_of_equal_value_are_no_surer_than_a_rerun(
    agent: str, score: str, error: float, levelled: Profiled
) -> None:
    row = score_row(levelled, agent, score)
    assert row["std_error"] == pytest.approx(error, abs=1e-12)
    assert row["interval_method"] == "wilson"
    assert row["low"] < row["value"] < row["high"]
    assert row["high"] - row["low"] > 0.3


@pytest.mark.parametrize("agent", ["halves", "thirds"])
def test_tasks_of_equal_pass_at_k_have_the_interval_of_as_many_trials(
    agent: str, levelled: Profiled
) -> None:
    ((share, low, high),) = levelled.query(
        "select pass_at_k, pass_at_k_low, pass_at_k_high from pass_at_k"
        f" where agent_name = '{agent}' and k = 1"
    )
    # Wilson's interval: where the distance to the share is the quantile's standard errors
    for bound in (low, high):
        error = (bound * (1 - bound) / 3) ** 0.5
        assert abs(share - bound) / error == pytest.approx(stats.t.ppf(0.975, 2), rel=1e-9)


@pytest.fixture(scope="module")
def of_many_sizes(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    rng = random.Random(8)
    agents: dict[str, list[list[float]]] = {
        f"tasks_{count}": [[2 * rng.random()] for _ in range(count)]
        for count in (2, 100, 201, 202, 299, 300, 301)
    }
    return profile_agents(tmp_path_factory.mktemp("sizes"), agents)


@pytest.mark.parametrize("count", [2, 100, 201, 202, 299, 300, 301])
def test_intervals_take_students_quantile_for_any_number_of_tasks(
    count: int, of_many_sizes: Profiled
) -> None:
    row = score_row(of_many_sizes, f"tasks_{count}", "mean_reward")
    quantile = stats.t.ppf(0.975, count - 1)
    assert (row["high"] - row["low"]) / row["std_error"] == pytest.approx(2 * quantile, rel=1e-9)
