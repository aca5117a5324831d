"""The wheel carries the dbt project, so that the command works outside of a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT, Profiled


@pytest.mark.slow
def test_the_wheel_works_far_from_the_checkout(example: Profiled) -> None:
    folder = example.rollouts.parent
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "wheel", *options, "-w", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("spotter-*.whl")
    site = folder / "site"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True)
    code = "from collector.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code, "profile", "workplace.jsonl", "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site), "SPOTTER_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["runs"][0]["completed_rollout_count"] == 24
    assert (site / "collector" / "dbt_project" / "dbt_project.yml").is_file()
    kept = sorted(path.name.partition("-")[0] for path in Path(folder, "cache").iterdir())
    assert kept == ["empty", "logs", "plan"]
