"""A model can be read in a minute: it is short, and longer only for a list of plain columns."""

from __future__ import annotations

from tests.support import ROOT

MOST_LINES = 65
# many columns, or the definitions of seven scores side by side
LONGER = {
    "curation_candidates",
    "agent_reliability",
    "agent_scores",
    "int_compared_slices",
    "int_selected_tasks",
    "int_compared_tasks",
    "int_permutation_tests",
    "int_task_scores",
    "repeat_metrics",
    "rollout_health",
    "run_comparisons",
    "run_overviews",
}


def test_models_are_short() -> None:
    models = (ROOT / "models").rglob("*.sql")
    lengths = {path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in models}
    assert {name for name, length in lengths.items() if length > MOST_LINES} == LONGER
    assert max(lengths.values()) <= 80
