"""The queries of docs/statistics.md give what the marts say."""

from __future__ import annotations

import random

import pytest

from tests.random_runs import coin
from tests.responses import response
from tests.support import ROOT, Profiled, Row, inputs_of, key, numbered, profiled, write_run

PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
QUERIES = [part.split("```")[0] for part in PAGE.split("```sql\n")[1:]]
# by a name that only one query has: the same from the mart
MARTS = {
    "pass_at_2": "select agent_name, pass_at_k, task_count from pass_at_k where k = 2",
    "std_error": """
        select agent_name, value, std_error from agent_scores where score = 'mean_reward'
    """,
    "failures_as_zero": "select agent_name, reward_mean_failures_as_zero from agent_reliability",
    "informative_ratio_8": """
        select band, count(*), avg(informative_ratio_8) from task_bands group by band
    """,
    "value by value": """
        select agent_name, bin_low, rollout_count from metric_histograms where metric = 'reward'
    """,
    "within_task": """
        select agent_name, pooled_correlation, within_task_correlation from reward_by_length
    """,
    "is_verdict_inconsistent": """
        select task_index, any_value(answer), count(*), min(reward), max(reward)
        from rollout_health group by task_index, md5(answer) having min(reward) < max(reward)
    """,
}


def said(rng: random.Random, row: Row) -> Row:
    answer = {"extracted_answer": rng.choice("AB")}
    return {**row, **answer, **response(usage={"output_tokens": rng.randrange(50, 900)})}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """A partial run of two agents."""
    rng = random.Random(6)
    rewards = {
        f"agent_{name}": [[coin(rng) for _ in range(rng.randint(1, 6))] for _ in range(9)]
        for name in "ab"
    }
    rows = [said(rng, row) for row in numbered(rewards)]
    run = write_run(tmp_path_factory.mktemp("page"), rows, inputs=[*inputs_of(rows), key(0, 99)])
    return profiled(run, "--allow-partial", "--run-id", "demo")


def test_every_query_has_its_counterpart() -> None:
    named = [[name for name in MARTS if name in query] for query in QUERIES]
    assert sorted(named) == sorted([name] for name in MARTS)


@pytest.mark.parametrize("name", MARTS)
def test_a_query_gives_what_the_mart_says(name: str, demo: Profiled) -> None:
    (query,) = (query for query in QUERIES if name in query)
    found, expected = sorted(demo.query(query)), sorted(demo.query(MARTS[name]))
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert one == tuple(
            pytest.approx(value) if isinstance(value, float) else value for value in other
        )
