"""A model can be read in a minute: it is short. Only reading a format may take longer."""

from __future__ import annotations

from tests.support import ROOT

MOST_LINES = 100
ENGINES = ("duckdb", "spark")
LONGER = {"metric_histograms", "stg_rollouts"}


def test_models_are_short() -> None:
    models = [path for path in (ROOT / "models").rglob("*.sql") if path.parent.name not in ENGINES]
    lengths = {path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in models}
    assert {name for name, length in lengths.items() if length > MOST_LINES} == LONGER
