"""Random runs give the files that the reference, which knows the rules alone, says they must."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from collector.cli import make_app
from tests.e2e.test_golden import completion
from tests.gym_reference import profile
from tests.gym_runs import RandomRun, random_run
from tests.support import Row, load_compare, write_lines, write_run

pytestmark = [pytest.mark.slow]

BATCH = 150
"""How many random runs are profiled by one command."""
MODES = ("strict", "partial")
compare = load_compare().compare


@dataclass(frozen=True)
class Case:
    """A random run, what the reference makes of it, and its folder."""

    seed: int
    mode: str
    run: RandomRun
    expected: Row
    folder: Path

    @property
    def size(self) -> int:
        return len(self.run.inputs) + len(self.run.rollouts)

    def report(self, problems: list[str]) -> str:
        """Show what is wrong, and the first rows it is wrong with."""
        parts = [f"random_run({self.seed}), {self.mode}:", *problems[:10], "inputs:"]
        parts += [json.dumps(row) for row in self.run.inputs[:12]]
        parts += ["rollouts:", *(json.dumps(row) for row in self.run.rollouts[:12])]
        return "\n".join(parts)


@pytest.fixture
def batches(pytestconfig: pytest.Config) -> list[range]:
    """The seeds of the random runs: those of --fuzz-runs and --fuzz-seed, in batches."""
    first = pytestconfig.getoption("--fuzz-seed")
    end = first + pytestconfig.getoption("--fuzz-runs")
    return [range(start, min(start + BATCH, end)) for start in range(first, end, BATCH)]


def write_cases(folder: Path, seeds: range, mode: str, *, broken: bool) -> Iterator[Case]:
    """Write the random runs with which something, or nothing, is wrong."""
    for seed in seeds:
        run = random_run(seed)
        expected = profile(run.inputs, run.rollouts, allow_partial=mode == "partial")
        if ("error" in expected) is broken:
            case = Case(seed, mode, run, expected, folder / str(seed))
            write_run(case.folder, run.rollouts, inputs=run.inputs, name="rollouts")
            write_lines(case.folder / "expected.json", [{mode: expected}])
            yield case


def profile_folder(folder: Path, mode: str) -> tuple[int, Any]:
    """Profile all runs of a folder in this process; return the exit code and the JSON."""
    options = ["--json", "--warehouse", str(folder / "warehouse.duckdb")]
    options += ["--allow-partial"] if mode == "partial" else []
    result = CliRunner().invoke(make_app("profile"), ["profile", str(folder), *options])
    assert result.stdout, result.output or result.exception
    return getattr(result.exception, "exit_code", result.exit_code), json.loads(result.stdout)


@pytest.mark.parametrize("mode", MODES)
def test_random_runs_give_the_files_of_the_reference(
    mode: str, batches: list[range], tmp_path: Path
) -> None:
    for seeds in batches:
        folder = tmp_path / str(seeds.start)
        cases = list(write_cases(folder, seeds, mode, broken=False))
        assert len(cases) > len(seeds) / 2
        code, printed = profile_folder(folder, mode)
        assert code == 0
        counts = {Path(run["rollouts"]).parent.name: completion(run) for run in printed["runs"]}
        failed = {}
        for case in sorted(cases, key=lambda case: case.size):
            problems = compare(case.folder, case.folder / "rollouts", mode)
            if counts[str(case.seed)] != case.expected["completion"]:
                problems.append(f"{counts[str(case.seed)]}, expected {case.expected['completion']}")
            if problems:
                failed[case.seed] = case.report(problems)
        assert not failed, "\n".join([f"failed: {list(failed)}", *list(failed.values())[:2]])
        shutil.rmtree(folder)


@pytest.mark.parametrize("mode", MODES)
def test_random_damage_is_named_with_its_keys(
    mode: str, batches: list[range], tmp_path: Path
) -> None:
    kinds = set()
    for seeds in batches:
        folder = tmp_path / str(seeds.start)
        cases = list(write_cases(folder, seeds, mode, broken=True))
        code, printed = profile_folder(folder, mode)
        assert code == 1
        errors = {Path(error["rollouts"]).parent.name: error for error in printed["errors"]}
        for case in cases:
            kinds.add(case.expected["error"])
            error = errors.pop(str(case.seed))
            found = {"error": error["kind"], "keys": error["keys"]}
            want = {**case.expected, "keys": case.expected["keys"][:10]}
            assert found == want, case.report([f"{found}, expected {want}"])
            assert not compare(case.folder, case.folder / "rollouts", mode)
        assert not errors
        shutil.rmtree(folder)
    assert kinds >= {"duplicate_rollout", "extra_rollouts"}
