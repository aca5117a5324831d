"""Every engine provides every seam, in the same files, and no model names an engine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import ROOT

ENGINES = ("duckdb", "spark")
FOLDER = ROOT / "macros" / "engine"
NAMES = re.compile(r"\b(duckdb|spark)", re.IGNORECASE)


def defined(engine: str) -> dict[str, set[str]]:
    """The macros in each file of an engine."""
    return {
        path.name: set(re.findall(r"{%-?\s*macro (\w+)", path.read_text(encoding="utf-8")))
        for path in (FOLDER / engine).glob("*.sql")
    }


def test_the_engines_have_the_same_files() -> None:
    assert defined("duckdb").keys() == defined("spark").keys()
    assert sorted(path.name for path in FOLDER.iterdir() if path.is_dir()) == sorted(ENGINES)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_provides_every_seam_in_the_file_of_its_name(engine: str) -> None:
    seams = re.findall(
        r"adapter\.dispatch\('(\w+)'\)", (FOLDER / "seams.sql").read_text(encoding="utf-8")
    )
    assert len(seams) > 40
    files = defined(engine)
    for seam in seams:
        assert f"{engine}__{seam}" in files[f"{seam}.sql"], seam


@pytest.mark.parametrize("engine", ENGINES)
def test_the_macros_of_an_engine_have_its_prefix_and_know_no_other(engine: str) -> None:
    for name, macros in defined(engine).items():
        text = (FOLDER / engine / name).read_text(encoding="utf-8")
        assert all(macro.startswith(f"{engine}__") for macro in macros), name
        assert set(re.findall(r"\b(\w+?)__\w+\(", text)) <= {engine}, name


def code(path: Path) -> str:
    """The text of a model without its comments."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"{#.*?#}|--[^\n]*", "", text, flags=re.DOTALL)


def test_no_model_names_an_engine() -> None:
    paths = [
        path
        for folder in ("models", "macros/stats", "macros/rollouts", "tests/dbt")
        for path in (ROOT / folder).rglob("*.sql")
    ]
    assert len(paths) > 150
    assert [path.name for path in paths if NAMES.search(code(path))] == []
