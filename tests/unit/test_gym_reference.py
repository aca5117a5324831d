"""The reference agrees with NeMo Gym 0.7.0 wherever its figures are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CORPUS, GOLDEN
from tests.gym_reference import profile
from tests.support import Row, load_compare, write_lines

CASES = sorted(
    path.parent for source in (GOLDEN, CORPUS) for path in source.glob("*/expected.json")
)
compare = load_compare().compare


def read_lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def expectation(case: Path) -> Any:
    """What NeMo Gym 0.7.0 answers; the corpus has the figures of two versions."""
    newer = case / "expected_0.7.json"
    path = newer if newer.exists() else case / "expected.json"
    return json.loads(path.read_text(encoding="utf-8"))


def write_files(stem: Path, found: Row) -> None:
    write_lines(stem.with_name("rollouts_reward_profiling.jsonl"), found["task_profiles"])
    for name in ("agent_metrics", "repeat_level_metrics"):
        text = json.dumps(found[name], allow_nan=False)
        stem.with_name(f"rollouts_{name}.json").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("mode", ["strict", "partial"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_reference_agrees_with_the_known_figures(case: Path, mode: str, tmp_path: Path) -> None:
    want = expectation(case)[mode]
    inputs = read_lines(case / "rollouts_materialized_inputs.jsonl")
    rollouts = read_lines(case / "rollouts.jsonl")
    found = profile(inputs, rollouts, allow_partial=mode == "partial")
    if "error" in want:
        assert found == want
        return
    write_files(tmp_path / "rollouts", found)
    assert compare(case, tmp_path / "rollouts", mode) == []
    assert found["completion"] == want["completion"]
