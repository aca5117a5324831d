"""Start the test gym, and collect from it as a user would."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.gym_server import make_app, parse_options
from tests.hosts import Host
from tests.programs import run_command
from tests.support import ROOT, Profiled, Row
from tests.warm_processes import WarmProgram

AGENT = "my_agent"


@dataclass
class Gym:
    """A test gym, which can be killed and started again on the same port."""

    port: int
    options: list[str]
    host: Host | None = None
    """The host that runs the gym; without a host, the gym runs in a child process."""
    server: web.AppRunner | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def agent_url(self) -> str:
        return f"--agent-url={AGENT}={self.url}"

    def start(self) -> None:
        words = ["--port", str(self.port), *self.options]
        if self.host:
            self.server = self.host.serve(make_app(parse_options(words)), self.port)
        else:
            self.start_process(words)

    def start_process(self, words: list[str]) -> None:
        script = [sys.executable, "-W", "ignore", str(ROOT / "tests" / "gym_server.py")]
        self.process = subprocess.Popen([*script, *words])
        for _ in range(300):
            with contextlib.suppress(OSError):
                self.stats()
                return
            time.sleep(0.05)
        raise AssertionError("the test gym did not start")

    def kill(self) -> None:
        if self.host and self.server:
            self.host.stop(self.server)
            self.server = None
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stats(self) -> Row:
        with urllib.request.urlopen(f"{self.url}/stats", timeout=10) as reply:  # noqa: S310
            stats: Row = json.load(reply)
            return stats

    def release(self) -> None:
        """Let the rollouts continue whose script says `hold`."""
        urllib.request.urlopen(f"{self.url}/release", timeout=10).close()  # noqa: S310


GymFactory = Callable[..., Gym]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def write_tasks(folder: Path, tasks: int | Iterable[Row], name: str = "tasks.jsonl") -> Path:
    rows = [{} for _ in range(tasks)] if isinstance(tasks, int) else tasks
    path = folder / name
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            params = {"input": f"question {number}"}
            file.write(json.dumps({"id": number, "responses_create_params": params, **row}) + "\n")
    return path


def collect(
    gym: Gym, tasks: Path, *flags: str, output: str = "out.jsonl"
) -> subprocess.CompletedProcess[str]:
    return run_command("spotter", *arguments(gym, tasks, *flags, output=output), cwd=tasks.parent)


def start_collect(gym: Gym, tasks: Path, *flags: str, **options: Any) -> subprocess.Popen[str]:
    program = Path(sys.executable).with_name("spotter")
    start = subprocess.Popen if options else WarmProgram
    return start(
        [str(program), *arguments(gym, tasks, *flags)],
        cwd=tasks.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def arguments(gym: Gym, tasks: Path, *flags: str, output: str = "out.jsonl") -> list[str]:
    urls = [] if any(flag.startswith("--agent-url") for flag in flags) else [gym.agent_url]
    return ["collect", "-a", AGENT, "-i", str(tasks), "-o", output, *urls, *flags]


def rows_of(path: Path) -> list[Row]:
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n") or not text
    return [json.loads(line) for line in text.splitlines()]


def keys_of(rows: Iterable[Row]) -> list[tuple[int, int]]:
    return [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows]


def assert_whole(run: Profiled, count: int) -> None:
    """Check that there is exactly one valid row for each materialized key."""
    expected = keys_of(rows_of(run.inputs))
    assert len(expected) == count
    assert sorted(keys_of(rows_of(run.rollouts))) == sorted(expected)


def wait_for_lines(path: Path, count: int) -> None:
    for _ in range(2000):
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} did not get {count} lines")


def interrupt(process: subprocess.Popen[str], number: int = signal.SIGINT) -> None:
    os.kill(process.pid, number)
