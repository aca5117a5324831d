from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.endpoints import Endpoint, EndpointFactory
from tests.gym import Gym, GymFactory, free_port
from tests.support import ROOT, Profiled

GOLDEN = ROOT / "tests" / "fixtures" / "profile"
CORPUS = ROOT.parent / "shared" / "corpus"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that default paths lead nowhere else."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def example(workspace: Path) -> Profiled:
    """The bundled example, copied and not yet profiled."""
    for path in (ROOT / "examples").glob("workplace*.jsonl"):
        if "_reward_profiling" not in path.name:
            shutil.copy(path, workspace)
    return Profiled(workspace / "workplace.jsonl")


@pytest.fixture
def start_gym() -> Iterator[GymFactory]:
    """Start gyms that end with the test."""
    gyms: list[Gym] = []

    def start(*options: str) -> Gym:
        gym = Gym(free_port(), list(options))
        gyms.append(gym)
        gym.start()
        return gym

    yield start
    for gym in gyms:
        gym.kill()


@pytest.fixture
def start_endpoint() -> Iterator[EndpointFactory]:
    """Start endpoints that end with the test."""
    script = [sys.executable, "-W", "ignore", str(ROOT / "tests" / "openai_server.py")]
    processes: list[subprocess.Popen[bytes]] = []

    def run(*options: str, port: int | None = None) -> Endpoint:
        endpoint = Endpoint(port or free_port())
        processes.append(subprocess.Popen([*script, "--port", str(endpoint.port), *options]))
        for _ in range(300):
            with contextlib.suppress(OSError):
                endpoint.requests()
                return endpoint
            time.sleep(0.05)
        raise AssertionError("the endpoint did not start")

    yield run
    for process in processes:
        process.kill()
        process.wait()


from tests.browser import chromium, open_browser, viewer, visitor, world  # noqa: E402, F401
