"""The figures equal NeMo Gym's, on every golden case and on every file of the corpus."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CORPUS, GOLDEN
from tests.support import Profiled, load_compare, run_profile

MODES = ("strict", "partial")
SOURCES = {"golden": GOLDEN, "corpus": CORPUS}
compare = load_compare()


def cases(source: Path) -> list[Path]:
    return sorted(path.parent for path in source.glob("*/expected.json"))


def expected(case: Path, mode: str) -> dict[str, Any]:
    result: dict[str, Any] = compare.expectation(case)[mode]
    return result


@pytest.fixture(params=SOURCES, scope="module")
def source(request: pytest.FixtureRequest) -> Path:
    path = SOURCES[request.param]
    if not path.is_dir():
        pytest.skip("the corpus is not on this machine")
    return path


def profile_cases(source: Path, mode: str, folder: Path, *, broken: bool) -> Any:
    """Profile all cases of a kind in one batch; return what the command printed as JSON."""
    chosen = [case for case in cases(source) if ("error" in expected(case, mode)) is broken]
    for case in chosen:
        copy = folder / case.name
        copy.mkdir()
        for path in case.glob("rollouts*.jsonl"):
            shutil.copy(path, copy)
    flags = ["--allow-partial"] if mode == "partial" else []
    result = run_profile(folder, "--json", *flags, cwd=folder)
    assert result.returncode == (1 if broken else 0), result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("mode", MODES)
def test_profiles_equal_the_expected_ones(source: Path, mode: str, tmp_path: Path) -> None:
    printed = profile_cases(source, mode, tmp_path, broken=False)
    by_case = {Path(run["rollouts"]).parent.name: run for run in printed["runs"]}
    for case in cases(source):
        want = expected(case, mode)
        if "error" in want:
            continue
        run = Profiled(tmp_path / case.name / "rollouts.jsonl")
        assert compare.compare(case, run.stem, mode) == [], case.name
        assert completion(by_case[case.name]) == want["completion"], case.name


def completion(run: dict[str, Any]) -> dict[str, Any]:
    """What the command says of a run, under the names of the golden cases."""
    return {
        "expected_rollout_rows": run["expected_rollout_count"],
        "completed_rollout_rows": run["completed_rollout_count"],
        "missing_rollout_rows": run["missing_rollout_count"],
        "extra_rollout_rows": 0,
        "reward_profile_completion_pct": run["completion_pct"],
        "total_input_rows": run["task_count"],
        "complete_input_rows": run["complete_task_count"],
        "partial_input_rows": run["partial_task_count"],
        "missing_input_rows": run["dropped_task_count"],
    }


@pytest.mark.parametrize("mode", MODES)
def test_broken_invariants_are_named_with_their_keys(
    source: Path, mode: str, tmp_path: Path
) -> None:
    printed = profile_cases(source, mode, tmp_path, broken=True)
    found = {Path(error["rollouts"]).parent.name: error for error in printed["errors"]}
    for case in cases(source):
        want = expected(case, mode)
        if "error" in want:
            assert found[case.name]["kind"] == want["error"], case.name
            assert found[case.name]["keys"] == want["keys"][:10], case.name
            assert not Profiled(tmp_path / case.name / "rollouts.jsonl").profiling.exists()
    assert not (tmp_path / "warehouse.duckdb").exists()
