"""Describe an upload in a form that suits every tracker, and the run that a tracker made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector import __version__
from collector.artifacts import stem
from collector.remote_paths import is_remote
from collector.uploading.metric_names import safe_name, safe_text

Value = str | int | float | bool
Figures = dict[str, float]


@dataclass(frozen=True)
class CurvePoint:
    """The values of the curves at one k."""

    k: int
    figures: Figures


@dataclass(frozen=True)
class Bundle:
    """Files that belong together, by path; only the tracker reads them."""

    name: str
    files: dict[str, str]
    """The path of each file by its name in the upload."""


@dataclass(frozen=True)
class Upload:
    """The content of one new run in a tracker."""

    run_id: str
    command: str
    settings: dict[str, Value]
    figures: Figures
    curve: list[CurvePoint] = field(default_factory=list)
    bundles: list[Bundle] = field(default_factory=list)
    is_failed: bool = False

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Upload:
        """Build an upload from the plain data that another process sent."""
        curve = [CurvePoint(**step) for step in data["curve"]]
        bundles = [Bundle(**bundle) for bundle in data["bundles"]]
        return cls(**{**data, "curve": curve, "bundles": bundles})


@dataclass(frozen=True)
class TrackerRun:
    """A run that a tracker has made of an upload: its name there, and where to look at it."""

    tracker: str
    run_id: str
    run: str
    """The tracker's own id of the run."""
    url: str | None = None
    path: str | None = None
    """The folder of the run, if it is only on this machine."""


def bundle_files(name: str, rollouts: Path, files: dict[str, Path]) -> list[Bundle]:
    """Bundle those files of a run that are on a disk, each under the usual name with its suffix.

    With the usual names, downloaded files can be profiled even if the inputs had another name.
    """
    base = safe_name(stem(rollouts))
    existing = {
        base + suffix: str(path)
        for suffix, path in files.items()
        if not is_remote(path) and path.is_file()
    }
    return [Bundle(name, existing)] if existing else []


def describe_run(run_id: str, *, rollouts: Path, inputs: Path) -> dict[str, Value]:
    """Return the settings that every upload has: file names without their folders."""
    return {
        "run_id": safe_text(run_id),
        "rollouts": safe_text(rollouts.name),
        "inputs": safe_text(inputs.name),
        "spotter_version": __version__,
    }
