"""Every command in a process of its own: most tests call them in theirs, where all is the same."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from collector.cli import COMMANDS
from tests.gym import AGENT, Gym, GymFactory, write_tasks
from tests.programs import run_command, run_process
from tests.servers import ARITHMETIC, SIMULATED
from tests.support import ROOT, inputs_of, key, profiled, write_run

CONFIGS = (ARITHMETIC, SIMULATED)
COLLECT = ("-a", AGENT, "-i", "tasks.jsonl", "-o", "out.jsonl", "--head-port={port}")
# what each is called with, and its exit code; servers that are started end with an error
CASES: dict[str, tuple[tuple[str, ...], int]] = {
    "demo": (("-o", "demo", "--limit", "2", "-n", "1"), 0),
    "run": (("nowhere.yaml",), 4),
    "status": (("--head-port={port}",), 3),
    "config": (CONFIGS, 0),
    "collect": (COLLECT, 0),
    "aggregate": (("-i", "run.jsonl", "-o", "all.jsonl", "--agent-url=agent_a={url}"), 0),
    "import": (("nowhere.jsonl", "-o", "imported.jsonl"), 4),
    "reverify": (("run.jsonl", "-o", "new.jsonl", "--head-port={port}"), 2),
    "profile": (("run.jsonl", "--warehouse", "other.duckdb"), 0),
    "merge": (("warehouse.duckdb", "-w", "whole.duckdb"), 0),
    "compare": (("run.jsonl", "run.jsonl", "--markdown"), 0),
    "runs": (("list", "--json"), 0),
    "sql": (("select count(*) as runs from runs", "--csv"), 0),
    "view": (("nowhere.jsonl", "--no-browser"), 4),
    "report": (("-o", "report.html"), 0),
    "export": (("-f", "csv"), 0),
    "test": (("resources_servers/arithmetic",), 0),
    "ng_run": (("+config_paths=[nowhere.yaml]",), 4),
    "ng_status": (("+head_server.port={port}",), 3),
    "ng_dump_config": ((f"+config_paths=[{','.join(CONFIGS)}]",), 0),
    "ng_collect_rollouts": (
        (
            *(f"+agent_name={AGENT}", "+input_jsonl_fpath=tasks.jsonl"),
            *("+output_jsonl_fpath=out.jsonl", "+head_server.port={port}"),
        ),
        0,
    ),
    "ng_e2e_collect_rollouts": (
        (f"+config_paths=[{','.join(CONFIGS)}]", "+output_jsonl_fpath=out.jsonl", "+split=none"),
        2,
    ),
    "curate": (("run.jsonl", "-o", "train.jsonl"), 0),
    "ng_aggregate_rollouts": (
        ("+input_glob=run.jsonl", "+output_jsonl_fpath=all.jsonl", "--agent-url=agent_a={url}"),
        0,
    ),
    "ng_reward_profile": (("+rollouts_jsonl_fpath=run.jsonl", "+warehouse=other.duckdb"), 0),
    "ng_viewer": (("+jsonl_fpath=nowhere.jsonl",), 4),
    "ng_test": (("+entrypoint=resources_servers/arithmetic",), 0),
    "ng_version": ((), 0),
    "ng_help": ((), 0),
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tasks, a run and its warehouse."""
    folder = tmp_path_factory.mktemp("prepared")
    rows = [key(task, index, reward=index) for task in range(2) for index in range(2)]
    profiled(write_run(folder, rows, inputs=inputs_of(rows)))
    write_tasks(folder, 2)
    return folder


def words_of(name: str, gym: Gym) -> list[str]:
    given = [word.format(port=gym.port, url=gym.url) for word in CASES[name][0]]
    return [name, *given] if name.startswith("ng_") else ["spotter", name, *given]


def plain(text: str) -> str:
    """A text without what differs from call to call: durations, names and times."""
    return re.sub(r"\d+(\.\d+)?", "#", text)


@pytest.mark.parametrize("name", CASES)
def test_a_program_of_its_own_does_the_same(
    name: str, prepared: Path, start_gym: GymFactory, tmp_path: Path
) -> None:
    words = words_of(name, start_gym())
    folder = tmp_path / "work"
    seen = []
    for run in (run_command, run_process):
        shutil.copytree(prepared, folder)
        done = run(*words, cwd=folder)
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        seen.append((done.returncode, plain(done.stdout), plain(done.stderr), files))
        shutil.rmtree(folder)
    here, there = seen
    assert there == here
    assert there[0] == CASES[name][1], there


def test_every_program_is_called() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(CASES) == {*COMMANDS, *project["scripts"]} - {"spotter"}


def test_without_a_command_the_help_is_shown(workspace: Path) -> None:
    here, there = (run("spotter", cwd=workspace) for run in (run_command, run_process))
    assert (here.returncode, here.stdout) == (there.returncode, there.stdout)
    assert there.returncode == 2
    assert "Usage: spotter" in there.stdout
