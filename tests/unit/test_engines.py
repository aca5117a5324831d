"""Every engine spells every seam and reads every file; no other model names an engine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import ROOT

ENGINES = ("duckdb", "spark")
FOLDER = ROOT / "macros" / "engine"
NAMES = re.compile(r"\b(duckdb|spark)", re.IGNORECASE)


def macros(path: Path) -> set[str]:
    return set(re.findall(r"{%-?\s*macro (\w+)", path.read_text(encoding="utf-8")))


def dispatched(path: Path) -> list[str]:
    return re.findall(r"adapter\.dispatch\('(\w+)'\)", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_spells_every_seam(engine: str) -> None:
    paths = list(FOLDER.rglob("*.sql"))
    seams = {seam for path in paths for seam in dispatched(path)}
    assert len(seams) > 10
    assert seams <= {
        name.removeprefix(f"{engine}__")
        for path in paths
        for name in macros(path)
        if name.startswith(f"{engine}__")
    }


def test_a_seam_has_both_spellings_in_the_file_of_its_name() -> None:
    for path in FOLDER.glob("*.sql"):
        assert path.stem in dispatched(path)
        assert {f"{engine}__{path.stem}" for engine in ENGINES} <= macros(path), path.name


def code(path: Path) -> str:
    """The text of a model without its comments."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"{#.*?#}|--[^\n]*", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(("engine", "other"), [ENGINES, ENGINES[::-1]])
def test_an_engine_has_the_base_models_of_the_other(engine: str, other: str) -> None:
    folder = ROOT / "models" / "staging" / engine
    names = {path.name for path in folder.glob("*.sql")}
    names_of_other = {path.name for path in folder.with_name(other).glob("*.sql")}
    # a collection asks DuckDB when to stop
    assert names ^ names_of_other == {"base_stopping_rules.sql"}
    assert not [path for path in folder.glob("*.sql") if f"{other}__" in code(path)]


def test_no_model_outside_of_an_engines_folder_names_one() -> None:
    paths = [
        path
        for folder in ("models", "macros/stats", "macros/rollouts", "tests/dbt")
        for path in (ROOT / folder).rglob("*.sql")
        if path.parent.name not in ENGINES
    ]
    assert len(paths) > 100
    assert [path.name for path in paths if NAMES.search(code(path))] == []
