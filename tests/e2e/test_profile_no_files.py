from __future__ import annotations

from pathlib import Path

from tests.programs import run_command
from tests.support import Profiled, read_json


def test_the_warehouse_is_filled_and_no_file_is_written(example: Profiled) -> None:
    done = run_command(
        "spotter", "profile", str(example.rollouts), "--no-files", cwd=example.rollouts.parent
    )
    assert done.returncode == 0, done.stderr
    assert not example.profiling.exists()
    assert not example.agents.exists()
    assert example.profiling.name not in done.stdout
    assert example.query("select count(*) from task_profiles") != [(0,)]


def test_files_of_an_earlier_profile_stay_as_they_are(example: Profiled) -> None:
    folder = example.rollouts.parent
    run_command("spotter", "profile", str(example.rollouts), cwd=folder)
    before = {path: path.read_bytes() for path in (example.profiling, example.agents)}
    done = run_command(
        "spotter", "profile", str(example.rollouts), "--no-files", "--json", cwd=folder
    )
    (run,) = read_json(done.stdout)["runs"]
    assert (run["reward_profiling"], run["agent_metrics"]) == (None, None)
    assert {path: path.read_bytes() for path in before} == before


def test_a_query_sees_no_variable_of_the_program(example: Profiled) -> None:
    folder: Path = example.rollouts.parent
    run_command("spotter", "profile", str(example.rollouts), "--no-files", cwd=folder)
    for name in ("rows", "names", "statements", "query"):
        done = run_command("spotter", "sql", f"select * from {name}", cwd=folder)
        assert done.returncode == 2
        assert "does not exist" in done.stderr
