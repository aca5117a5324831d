"""The supported trackers, and the interface of a tracker's module."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Protocol, cast

from collector.errors import UsageError, install_extra
from collector.uploading.content import TrackerRun, Upload

TRACKERS = ("wandb", "mlflow")


class Tracker(Protocol):
    """A module that sends uploads to a tracker."""

    def check(self) -> None:
        """Raise UsageError if an upload cannot work; do not use the network."""

    def upload(self, content: Upload) -> TrackerRun:
        """Make a new run in the tracker, after a check in the same process."""


def choose_trackers(names: Iterable[str]) -> list[str]:
    """Return the named trackers, each once; raise UsageError if one is unknown."""
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in TRACKERS:
            choices = " or ".join(TRACKERS)
            raise UsageError(f"--upload {name!r}: unknown tracker; choose {choices}")
    return chosen


def load_tracker(name: str) -> Tracker:
    """Import the module of a tracker, which takes a second or more."""
    try:
        return cast("Tracker", importlib.import_module(f"collector.uploading.{name}_tracker"))
    except ImportError as error:
        raise UsageError(
            f"--upload {name} needs a package that cannot be imported: {error}\n"
            f"  what to do: {install_extra(name)}"
        ) from error
