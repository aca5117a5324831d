"""What is uploaded, in words that every tracker understands, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector import __version__
from collector.artifacts import stem
from collector.uploading.metric_names import safe_name, safe_text

Value = str | int | float | bool
Figures = dict[str, float]


@dataclass(frozen=True)
class Step:
    """A point of curves: what they are at one k."""

    k: int
    figures: Figures


@dataclass(frozen=True)
class Bundle:
    """Files that belong together; they are named, not read: the tracker streams them."""

    name: str
    files: dict[str, str]
    """What each is called in the upload, and its path."""


@dataclass(frozen=True)
class Upload:
    """One run of a tracker."""

    run_id: str
    command: str
    settings: dict[str, Value]
    figures: Figures
    curve: list[Step] = field(default_factory=list)
    bundles: list[Bundle] = field(default_factory=list)
    is_failed: bool = False

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Upload:
        """Build an upload from plain data, as another process sends it."""
        curve = [Step(**step) for step in data["curve"]]
        bundles = [Bundle(**bundle) for bundle in data["bundles"]]
        return cls(**{**data, "curve": curve, "bundles": bundles})


@dataclass(frozen=True)
class Uploaded:
    """A run that a tracker has now: under which name, and where to look at it."""

    tracker: str
    run_id: str
    run: str
    """The tracker's own name for it."""
    url: str | None = None
    path: str | None = None
    """Where it lies, if it is only on this machine."""


def bundled(name: str, rollouts: Path, files: dict[str, Path]) -> list[Bundle]:
    """Bundle those of a run's files that are there, each under the usual name with its suffix.

    So they can be profiled when they come back, also if the inputs were called something else.
    """
    base = safe_name(stem(rollouts))
    found = {base + suffix: str(path) for suffix, path in files.items() if path.is_file()}
    return [Bundle(name, found)] if found else []


def described(run_id: str, *, rollouts: Path, inputs: Path) -> dict[str, Value]:
    """Say what every upload says of its run: names of files, not where they lie."""
    return {
        "run_id": safe_text(run_id),
        "rollouts": safe_text(rollouts.name),
        "inputs": safe_text(inputs.name),
        "spotter_version": __version__,
    }
