from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from collector import retries
from collector.collection import collect
from tests.dbt_process import Dbt
from tests.endpoints import Endpoint, EndpointFactory
from tests.gym import Gym, GymFactory, free_port
from tests.hosts import Host
from tests.openai_server import make_app, parse_options
from tests.support import ROOT, Profiled

BROWSER_FIXTURES = {"chromium", "open_browser", "visitors"}
DBT_FIXTURES = {"dbt"}
GOLDEN = ROOT / "tests" / "fixtures" / "profile"
CORPUS = ROOT.parent / "shared" / "corpus"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Let three tests run on two cores: many wait, for a server, a browser or a timer."""
    return max(1, (os.cpu_count() or 1) * 3 // 2)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the fuzz run longer, and with other seeds; let the tests of looks keep pictures."""
    group = parser.getgroup("fuzz", "random runs against the reference (test_gym_fuzz.py)")
    group.addoption("--fuzz-runs", type=int, default=100, help="how many random runs")
    group.addoption("--fuzz-seed", type=int, default=0, help="the seed of the first one")
    parser.addoption(
        "--screenshots", action="store_true", help="keep a picture of every page of the viewer"
    )


def pytest_configure() -> None:
    """Forget the settings of whoever runs the tests: they would write into their warehouse."""
    for name in ("SPOTTER_WAREHOUSE", "SPOTTER_ROLLOUTS", "SPOTTER_TEMP", "NO_COLOR"):
        os.environ.pop(name, None)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    os.environ["HF_HUB_OFFLINE"] = "1"  # the tests of formats load local files with `datasets`


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the plan once: each worker would take ten seconds to do it for itself."""
    is_controller = not hasattr(session.config, "workerinput")
    if is_controller and session.config.getoption("numprocesses", None):
        code = "from collector.profiling.plan import load_plan; load_plan()"
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, check=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a browser or dbt, by their fixtures; begin with those of dbt.

    So one worker runs all tests of dbt, which takes ten seconds to start, and none ends the suite.
    """
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        if names & BROWSER_FIXTURES:
            item.add_marker("browser")
        if names & DBT_FIXTURES:
            item.add_marker("dbt")
    items.sort(key=lambda item: not DBT_FIXTURES & set(getattr(item, "fixturenames", ())))


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


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """A thread for servers."""
    made = Host()
    yield made
    made.close()


@pytest.fixture(scope="session")
def dbt() -> Iterator[Dbt]:
    """dbt, which is started once."""
    made = Dbt()
    yield made
    made.close()


@pytest.fixture
def start_gym(host: Host) -> Iterator[GymFactory]:
    """Start gyms that end with the test."""
    gyms: list[Gym] = []

    def start(*options: str, own_process: bool = False) -> Gym:
        gym = Gym(free_port(), list(options), None if own_process else host)
        gyms.append(gym)
        gym.start()
        return gym

    yield start
    for gym in gyms:
        gym.kill()


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the collector wait for a fiftieth of the time before it tries again."""
    monkeypatch.setattr(retries, "FIRST_PAUSE", retries.FIRST_PAUSE / 50)
    monkeypatch.setattr(collect, "REACH_SECONDS", collect.REACH_SECONDS / 50)


@pytest.fixture
def start_endpoint(host: Host) -> Iterator[EndpointFactory]:
    """Start endpoints that end with the test."""
    servers: list[web.AppRunner] = []

    def start(*options: str, port: int | None = None) -> Endpoint:
        endpoint = Endpoint(port or free_port())
        servers.append(host.serve(make_app(parse_options(options)), endpoint.port))
        return endpoint

    yield start
    for server in servers:
        host.stop(server)


from tests.browser import chromium, open_browser, viewer, visitor, visitors, world  # noqa: E402, F401
