"""Compare `spotter collect` with a bare aiohttp loop that writes nothing, and measure memory.

    python bench/collect_speed.py [--sizes 5000] [--rounds 3]

The sizes are rollouts. Memory is measured with a fifth, and with ten times as many.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
from shared import SPOTTER, measure, size_parser

GOALS = {256: 0.75, 1024: 0.55, 4096: 0.4}
MEMORY_GOAL_MB = 50
REPEATS = 10
QUESTION = "y" * 10_000


@contextlib.contextmanager
def server() -> Iterator[int]:
    """Start the benchmark server in a separate process, and yield its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    script = Path(__file__).with_name("loopback.py")
    process = subprocess.Popen([sys.executable, str(script), str(port)])
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield port
    finally:
        process.kill()
        process.wait()


def write_tasks(path: Path, rollouts: int) -> None:
    """Write an input file of 10 KB rows."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(rollouts // REPEATS):
            params = {"input": [{"role": "user", "content": QUESTION}]}
            file.write(json.dumps({"id": number, "responses_create_params": params}) + "\n")


def collect(folder: Path, port: int, *, rollouts: int, parallel: int) -> dict[str, Any]:
    """Run the command; return its JSON result with the peak memory in MB."""
    tasks = folder / "tasks.jsonl"
    write_tasks(tasks, rollouts)
    taken = measure(
        [
            *(SPOTTER, "collect", "--json", "-n", str(REPEATS), "-p", str(parallel)),
            *("-a", "agent", "-i", tasks, "-o", folder / "rollouts.jsonl", "--overwrite"),
            *("--disable-aggregation", "--agent-url", f"agent=http://127.0.0.1:{port}"),
        ]
    )
    result: dict[str, Any] = json.loads(taken.printed)
    assert result["status"] == "complete"
    return {**result, "memory_mb": taken.megabytes}


async def bare(port: int, *, rollouts: int, parallel: int) -> float:
    """Return the seconds that a loop takes which only sends requests and reads the answers."""
    body = json.dumps({"responses_create_params": {"input": QUESTION}}).encode()
    numbers = iter(range(rollouts))
    headers = {"Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def work() -> None:
            for _ in numbers:
                url = f"http://127.0.0.1:{port}/run"
                async with session.post(url, data=body, headers=headers) as response:
                    await response.read()

        started = time.monotonic()
        await asyncio.gather(*(work() for _ in range(parallel)))
        return time.monotonic() - started


def measure_speed(folder: Path, port: int, size: int, rounds: int) -> None:
    """Print the ratio of the fastest rounds for each concurrency."""
    print("| at once | bare aiohttp | spotter | ratio | goal |")
    print("| --- | --- | --- | --- | --- |")
    for parallel, goal in GOALS.items():
        plain, ours = [], []
        for _ in range(rounds):
            plain.append(asyncio.run(bare(port, rollouts=size, parallel=parallel)))
            ours.append(collect(folder, port, rollouts=size, parallel=parallel)["seconds"])
        ratio = min(plain) / min(ours)
        rates = f"{size / min(plain):.0f}/s | {size / min(ours):.0f}/s"
        print(f"| {parallel:,} | {rates} | {ratio:.2f} | {goal} |", flush=True)


def measure_memory(folder: Path, port: int, rollouts: tuple[int, int]) -> None:
    """Print the peak memory of a small and of a large collection."""
    small, big = (
        collect(folder, port, rollouts=count, parallel=256)["memory_mb"] for count in rollouts
    )
    print(f"\nmemory: {small:.0f} MB at {rollouts[0]:,} rollouts,", end=" ")
    print(f"{big:.0f} MB at {rollouts[1]:,}: {big - small:+.0f} MB", end=" ")
    print(f"(goal: below +{MEMORY_GOAL_MB})")


def main() -> None:
    """Measure and print."""
    given = size_parser(__doc__, [5_000]).parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(dir=given.folder) as name, server() as port:
        for size in given.sizes:
            measure_speed(Path(name), port, size, given.rounds)
            measure_memory(Path(name), port, (max(size // 5, REPEATS), size * 10))


if __name__ == "__main__":
    main()
