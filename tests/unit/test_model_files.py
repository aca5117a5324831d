"""A model can be read in a minute: it is short. Only reading a format may take longer."""

from __future__ import annotations

import re

from tests.support import ROOT

MOST_LINES = 100
ENGINES = ("duckdb", "spark")
LONGER = {"metric_histograms", "stg_rollouts"}


def test_models_are_short() -> None:
    models = [path for path in (ROOT / "models").rglob("*.sql") if path.parent.name not in ENGINES]
    lengths = {path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in models}
    assert {name for name, length in lengths.items() if length > MOST_LINES} == LONGER


def test_the_page_that_follows_a_number_quotes_the_models() -> None:
    page = (ROOT / "docs" / "following-a-number.md").read_text(encoding="utf-8")
    models = [path.read_text(encoding="utf-8") for path in (ROOT / "models").rglob("*.sql")]
    quotes = re.findall(r"```sql\n(.*?)```", page, flags=re.DOTALL)
    assert len(quotes) > 3
    assert [quote for quote in quotes if not any(quote in text for text in models)] == []
