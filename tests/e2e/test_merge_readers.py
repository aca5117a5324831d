"""What reads the files of a run also reads those of a run that was merged from shards."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest
from starlette.applications import Starlette

from collector.viewer.pages import rollout, rollouts, run, task
from tests.pages import app_of, get
from tests.programs import run_command
from tests.responses import response, says
from tests.support import inputs_of, key, profiled, write_run

TASKS = 4


def said(index: int) -> str:
    return f"It is {index * 111}."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in two shards, and the warehouse that they were merged into."""
    folder = tmp_path_factory.mktemp("merged")
    for part in range(2):
        rows = [
            key(index, 0, reward=float(index > 1), **response(says(said(index))))
            for index in range(part, TASKS, 2)
        ]
        shard = write_run(folder / "shards", rows, inputs=inputs_of(rows), name=f"part{part}")
        profiled(shard, "--shard", "--run-id", "r", "--no-files", "-w", f"part{part}.duckdb")
    done = run_command(
        *("spotter", "merge", "shards/part0.duckdb", "shards/part1.duckdb"), cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def app(folder: Path) -> Starlette:
    routes = [*run.ROUTES, *rollout.ROUTES, *rollouts.ROUTES, *task.ROUTES]
    return app_of(folder / "warehouse.duckdb", routes)


def test_the_viewer_finds_the_transcripts_of_every_shard(app: Starlette) -> None:
    for index in range(TASKS):
        assert said(index) in unescape(get(app, f"/rollout?run=r&task={index}&rollout=0").text)
        assert said(index) in unescape(get(app, f"/task?run=r&task={index}").text)


def test_a_search_covers_the_files_of_all_shards(app: Starlette) -> None:
    page = unescape(get(app, "/rollouts?run=r&q=It+is").text)
    assert all(f"/rollout?run=r&task={index}&rollout=0" in page for index in range(TASKS))
    page = unescape(get(app, "/rollouts?run=r&q=333").text)
    assert "task=3&" in page
    assert "task=2&" not in page


def test_the_page_of_a_merged_run_names_its_files(app: Starlette) -> None:
    page = get(app, "/run?run=r").text
    assert "part0.jsonl" in page
    assert "part1.jsonl" in page
    assert "no longer exists" not in page


def test_an_export_of_trajectories_has_the_rollouts_of_every_shard(folder: Path) -> None:
    done = run_command("spotter", "export", "-f", "atif", "-o", "exports", cwd=folder)
    assert done.returncode == 0, done.stderr
    files = sorted((folder / "exports").rglob("task_*_rollout_0.json"))
    assert len(files) == TASKS
    for index, path in enumerate(files):
        assert said(index) in json.dumps(json.loads(path.read_bytes())["steps"])


def test_curating_a_merged_run_says_what_to_do(folder: Path) -> None:
    done = run_command("spotter", "curate", "r", "-o", "train.jsonl", cwd=folder)
    assert done.returncode == 2
    assert "r was merged from the files of shards" in done.stderr
    assert "spotter aggregate" in done.stderr
