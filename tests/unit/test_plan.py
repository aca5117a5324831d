from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from collector import cache
from collector.profiling import plan
from collector.profiling.manifest import IN_MEMORY
from tests.support import ALL_MARTS, ROOT


def test_models_come_after_what_they_read() -> None:
    names = [model.name for model in plan.load_plan().models]
    assert names.index("stg_rollouts") < names.index("stg_samples")
    assert names.index("int_rollouts_matched") < names.index("task_metrics")
    assert names.index("task_metrics") < names.index("task_profiles")


def test_the_tests_and_the_docs_know_every_mart() -> None:
    marts = {model.name for model in plan.load_plan().layer("marts")}
    page = (ROOT / "docs" / "warehouse.md").read_text(encoding="utf-8")
    table = page[: page.index("\n## ")]
    assert marts == set(ALL_MARTS) == set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))


def test_batch_and_warehouse_live_in_different_databases() -> None:
    for model in plan.load_plan().models:
        is_public = model.layer in ("marts", "exports") and model.room not in IN_MEMORY
        assert model.relation.startswith('"warehouse"' if is_public else '"scratch"'), model.name


def test_no_path_is_compiled_into_the_plan() -> None:
    for model in plan.load_plan().models:
        assert str(ROOT) not in model.sql
        assert "examples/" not in model.sql


def test_a_change_of_the_project_changes_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: x", encoding="utf-8")
    model = tmp_path / "models" / "a.sql"
    model.write_text("select 1", encoding="utf-8")
    monkeypatch.setattr(plan, "PROJECT_PARTS", ("dbt_project.yml", "models"))
    monkeypatch.setattr(plan, "project_dir", lambda: tmp_path)
    before = plan.project_digest()
    model.write_text("select 2", encoding="utf-8")
    assert plan.project_digest() != before
    moved = tmp_path / "models" / "below" / "a.sql"
    before = plan.project_digest()
    moved.parent.mkdir()
    model.rename(moved)
    assert plan.project_digest() != before
    before = plan.project_digest()
    monkeypatch.setattr(plan, "__version__", "other")
    assert plan.project_digest() != before


def test_a_cache_that_cannot_be_made_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("SPOTTER_CACHE", str(blocked / "below"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cache._private_folder.cache_clear()
    assert cache.cache_dir().parent == tmp_path
    assert cache.cache_dir() == cache.cache_dir()


def test_a_damaged_plan_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = plan.load_plan()
    monkeypatch.setenv("SPOTTER_CACHE", str(tmp_path))
    monkeypatch.setattr(plan, "_compile_project", lambda: whole)
    stored = plan.cached_plan(plan.project_digest())
    stored.write_bytes(b'{"models": [{"na')
    assert plan.load_plan() == whole
    assert plan._parse_plan(stored.read_bytes()) == whole


def test_the_plan_of_a_release_needs_neither_dbt_nor_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = plan.load_plan()
    monkeypatch.setenv("SPOTTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(plan, "packaged_plan", lambda project: tmp_path / f"{project}.json")
    monkeypatch.setattr(plan, "_compile_project", lambda: pytest.fail("dbt was started"))
    plan.store_plan(whole, plan.packaged_plan(plan.project_digest()))
    assert plan.load_plan() == whole


def test_the_plan_of_another_project_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = plan.load_plan()
    changed = replace(whole, checks=())
    monkeypatch.setenv("SPOTTER_CACHE", str(tmp_path))
    monkeypatch.setattr(plan, "packaged_plan", lambda project: tmp_path / f"{project}.json")
    monkeypatch.setattr(plan, "_compile_project", lambda: whole)
    plan.store_plan(changed, plan.packaged_plan("another"))
    assert plan.load_plan() == whole
