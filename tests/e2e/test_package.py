"""The wheel carries the dbt project and its plan, so the command works outside of a checkout."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT, Profiled

release = runpy.run_path(str(ROOT / ".ci" / "release.py"))


@pytest.mark.slow
def test_the_wheel_works_far_from_the_checkout(example: Profiled) -> None:
    folder = example.rollouts.parent
    sdist = release["build_sdist"](folder / "sdist")
    wheel = release["build_wheel"](sdist, folder / "wheel")
    site = folder / "site"
    pip = [sys.executable, *release["PIP"]]
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True)
    for path in ROOT.glob("*.yml"):
        assert (site / "collector" / "dbt_project" / path.name).is_file()
    assert profile_from(site, folder) == ["empty"]
    # an edited project has another plan, which dbt compiles
    model = site / "collector" / "dbt_project" / "models" / "staging" / "stg_prices.sql"
    model.write_text(f"{model.read_text(encoding='utf-8')}\n-- edited\n", encoding="utf-8")
    assert profile_from(site, folder) == ["empty", "plan"]


def profile_from(site: Path, folder: Path) -> list[str]:
    """Profile the example with an installed package; return what its cache has afterwards."""
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
    return sorted(path.name.partition("-")[0] for path in Path(folder, "cache").iterdir())
