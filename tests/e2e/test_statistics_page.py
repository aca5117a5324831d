"""The queries of docs/statistics.md."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.random_runs import coin
from tests.support import ROOT, profile_agents


def test_the_queries_of_the_page_agree_with_the_marts(tmp_path: Path) -> None:
    rng = random.Random(6)
    agents = {
        f"agent_{name}": [[coin(rng) for _ in range(rng.randint(1, 6))] for _ in range(9)]
        for name in "ab"
    }
    run = profile_agents(tmp_path, agents, "--run-id", "demo")
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    at_two, errors, bands = (part.split("```")[0] for part in page.split("```sql\n")[1:])
    assert sorted(run.query(at_two)) == [
        (agent, pytest.approx(value), count)
        for agent, value, count in run.query(
            "select agent_name, pass_at_k, task_count from pass_at_k where k = 2 order by all"
        )
    ]
    assert sorted(run.query(errors)) == [
        (agent, pytest.approx(value), pytest.approx(error))
        for agent, value, error in run.query(
            "select agent_name, value, std_error from agent_scores"
            " where score = 'mean_reward' order by all"
        )
    ]
    assert sum(count for _, count, _ in run.query(bands)) == 18
