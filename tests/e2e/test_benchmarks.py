"""Each benchmark runs: a tiny size shows that it fits the code that it measures."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.marks import NEEDS_SPARK
from tests.support import ROOT

SIZES = {"import_memory": "1", "materialize_speed": "1"}
SCRIPTS = sorted(path.stem for path in (ROOT / "bench").glob("*_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [pytest.param(name, marks=NEEDS_SPARK if name == "spark_speed" else ()) for name in SCRIPTS],
)
def test_a_benchmark_runs_and_prints_its_figures(script: str, tmp_path: Path) -> None:
    path = ROOT / "bench" / f"{script}.py"
    options = ("--sizes", SIZES.get(script, "32"), "--rounds", "1", "--folder", str(tmp_path))
    done = subprocess.run(
        [sys.executable, str(path), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d\.\d", done.stdout), done.stdout


def test_make_bench_runs_every_benchmark() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    run = re.findall(r"python bench/(\w+)\.py", makefile)
    assert sorted(run) == [name for name in SCRIPTS if name != "spark_speed"]
