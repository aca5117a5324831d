"""Logs of every format, with what the frameworks' own readers find in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.imports import (
    case_folders,
    case_id,
    differences,
    expected_rows,
    import_case,
)
from tests.programs import run_command

FORMATS = (
    *("inspect", "verl", "lm_eval", "nemo_evaluator", "verifiers", "harbor", "terminal_bench"),
)
CASES = case_folders(*FORMATS)


def wanted_runs(expected: Any) -> dict[str, Any]:
    """What is expected of each run, by the end of its log's name; the others repeat these."""
    files = expected.get("files") or {"": expected}
    return {name: part for name, part in files.items() if "/effective/" not in name}


def wanted_missing(part: Any, expected: Any) -> set[tuple[str, int]]:
    missing = part.get("missing", []) if isinstance(part, dict) else expected["missing"]
    return {(one["task"], one["rollout"]) for one in missing}


@pytest.mark.parametrize("folder", CASES, ids=case_id)
def test_an_import_finds_what_the_framework_itself_reads(folder: Path, tmp_path: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    output = tmp_path / "run.jsonl"
    if expected.get("refused") or not expected["tasks"]:
        done = run_command("spotter", "import", folder, "-o", output, cwd=tmp_path)
        assert done.returncode in (1, 2, 4), done
        assert list(tmp_path.iterdir()) == []
        return
    runs = import_case(folder, output)
    wanted = wanted_runs(expected)
    assert len(runs) == len(wanted)
    for name, part in wanted.items():
        run = next(run for run in runs if f"/{name}".endswith(f"/{run.log}") or not name)
        rows = expected_rows(part)
        assert list(differences(run, rows)) == []
        assert run.missing() == wanted_missing(part, expected)
        names = {one["task"] for one in rows} | {task for task, _ in run.missing()}
        assert run.task_names() == names
