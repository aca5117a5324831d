"""Measure the viewer with a rollouts file of a gigabyte: indexes, pages, searches, and memory.

    python bench/view_speed.py [--sizes 54400]

The ratio compares opening a rollout with a scan of the file for its line, without an index.
"""

from __future__ import annotations

import contextlib
import json
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
from shared import REPEATS, SPOTTER, generated_run, measure, size_parser

LOOKS = 200
GOALS = {"first page": 1.0, "rollout": 0.2, "search": 1.0, "memory": 500}
QUERIES = ("refund of order", "shipping status first", "no rollout says this", "the")


@contextlib.contextmanager
def viewer(warehouse: Path) -> Iterator[tuple[int, httpx.Client]]:
    """Start a viewer in a separate process, and yield its process id and a client."""
    command = [SPOTTER, "view", str(warehouse), "--json", "--no-browser"]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE) as process:
        assert process.stdout
        address = json.loads(process.stdout.readline())["url"]
        try:
            with httpx.Client(base_url=address, timeout=120) as client:
                yield process.pid, client
        finally:
            process.terminate()


def page_seconds(client: httpx.Client, path: str, **values: object) -> float:
    """Return the seconds that a page takes; raise an error unless its status is 200."""
    started = time.perf_counter()
    answer = client.get(path, params={name: str(value) for name, value in values.items()})
    answer.raise_for_status()
    return time.perf_counter() - started


def index_seconds(client: httpx.Client, run: str) -> float:
    """Return the seconds until the first rollout can be read."""
    started = time.perf_counter()
    where = {"run": run, "task": "0", "rollout": "0"}
    while client.get("/rollout", params=where).status_code == 503:
        time.sleep(0.05)
    return time.perf_counter() - started


def text_index_seconds(client: httpx.Client, run: str) -> float:
    """Return the seconds until a search covers what the rollouts say."""
    started = time.perf_counter()
    where = {"run": run, "q": "a text that no rollout has"}
    while "This page updates by itself" in client.get("/rollouts", params=where).text:
        time.sleep(0.05)
    return time.perf_counter() - started


def scan_seconds(path: Path, task: int, rollout: int) -> float:
    """Return the seconds that a search for a rollout takes without an index."""
    started = time.perf_counter()
    with path.open("rb") as file:
        for line in file:
            row = orjson.loads(line)
            if (row["_ng_task_index"], row["_ng_rollout_index"]) == (task, rollout):
                break
    return time.perf_counter() - started


def peak_mb(pid: int) -> int:
    """Return the peak memory of a process in MB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def look(folder: Path, size: int) -> None:
    """Write a run, profile it, open its pages, and print time and memory."""
    rollouts, warehouse = generated_run(folder, size), folder / "warehouse.duckdb"
    measure([SPOTTER, "profile", rollouts, "--run-id", "run", "-w", warehouse])
    tasks = -(-size // REPEATS)
    rng = random.Random(1)
    keys = [(rng.randrange(tasks), rng.randrange(REPEATS)) for _ in range(min(LOOKS, size))]
    with viewer(warehouse) as (pid, client):
        index = index_seconds(client, "run")
        pages = {
            path: page_seconds(client, path, **values)
            for path, values in (
                ("/", {}),
                ("/run", {"run": "run"}),
                ("/tasks", {"run": "run", "sort": "-reward_std", "q": "customer"}),
                ("/task", {"run": "run", "task": 0}),
            )
        }
        looks = [page_seconds(client, "/rollout", run="run", task=t, rollout=r) for t, r in keys]
        before_search = peak_mb(pid)
        text_index = text_index_seconds(client, "run")
        searches = {
            query: page_seconds(client, "/rollouts", run="run", q=query) for query in QUERIES
        }
        memory = peak_mb(pid)
    texts = sum(path.stat().st_size for path in (folder / ".spotter-index").glob("*.texts"))
    scan = statistics.mean(scan_seconds(rollouts, *key) for key in keys[:5])
    typical = statistics.median(looks)
    print(f"rollouts file {rollouts.stat().st_size / 1e9:.2f} GB, {tasks * REPEATS:,} rollouts")
    print(f"index, once          {index:7.2f} s")
    for path, seconds in pages.items():
        print(f"first {path:14} {seconds:7.3f} s   goal {GOALS['first page']} s")
    print(
        f"a rollout, median    {typical:7.3f} s   goal {GOALS['rollout']} s,"
        f" slowest of {len(looks)} {max(looks):.3f} s"
    )
    print(f"a rollout, by a scan {scan:7.3f} s   {scan / typical:.0f} times as long")
    print(f"index of texts, once {text_index:7.2f} s   {texts / 1e6:.0f} MB on disk")
    for query, seconds in searches.items():
        print(f"search {query!r:24} {seconds:.3f} s   goal {GOALS['search']} s")
    print(
        f"memory               {memory:5} MB   goal {GOALS['memory']} MB,"
        f" {before_search} MB before the first search"
    )


def main() -> None:
    """Measure and print."""
    given = size_parser(__doc__, [54_400]).parse_args()
    for size in given.sizes:
        with tempfile.TemporaryDirectory(dir=given.folder) as name:
            look(Path(name), size)


if __name__ == "__main__":
    main()
