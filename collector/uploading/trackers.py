"""The trackers there are, and what each of them has to do."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Protocol, cast

from collector.errors import UsageError
from collector.uploading.content import Upload, Uploaded

TRACKERS = ("wandb", "mlflow")


class Tracker(Protocol):
    """A module that sends uploads to a tracker."""

    def check(self) -> None:
        """Find out without the network whether an upload can work."""

    def upload(self, content: Upload) -> Uploaded:
        """Make a new run of it."""


def choose(names: Iterable[str]) -> list[str]:
    """Return the trackers that are meant, each once."""
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in TRACKERS:
            choices = " or ".join(TRACKERS)
            raise UsageError(f"--upload {name!r}: there is no such tracker, choose {choices}")
    return chosen


def load(name: str) -> Tracker:
    """Import a tracker, which takes a second and more."""
    try:
        return cast("Tracker", importlib.import_module(f"collector.uploading.{name}_tracker"))
    except ImportError as error:
        raise UsageError(
            f"--upload {name} needs a package that cannot be imported: {error}\n"
            f"  what to do: pip install 'spotter[{name}]'"
        ) from error
