from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

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
