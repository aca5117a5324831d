"""The folder for what is worth keeping between calls: plans, empty warehouses, logs."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from pathlib import Path


def cache_dir() -> Path:
    """Return the folder for plans and dbt's log."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    chosen = Path(os.environ.get("SPOTTER_CACHE") or Path(base, "spotter"))
    with contextlib.suppress(OSError):
        chosen.mkdir(parents=True, exist_ok=True)
    return chosen if os.access(chosen, os.W_OK) else _private_folder()


@functools.cache
def _private_folder() -> Path:
    """Return a folder for those whose home cannot be written to, as in many containers.

    It lasts as long as the process: a name that others could guess could hold their SQL.
    """
    return Path(tempfile.mkdtemp(prefix="spotter-"))
